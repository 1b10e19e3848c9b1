package dev.holdfast.server;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts connection threads that stay too long in one part of a request: an interrupted read or write of a socket
 * closes it. The one place of this module that makes a thread, a daemon. Thread-safe.
 */
final class Deadlines implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;

    Deadlines() {
        timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("holdfast-door-timer").daemon().factory());
        timer.setRemoveOnCancelPolicy(true);
    }

    /** Interrupts the calling thread after this time, unless the deadline is lifted first. */
    Deadline within(Duration time) {
        var watch = new Watch(Thread.currentThread());
        return new Deadline(watch, timer.schedule(watch, time.toNanos(), TimeUnit.NANOSECONDS));
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** A running deadline. Once {@link #lift} has returned it interrupts nobody any more. */
    static final class Deadline {
        private final Watch watch;
        private final Future<?> pending;

        private Deadline(Watch watch, Future<?> pending) {
            this.watch = watch;
            this.pending = pending;
        }

        void lift() {
            watch.lift();
            pending.cancel(false);
        }
    }

    private static final class Watch implements Runnable {
        private final Thread thread;
        private boolean lifted;

        Watch(Thread thread) {
            this.thread = thread;
        }

        @Override
        public synchronized void run() {
            if (!lifted) {
                thread.interrupt();
            }
        }

        synchronized void lift() {
            lifted = true;
        }
    }
}
