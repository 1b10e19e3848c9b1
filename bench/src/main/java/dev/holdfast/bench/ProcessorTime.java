package dev.holdfast.bench;

import java.lang.management.ManagementFactory;

/** What this JVM has spent on the processor so far, its children not counted. */
final class ProcessorTime {
    private ProcessorTime() {}

    static long nanos() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }
}
