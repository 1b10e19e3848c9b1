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

    /** So many steps are run at most before what comes after them. */
    private static final int STEPS_MAX = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private final Runnable afterwards;
    private boolean delivering;

    /** How many steps were taken since {@link #afterwards} was. */
    private int steps;

    Outbox() {
        this(() -> {});
    }

    /** @param afterwards run behind every step, or behind several that waited together, as one of them */
    Outbox(Runnable afterwards) {
        this.afterwards = afterwards;
    }

    void put(Runnable step) {
        lock.lock();
        try {
            waiting.add(step);
        } finally {
            lock.unlock();
        }
    }

    /** Delivers what waits, unless another thread does; called with no lock held. */
    void deliver() {
        Runnable first = first();
        if (first != null) {
            runAll(first);
        }
    }

    private @Nullable Runnable first() {
        lock.lock();
        try {
            if (delivering || waiting.isEmpty()) {
                return null;
            }
            delivering = true;
            steps++;
            return waiting.remove();
        } finally {
            lock.unlock();
        }
    }

    private void runAll(Runnable first) {
        for (Runnable next = first; next != null; next = next()) {
            try {
                next.run();
            } catch (RuntimeException | Error e) {
                LOG.error("a step threw; it must not, and what it was for may be lost: {}", next, e);
            }
        }
    }

    private @Nullable Runnable next() {
        lock.lock();
        try {
            if (steps > 0 && (waiting.isEmpty() || steps == STEPS_MAX)) {
                steps = 0;
                return afterwards;
            }
            Runnable next = waiting.poll();
            steps += next == null ? 0 : 1;
            delivering = next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }
}
