package dev.holdfast.testkit;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.testkit.MessageLedger.Entry;
import dev.holdfast.testkit.MessageLedger.Place;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a cancel that was accepted must come to (IN-06, IN-13), by what stood at that moment. */
final class CancelRules {
    private static final Set<Outcome> TAKEN_OUT = EnumSet.of(Outcome.CANCELLED, Outcome.CLOSED, Outcome.WITHDRAWN);

    private final MessageLedger ledger;
    private final MessageLedger.Broken broken;
    /** Turns that must end as cancelled, with what says so. */
    private final Map<Long, Entry> turns = new HashMap<>();

    private final Map<Long, Entry> messages = new HashMap<>();
    private final List<Choice> choices = new ArrayList<>();
    private final Set<Long> interrupted = new HashSet<>();
    private final Set<Long> mayTimeOut = new HashSet<>();

    /** One of these must be taken out: the one that was next. */
    private record Choice(Entry cancel, List<Entry> of) {}

    CancelRules(MessageLedger ledger, MessageLedger.Broken broken) {
        this.ledger = ledger;
        this.broken = broken;
    }

    /**
     * Looks at an arrival of an agent's session.
     *
     * @param openTurn 0 for none
     * @param epoch of the newest claim
     */
    void accepted(Entry arrival, long openTurn, long epoch) {
        switch (arrival.kind()) {
            case CANCEL -> cancel(arrival, openTurn);
            case REPLACE, RESET -> bind(arrival, openTurn);
            case SESSION_TIMEOUT -> {
                if (arrival.label.epoch().orElse(0) >= epoch) { // a later owner may have that number
                    mayTimeOut.add(arrival.number());
                }
            }
            default -> {}
        }
    }

    boolean mayTimeOut(Entry timeOut) {
        return mayTimeOut.contains(timeOut.number());
    }

    private void bind(Entry arrival, long openTurn) {
        if (openTurn > 0) {
            turns.putIfAbsent(openTurn, arrival);
        }
    }

    private void cancel(Entry cancel, long openTurn) {
        if (cancel.label.turn().isPresent()) {
            if (cancel.label.turn().getAsLong() == openTurn) {
                bind(cancel, openTurn);
            }
        } else if (cancel.label.message().isPresent()) {
            ledger.find(cancel.label.message().getAsLong()).ifPresent(m -> cancelMessage(cancel, m));
        } else if (openTurn > 0) {
            bind(cancel, openTurn);
        } else {
            var waiting = new ArrayList<Entry>();
            for (Entry m : ledger.takeable()) {
                if (m.kind().speaks()) {
                    waiting.add(m);
                }
            }
            if (!waiting.isEmpty() && !releasePending()) {
                choices.add(new Choice(cancel, waiting));
            }
        }
    }

    private void cancelMessage(Entry cancel, Entry m) {
        boolean waits = m.place == Place.WAITING || m.place == Place.FRONT;
        if (waits && !releasePending() && m.kind() != ArrivalKind.STEER) { // a steer may land first
            messages.putIfAbsent(m.number(), cancel);
        }
    }

    /** A release that was accepted before takes everything, so that nothing waits any more when the cancel has its turn. */
    private boolean releasePending() {
        for (Entry e : ledger.takeable()) {
            if (e.kind() == ArrivalKind.RELEASE) {
                return true;
            }
        }
        return false;
    }

    /** The turn is being ended already, for whatever reason. */
    void interrupted(long turn) {
        interrupted.add(turn);
    }

    void settled(long turn, Outcome outcome) {
        var cancel = turns.get(turn);
        if (cancel != null) {
            boolean ended = TAKEN_OUT.contains(outcome) || (interrupted.contains(turn) && outcome == Outcome.FAILED);
            broken.check(
                    ended,
                    () -> "IN-13: " + cancel + " was accepted while turn " + turn + " was open, which ends as "
                            + outcome);
        }
    }

    void ended(Entry message) {
        var cancel = messages.get(message.number());
        var outcome = message.outcome.orElseThrow();
        broken.check(
                cancel == null || TAKEN_OUT.contains(outcome) || interrupted.contains(message.turn),
                () -> "IN-06: " + cancel + " was accepted while " + message + " waited, which ends as " + outcome);
    }

    void atTheEnd() {
        for (Choice choice : choices) {
            boolean one = choice.of().stream()
                    .anyMatch(m -> m.outcome.filter(TAKEN_OUT::contains).isPresent() || interrupted.contains(m.turn));
            broken.check(
                    one,
                    () -> "IN-06: " + choice.cancel() + " was accepted while " + choice.of()
                            + " waited, and none of them was cancelled");
        }
    }
}
