package dev.holdfast.claude;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A switch that cancels turns, once and for good: those it was given to that have not ended. One switched before a turn
 * began keeps that turn from touching a process (TN-10); one switched after a turn's end does nothing to it (TN-05).
 * Thread-safe.
 */
public final class TurnCancel {
    private final Object lock = new Object();
    private final Set<Runnable> listeners = new LinkedHashSet<>();
    private boolean cancelled;

    /** Cancels. A second call does nothing. */
    public void cancel() {
        List<Runnable> all;
        synchronized (lock) {
            cancelled = true;
            all = List.copyOf(listeners);
            listeners.clear();
        }
        all.forEach(Runnable::run);
    }

    public boolean isCancelled() {
        synchronized (lock) {
            return cancelled;
        }
    }

    /** Calls it when this is cancelled, at once when it is already. */
    void listen(Runnable listener) {
        synchronized (lock) {
            if (!cancelled) {
                listeners.add(listener);
                return;
            }
        }
        listener.run();
    }

    void forget(Runnable listener) {
        synchronized (lock) {
            listeners.remove(listener);
        }
    }

    /** How many turns listen, for tests. */
    int listeners() {
        synchronized (lock) {
            return listeners.size();
        }
    }
}
