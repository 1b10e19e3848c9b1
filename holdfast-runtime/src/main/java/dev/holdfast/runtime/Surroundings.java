package dev.holdfast.runtime;

import java.time.Instant;
import java.util.concurrent.Executor;

/**
 * Time, threads and randomness, as the runtime sees them: the seam through which one simulator thread can step a thousand
 * sessions. Implementations are thread-safe.
 */
public interface Surroundings {
    /** Wall-clock time. */
    Instant now();

    /** Runs short tasks that never block. */
    Executor executor();

    /** Runs host tools, which may block. */
    Executor toolExecutor();

    /** Runs {@code task} on {@link #executor()} at or soon after {@code at}. */
    Alarm at(Instant at, Runnable task);

    /** Unpredictable bytes for ids and seeds. */
    byte[] random(int count);

    /** The real ones: system clock, virtual threads, secure randomness. Its one timer thread is a daemon. */
    static Surroundings system() {
        return new SystemSurroundings();
    }

    /** A pending call. Cancelling is idempotent; it may still run once when cancelled at its moment. */
    @FunctionalInterface
    interface Alarm {
        void cancel();
    }
}
