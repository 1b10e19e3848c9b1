package dev.holdfast.claude;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs steps in the order they were put in, by one thread at a time and never under the lock of who puts them, so that a
 * step may call back. Whoever finds nobody at work works off what waits. Thread-safe.
 */
final class Outbox {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private boolean delivering;

    void put(Runnable step) {
        lock.lock();
        try {
            waiting.add(step);
        } finally {
            lock.unlock();
        }
    }

    /** Puts a step in and delivers. */
    void run(Runnable step) {
        put(step);
        deliver();
    }

    /** Delivers what waits, unless another thread does; called with no lock held. */
    void deliver() {
        for (Runnable next = take(true); next != null; next = take(false)) {
            try {
                next.run();
            } catch (RuntimeException | Error e) {
                LOG.error("a step threw; it must not, and what it was for may be lost: {}", next, e);
            }
        }
    }

    private @Nullable Runnable take(boolean first) {
        lock.lock();
        try {
            if (first && delivering) {
                return null;
            }
            Runnable next = waiting.poll();
            delivering = next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }
}
