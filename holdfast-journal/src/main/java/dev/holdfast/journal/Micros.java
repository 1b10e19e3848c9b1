package dev.holdfast.journal;

import java.time.Instant;

/** Microseconds since 1970-01-01T00:00:00Z: how the store keeps an instant. */
final class Micros {
    private static final long PER_SECOND = 1_000_000;

    private Micros() {}

    /** Rounded down. An instant that does not fit becomes the nearest one that does. */
    static long of(Instant instant) {
        long seconds = instant.getEpochSecond();
        long limit = Long.MAX_VALUE / PER_SECOND - 1;
        if (seconds > limit) {
            return Long.MAX_VALUE;
        }
        if (seconds < -limit) {
            return Long.MIN_VALUE;
        }
        return seconds * PER_SECOND + instant.getNano() / 1_000;
    }

    /** Rounded up, for deadlines: one read back is never earlier than the one that was set. */
    static long up(Instant instant) {
        long down = of(instant);
        return down < Long.MAX_VALUE && toInstant(down).isBefore(instant) ? down + 1 : down;
    }

    static Instant toInstant(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, PER_SECOND), Math.floorMod(micros, PER_SECOND) * 1_000);
    }
}
