package dev.holdfast.claude;

import java.util.LinkedHashMap;

/**
 * What is kept of sessions that came to grief and that nobody uses (HS-13): when they may start again, or why they may not.
 * Bounded: the oldest is forgotten first. Thread-safe.
 */
final class Troubles {
    private static final int MOST = 10_000;

    private final Object lock = new Object();
    private final LinkedHashMap<String, Restarts> left = new LinkedHashMap<>();

    void put(SessionHandle handle, Restarts trouble) {
        synchronized (lock) {
            left.remove(handle.id());
            left.put(handle.id(), trouble);
            if (left.size() > MOST) {
                left.pollFirstEntry();
            }
        }
    }

    boolean has(SessionHandle handle) {
        synchronized (lock) {
            return left.containsKey(handle.id());
        }
    }

    /** Gives away what is kept; none is no trouble. */
    Restarts take(SessionHandle handle) {
        synchronized (lock) {
            Restarts found = left.remove(handle.id());
            return found == null ? new Restarts() : found;
        }
    }
}
