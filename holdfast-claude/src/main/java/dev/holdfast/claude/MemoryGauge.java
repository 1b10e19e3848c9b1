package dev.holdfast.claude;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** How much memory a process holds, where the system tells. */
@FunctionalInterface
interface MemoryGauge {
    /** Resident bytes; absent when it cannot be told. */
    OptionalLong bytes(long pid);

    /** Reads {@code /proc/PID/status}, which Linux makes out of nothing for the asking. */
    static MemoryGauge ofThisMachine() {
        return pid -> {
            try {
                for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
                    if (line.startsWith("VmRSS:")) {
                        return OptionalLong.of(Long.parseLong(line.replaceAll("[^0-9]", "")) * 1_024);
                    }
                }
            } catch (IOException | NumberFormatException notTold) {
                return OptionalLong.empty();
            }
            return OptionalLong.empty();
        };
    }
}
