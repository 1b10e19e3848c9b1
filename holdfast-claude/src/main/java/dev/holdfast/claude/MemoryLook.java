package dev.holdfast.claude;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

/** Looks now and then how much memory a process holds: what turns take grows slowly. Not thread-safe. */
final class MemoryLook {
    private static final long PAUSE_NANOS = 10_000_000_000L;

    private final MemoryGauge gauge;
    private final LongSupplier clock;
    private OptionalLong last = OptionalLong.empty();

    /** @param clock in nanoseconds; only differences mean something */
    MemoryLook(MemoryGauge gauge, LongSupplier clock) {
        this.gauge = gauge;
        this.clock = clock;
    }

    /** In bytes; empty when it cannot be told, and within 10 s of the last look. */
    OptionalLong look(long pid) {
        long now = clock.getAsLong();
        if (last.isPresent() && now - last.getAsLong() < PAUSE_NANOS) {
            return OptionalLong.empty();
        }
        last = OptionalLong.of(now);
        return gauge.bytes(pid);
    }
}
