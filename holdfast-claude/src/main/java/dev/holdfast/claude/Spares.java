package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Sessions whose processes were started for nobody yet (HS-19). Each is given away once, to a handle that was never used
 * and whose binding is equal. Thread-safe.
 */
final class Spares {
    /** Why a spare is one no more. */
    enum Lost {
        /** There was no place for it. */
        NO_PLACE,
        /** Its start failed. */
        START_FAILED,
        /** It was ready, and gave way, grew old or died. */
        LIVED
    }

    static final Duration PAUSE = Duration.ofSeconds(5);

    /** How long nothing is started after so many failed starts in a row, and after each one that follows. */
    static final Duration LONG_PAUSE = Duration.ofMinutes(5);

    static final int FAILURES_MAX = 5;

    /** Under this name spares speak of themselves. */
    private static final SessionHandle NAME = new SessionHandle("spare");

    private final HeldHost host;
    private final Object lock = new Object();
    private final Map<HeldSession, BoundAgent> ready = new LinkedHashMap<>();
    private final Mouth mouth;

    /** Failed starts in a row. */
    private int failures;

    private OptionalLong pausedUntil = OptionalLong.empty();
    private boolean closed;

    Spares(HeldHost host) {
        this.host = host;
        this.mouth = new Mouth(host.options().executor(), host.options().listener(), Optional.of(NAME));
    }

    boolean wanted() {
        return !host.options().spares().isEmpty();
    }

    /** Starts what is missing, unless that is to wait. */
    void fill() {
        Map<HeldSession, BoundAgent> fresh = new LinkedHashMap<>();
        synchronized (lock) {
            if (closed
                    || (pausedUntil.isPresent()
                            && !Alarm.passed(pausedUntil, host.background().nanoTime()))) {
                return;
            }
            pausedUntil = OptionalLong.empty();
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

    /**
     * Gives away a spare of this binding; one that has not finished its start is as good. It is a spare no more, and has
     * no handle yet: {@link HeldSession#claim} gives it one.
     */
    Optional<HeldSession> take(SessionHandle handle, BoundAgent wanted) {
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
                failures = found.resting() ? 0 : failures;
            }
        }
        if (found != null) {
            host.background().after(PAUSE, this::fill);
        }
        return Optional.ofNullable(found);
    }

    /** A spare has no process any more; another one is tried later, after a long pause when that goes on failing. */
    void lost(HeldSession spare, Lost how) {
        Duration pause = PAUSE;
        boolean said = false;
        synchronized (lock) {
            if (ready.remove(spare) == null || closed) {
                return;
            }
            failures = switch (how) {
                case NO_PLACE -> failures;
                case START_FAILED -> failures + 1;
                case LIVED -> 0;
            };
            if (how == Lost.LIVED) {
                pausedUntil = OptionalLong.empty();
            }
            if (how == Lost.START_FAILED && failures >= FAILURES_MAX) {
                pause = LONG_PAUSE;
                said = pausedUntil.isEmpty();
                pausedUntil = OptionalLong.of(host.background().nanoTime() + LONG_PAUSE.toNanos());
            }
        }
        if (said) {
            mouth.say(
                    new HeldEvent.Noticed(
                            "spares_paused",
                            FAILURES_MAX + " starts or more have failed in a row; the next one is tried in "
                                    + LONG_PAUSE),
                    Optional.empty());
        }
        host.background().after(pause, this::fill);
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
