package dev.holdfast.journal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Longer and longer pauses between attempts, from 20 ms to 1 s. Used by one thread. */
final class PostgresBackoff {
    private static final long FIRST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);

    private long next = FIRST;

    /** How long to wait now; the next time it is twice as long. */
    long nanos() {
        long now = next;
        next = Math.min(LONGEST, 2 * next);
        return now;
    }

    /** Waits; false when the thread was interrupted. */
    boolean pause() {
        long end = Monotonic.nanos() + nanos();
        for (long left = end - Monotonic.nanos(); left > 0; left = end - Monotonic.nanos()) {
            LockSupport.parkNanos(this, left);
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
        }
        return true;
    }

    void reset() {
        next = FIRST;
    }
}
