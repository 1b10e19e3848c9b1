package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Sessions whose processes were started for nobody yet (HS-19). Each is given away once, to a handle that was never used
 * and whose binding is equal. Thread-safe.
 */
final class Spares {
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final int FAILURES_MAX = 5;

    private final HeldHost host;
    private final Object lock = new Object();
    private final Map<HeldSession, BoundAgent> ready = new LinkedHashMap<>();
    private int failures;
    private boolean closed;

    Spares(HeldHost host) {
        this.host = host;
    }

    boolean wanted() {
        return !host.options().spares().isEmpty();
    }

    /** Starts what is missing. */
    void fill() {
        Map<HeldSession, BoundAgent> fresh = new LinkedHashMap<>();
        synchronized (lock) {
            if (closed) {
                return;
            }
            for (HeldOptions.Spare spare : host.options().spares()) {
                BoundAgent bound = spare.agent().bound();
                long missing = spare.count()
                        - ready.values().stream()
                                .filter(each -> each.differences(bound).isEmpty())
                                .count();
                for (long i = 0; i < missing; i++) {
                    fresh.put(new HeldSession(host, Optional.empty()), bound);
                }
                ready.putAll(fresh);
            }
        }
        fresh.forEach(HeldSession::warm);
    }

    /** Gives away a spare of this binding; one that has not finished its start is as good. */
    Optional<HeldSession> claim(SessionHandle handle, BoundAgent wanted) {
        if (!wanted() || host.book().knows(handle)) {
            return Optional.empty();
        }
        HeldSession found = null;
        synchronized (lock) {
            for (var each : ready.entrySet()) {
                if (wanted.differences(each.getValue()).isEmpty()
                        && (found == null || each.getKey().resting())) {
                    found = each.getKey();
                    if (found.resting()) {
                        break;
                    }
                }
            }
            if (found != null) {
                ready.remove(found);
                failures = 0;
            }
        }
        if (found != null) {
            found.claim(handle);
            host.background().after(PAUSE, this::fill);
        }
        return Optional.ofNullable(found);
    }

    /** A spare has no process any more; another one is tried later, unless that goes on failing. */
    void lost(HeldSession spare) {
        synchronized (lock) {
            if (ready.remove(spare) == null || closed || failures >= FAILURES_MAX) {
                return;
            }
            failures++;
        }
        host.background().after(PAUSE, this::fill);
    }

    /** How many have finished their start. */
    int ready() {
        synchronized (lock) {
            return (int) ready.keySet().stream().filter(HeldSession::resting).count();
        }
    }

    /** Gives away no more. */
    List<HeldSession> close() {
        synchronized (lock) {
            closed = true;
            var all = new ArrayList<>(ready.keySet());
            ready.clear();
            return all;
        }
    }
}
