package dev.holdfast.process;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The monotonic clock, short pauses, unique names and platform threads of this module: the one place that takes them from the JVM.
 * Threads are daemons, and never virtual: a virtual thread blocked on a pipe keeps its carrier.
 */
final class Platform {

    /** Nanoseconds on a clock that only moves forward. */
    long now() {
        return System.nanoTime();
    }

    Duration since(long start) {
        return Duration.ofNanos(now() - start);
    }

    /** Waits about this long; may return early. An interrupt is kept for the caller and shortens at most one pause. */
    void pause(long nanos) {
        boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(nanos);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A name no other has: lower-case hexadecimal digits and dashes. */
    String uniqueName() {
        return UUID.randomUUID().toString();
    }

    Thread thread(String name, Runnable body) {
        return Thread.ofPlatform().daemon(true).name(name).unstarted(body);
    }
}
