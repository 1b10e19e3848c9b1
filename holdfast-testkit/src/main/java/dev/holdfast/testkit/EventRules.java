package dev.holdfast.testkit;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CloseReason;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.SessionPolicy;
import dev.holdfast.core.Event;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import dev.holdfast.testkit.MessageLedger.Entry;
import dev.holdfast.testkit.MessageLedger.Place;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What the recorded events of a session may say, one after the other. */
final class EventRules {
    /** Clocks of hosts may be set, and are not that far apart. */
    private static final Duration CLOCKS_APART = Duration.ofMinutes(30);

    private final MessageLedger ledger;
    private final MessageLedger.Broken broken;
    private final CancelRules cancels;
    private final boolean read;
    private final boolean combines;
    private final Limits limits;

    private Phase phase = Phase.OPEN;
    private boolean finishing;
    private Optional<String> firstReason = Optional.empty();
    private boolean up;
    private long incarnation;

    private long openTurn;
    private long lastTurn;
    private boolean limitOwed;
    private boolean continuationQueued;
    private int continuations;
    private long settledAfter;

    private long feed;
    private boolean feedOpen;

    private final Map<String, Long> questions = new HashMap<>();
    private final Map<String, Instant> deadlines = new HashMap<>();
    private final Set<String> questionsOver = new HashSet<>();
    private final CallRules calls;
    private long forgotten;
    private boolean cutOwed;
    /** Turns that were thrown away, as the first and last of each cut. */
    private final List<long[]> cuts = new ArrayList<>();

    /**
     * @param read whether a reading surface takes the mail, not an agent
     * @param combines whether messages may share a turn
     */
    EventRules(
            MessageLedger ledger,
            MessageLedger.Broken broken,
            CancelRules cancels,
            boolean read,
            boolean combines,
            Limits limits) {
        this.ledger = ledger;
        this.broken = broken;
        this.cancels = cancels;
        this.read = read;
        this.combines = combines;
        this.limits = limits;
        this.calls = new CallRules(broken);
    }

    CallRules calls() {
        return calls;
    }

    Phase phase() {
        return phase;
    }

    /** Whether nothing counted is accepted any more. */
    boolean finishing() {
        return finishing || phase == Phase.CLOSED;
    }

    long newestTurn() {
        return lastTurn;
    }

    long openTurn() {
        return openTurn;
    }

    long incarnation() {
        return incarnation;
    }

    /** Whether that incarnation was planned and has not ended. */
    boolean up() {
        return up;
    }

    /** Whether no agent may be shown this turn any more. */
    boolean gone(long turn) {
        return turn <= forgotten || cuts.stream().anyMatch(c -> c[0] <= turn && turn <= c[1]);
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            broken.check(false, () -> what);
        }
    }

    void recorded(Event event, Instant at) {
        switch (event) {
            case Event.TurnOpened e -> opened(e);
            case Event.SteerPlanned e -> steerPlanned(e);
            case Event.SteerLanded e -> steerLanded(e);
            case Event.SteerReturned e -> steerReturned(e);
            case Event.TurnSettled e -> settled(e);
            case Event.MessageEnded e -> ended(e);
            case Event.ArrivalDone e -> done(e);
            case Event.InterruptAsked e -> interruptAsked(e);
            case Event.PhaseChanged e -> phaseChanged(e);
            case Event.FinishAsked e -> {
                var entry = named(e.number());
                finishing = true;
                reason(entry);
            }
            case Event.FeedOpened e -> feedOpened(e);
            case Event.FeedEnded e -> {
                check(
                        feedOpen && e.feed() == feed,
                        "MB-03: feed " + e.feed() + " ends while " + feed + " is the newest");
                feedOpen = false;
            }
            case Event.MessagesTaken e -> taken(e);
            case Event.MessagesReturned e ->
                ledger.all(e.messages()).forEach(m -> {
                    ledger.expect(m, Place.HAND, "MessagesReturned");
                    ledger.move(m, Place.FRONT);
                });
            case Event.MessagesReleased e -> released(e);
            case Event.MessagesRestored e ->
                ledger.all(e.messages()).forEach(m -> {
                    ledger.expect(m, Place.RELEASED, "MessagesRestored");
                    ledger.move(m, Place.FRONT);
                });
            case Event.QuestionAsked e -> {
                calls.asked(e);
                questions.put(e.id(), ledger.arrivals());
                deadlines.put(e.id(), e.deadline());
            }
            case Event.QuestionAnswered e -> answered(e);
            case Event.QuestionWithdrawn e -> questionWithdrawn(e, at);
            case Event.MemoryDropped e -> {
                forgotten = e.through();
                continuationQueued = false; // there is nothing left to go on with
            }
            case Event.TranscriptCut e -> {
                check(
                        cutOwed && e.from() <= lastTurn && openTurn == 0,
                        "HN-04: turns from " + e.from() + " on are thrown away; the newest is " + lastTurn);
                cuts.add(new long[] {e.from(), lastTurn});
                continuationQueued = false;
                cutOwed = false;
            }
            case Event.ContinuationQueued e -> {
                check(limitOwed, "MB-15: a continuation is queued after no turn limit");
                limitOwed = false;
                continuationQueued = true;
            }
            case Event.CallStarted e -> calls.started(e);
            case Event.CallEnded e -> calls.ended(e);
            case Event.IncarnationPlanned e -> {
                check(
                        !up && e.incarnation() == incarnation + 1,
                        "P3: incarnation " + e.incarnation() + " is planned" + " after " + incarnation
                                + (up ? ", which has not ended" : ""));
                incarnation = e.incarnation();
                up = true;
            }
            case Event.IncarnationEnded e -> {
                check(up && e.incarnation() == incarnation, "P3: incarnation " + e.incarnation() + " ends twice");
                calls.incarnationEnded();
                up = false;
            }
            default -> {}
        }
    }

    private Entry named(long number) {
        var entry = ledger.of(number);
        if (phase == Phase.CLOSED
                && entry.place == Place.FRONT
                && !entry.kind().speaks()) { // put back, and never taken
            ledger.move(entry, Place.ENDED);
            return entry;
        }
        ledger.expect(entry, Place.WAITING, "an event without words");
        ledger.name(entry);
        ledger.move(entry, Place.ENDED);
        return entry;
    }

    // ---- turns ----------------------------------------------------------------------------------------------------

    private void opened(Event.TurnOpened e) {
        check(openTurn == 0, "TN-01: turn " + e.turn() + " is opened while " + openTurn + " is open");
        check(!cutOwed, "HN-04: turn " + e.turn() + " is opened before what was to be thrown away is");
        check(e.turn() == lastTurn + 1, "Q1: turn " + e.turn() + " follows turn " + lastTurn);
        check(
                phase == Phase.OPEN || (e.written() && phase != Phase.CLOSED),
                (phase == Phase.CLOSED ? "MB-07" : phase == Phase.PAUSED ? "MB-08" : "MB-09") + ": turn " + e.turn()
                        + " is opened in a session that is " + phase);
        check(!read, "CH-09: an agent's turn in a session that is read");
        if (!e.written()) {
            limitIsGoneOn();
        }
        var messages = ledger.all(e.messages());
        check(
                messages.isEmpty() == (e.kind() != Told.Kind.MESSAGE),
                "P2: turn " + e.turn() + " of kind " + e.kind() + " carries " + messages);
        if (!e.written()) {
            replaceIsNext(e.kind(), messages);
        }
        if (e.kind() == Told.Kind.MESSAGE) {
            continuations = 0;
            if (!e.written()) {
                inOrder(messages);
            }
            together(messages);
        } else if (e.kind() == Told.Kind.AFTER_LIMIT) {
            check(continuationQueued, "MB-15: a turn goes on after no turn limit");
            continuationQueued = false;
            continuations++;
            check(
                    continuations <= limits.continuations(),
                    "MB-15: " + continuations + " turns in a row only went on after a limit");
        }
        messages.forEach(m -> {
            ledger.take(m, Place.TURN, "TurnOpened");
            m.turn = e.turn();
        });
        openTurn = e.turn();
        lastTurn = e.turn();
    }

    /** TN-09: a message that replaces was known when the turn before was settled (IN-13), so it is next. */
    private void replaceIsNext(Told.Kind kind, List<Entry> messages) {
        if (kind == Told.Kind.INTERNAL) {
            return;
        }
        for (Entry waits : ledger.takeable()) {
            if (waits.kind() == ArrivalKind.REPLACE && waits.place == Place.WAITING && waits.number() <= settledAfter) {
                check(
                        messages.contains(waits),
                        "TN-09: " + waits + " was to run before everything that waits, and " + messages + " runs");
                return;
            }
        }
    }

    /** The first one is the one whose turn it is: what was given back, then the queue in order, then what waits for idle. */
    private void inOrder(List<Entry> messages) {
        var first = messages.getFirst();
        if (first.kind() == ArrivalKind.REPLACE && first.place == Place.WAITING) {
            return;
        }
        boolean givenBack = first.place == Place.FRONT;
        for (Entry waits : ledger.takeable()) {
            if (waits.place == Place.FRONT) {
                check(
                        givenBack && waits.number() >= first.number(),
                        "MB-05: " + first + " has its turn before " + waits + ", which was given back");
            } else if (!givenBack && waits.number() < first.number()) {
                boolean inPlace = waits.kind().counted() || waits.kind() == ArrivalKind.RESET;
                check(
                        !inPlace || (waits.afterIdle() && !first.afterIdle()),
                        "Q1: " + first + " has its turn before " + waits + ", which waits");
            }
        }
    }

    /** IN-15. */
    private void together(List<Entry> messages) {
        if (messages.size() < 2) {
            return;
        }
        check(combines, "IN-15: " + messages + " share a turn in a session whose policy does not say so");
        check(messages.size() <= SessionPolicy.COMBINED_MAX, "IN-15: " + messages.size() + " messages in one turn");
        check(
                messages.stream().map(m -> m.label.sender()).distinct().count() == 1,
                "IN-15: messages of different senders or authorities share a turn: " + messages);
        for (int i = 1; i < messages.size(); i++) {
            var before = messages.get(i - 1);
            var next = messages.get(i);
            for (Entry waits : ledger.takeable()) {
                boolean between = waits.number() > before.number() && waits.number() < next.number();
                check(
                        !between || !waits.kind().counted() || waits.afterIdle() || waits.kind() == ArrivalKind.REPLACE,
                        "Q1: " + next + " shares a turn with " + before + " over " + waits);
            }
        }
    }

    private void steerPlanned(Event.SteerPlanned e) {
        var m = ledger.of(e.message().number());
        ledger.expect(m, Place.WAITING, "SteerPlanned");
        check(openTurn == e.turn(), "TN-09: a steer for turn " + e.turn() + " while " + openTurn + " is open");
        check(phase == Phase.OPEN, "MB-09: " + m + " is taken as a steer in a session that is " + phase);
        check(m.kind() == ArrivalKind.STEER, "TN-09: " + m + " is taken as a steer");
        m.steering = true;
    }

    private void steerLanded(Event.SteerLanded e) {
        var m = ledger.of(e.message().number());
        check(openTurn == e.turn(), "TN-09: a steer lands in turn " + e.turn() + " while " + openTurn + " is open");
        ledger.take(m, Place.TURN, "SteerLanded");
        m.turn = e.turn();
        m.steering = false;
        continuations = 0; // a message came between
    }

    private void steerReturned(Event.SteerReturned e) {
        var m = ledger.of(e.message().number());
        m.steering = false;
        m.turn = 0; // it is in no agent's context
        if (m.place == Place.TURN) {
            ledger.move(m, Place.FRONT);
        } else {
            ledger.expect(m, Place.WAITING, "SteerReturned");
        }
    }

    private void settled(Event.TurnSettled e) {
        check(openTurn == e.turn(), "Q1: turn " + e.turn() + " is settled while " + openTurn + " is open");
        openTurn = 0;
        limitIsGoneOn();
        var messages = ledger.all(e.messages());
        for (Entry m : messages) {
            check(
                    m.place == Place.TURN && m.turn == e.turn(),
                    "P2: turn " + e.turn() + " ends " + m + ", which is at " + m.place + " of turn " + m.turn);
            ledger.end(m, e.outcome());
            cancels.ended(m);
        }
        var left = ledger.at(Place.TURN);
        check(left.isEmpty(), "P2: turn " + e.turn() + " is settled and leaves " + left);
        cancels.settled(e.turn(), e.outcome());
        if (e.kind() != Told.Kind.INTERNAL) {
            check(
                    !e.text().contains(InvariantChecker.INTERNAL),
                    "MB-16: the answer to a request of the host is the reply to " + messages + ": " + e.text());
            limitOwed = e.outcome() == Outcome.TURN_LIMIT;
        }
        settledAfter = ledger.arrivals();
    }

    private void limitIsGoneOn() {
        check(!limitOwed, "MB-15: after a turn limit no continuation was queued");
    }

    private void interruptAsked(Event.InterruptAsked e) {
        check(openTurn == e.turn(), "I1: turn " + e.turn() + " is interrupted while " + openTurn + " is open");
        if (e.number() > 0) {
            named(e.number());
        }
        cancels.interrupted(e.turn());
    }

    // ---- ends and phases ------------------------------------------------------------------------------------------

    private void ended(Event.MessageEnded e) {
        var m = ledger.of(e.message().number());
        if (e.inHand() && m.steering) {
            check(
                    e.outcome() == Outcome.CLOSED,
                    "TN-09: " + m + " ends as " + e.outcome() + " while it is told as a steer");
            ledger.take(m, Place.ENDED, "MessageEnded");
        } else if (e.inHand()) {
            ledger.expect(m, Place.HAND, "MessageEnded");
        } else if (m.place == Place.RELEASED) {
            check(e.outcome() == Outcome.CLOSED, "IN-10: " + m + " ends as " + e.outcome() + " while it is released");
        } else {
            check(!m.steering, "TN-09: " + m + " ends as unread while it is told as a steer");
            ledger.take(m, Place.ENDED, "MessageEnded");
        }
        ledger.end(m, e.outcome());
        m.answer = e.text();
        cancels.ended(m);
    }

    private void done(Event.ArrivalDone e) {
        var entry = named(e.number());
        check(!entry.kind().speaks(), "P2: " + entry + " has words and is only done: " + e.what());
        if (phase == Phase.CLOSED) {
            return;
        }
        switch (entry.kind()) {
            case CLEAR, COMPACT, RESET -> inItsPlace(entry);
            case CUT -> {
                inItsPlace(entry);
                cutOwed = e.what().startsWith("turns from");
            }
            case CLOSE -> {
                if (!CloseReason.recoverable(entry.label.note())) {
                    reason(entry);
                }
            }
            case SESSION_TIMEOUT ->
                check(
                        e.what().startsWith("closing") ? cancels.mayTimeOut(entry) : true,
                        "IN-17: the time-out of a former owner closes the session");
            default -> {}
        }
    }

    /** IN-20: what drops the agent's memory is done in its place, between turns. */
    private void inItsPlace(Entry entry) {
        check(openTurn == 0 || read, "IN-20: " + entry + " is done while turn " + openTurn + " is open");
        for (Entry waits : ledger.takeable()) {
            boolean before = waits.place == Place.FRONT
                    || (waits.kind().counted() && !waits.afterIdle() && waits.number() < entry.number());
            check(!before, "IN-20: " + entry + " is done before " + waits);
        }
    }

    private void reason(Entry entry) {
        firstReason = firstReason.or(() -> Optional.of(entry.label.note()));
    }

    private void phaseChanged(Event.PhaseChanged e) {
        check(phase != Phase.CLOSED, "MB-07: a closed session is changed by " + e);
        phase = switch (e.trigger()) {
            case PARK -> Phase.PARKED;
            case PAUSE -> Phase.PAUSED;
            case DRAIN -> Phase.DRAINING;
            case DRAINED -> drained(e);
            case RESUME -> {
                continuations = 0;
                yield Phase.OPEN;
            }
            case CLOSE -> closed(e);
        };
    }

    private Phase drained(Event.PhaseChanged e) {
        check(phase == Phase.DRAINING, "MB-09: a session is drained that is " + phase);
        boolean flying = openTurn != 0 || !ledger.at(Place.HAND).isEmpty();
        check(
                !e.reason().equals("drained") || !flying,
                "MB-09: a session is drained with turn " + openTurn + " open, in flight " + ledger.at(Place.HAND));
        return Phase.PAUSED;
    }

    private Phase closed(Event.PhaseChanged e) {
        firstReason.ifPresent(first -> check(
                e.reason().equals(first),
                "MB-07: closed as '" + e.reason() + "', the first reason was '" + first + "'"));
        return Phase.CLOSED;
    }

    // ---- readers --------------------------------------------------------------------------------------------------

    private void feedOpened(Event.FeedOpened e) {
        check(e.feed() == feed + 1 && !feedOpen, "MB-03: feed " + e.feed() + " is opened beside feed " + feed);
        var held = ledger.at(Place.HAND);
        check(held.isEmpty(), "MB-05: a feed is opened while an older one holds " + held);
        feed = e.feed();
        feedOpen = true;
    }

    private void taken(Event.MessagesTaken e) {
        check(feedOpen && e.feed() == feed, "MB-03: feed " + e.feed() + " takes, and " + feed + " is the newest");
        check(read, "CH-09: a reader takes in a session of an agent");
        check(
                phase == Phase.OPEN,
                (phase == Phase.CLOSED ? "CH-03" : phase == Phase.PAUSED ? "MB-08" : "MB-09")
                        + ": messages are taken in a session that is " + phase);
        for (Entry m : ledger.all(e.messages())) {
            for (Entry waits : ledger.takeable()) {
                if (waits.number() >= m.number()) {
                    break;
                }
                check(
                        m.returned && !waits.kind().speaks(),
                        "MB-01: " + m + " is given before " + waits + ", which is at " + waits.place);
            }
            ledger.take(m, m.kind().speaks() ? Place.HAND : Place.ENDED, "MessagesTaken");
        }
    }

    private void released(Event.MessagesReleased e) {
        named(e.number());
        long before = 0;
        for (Taken t : e.messages()) {
            var m = ledger.of(t.number());
            boolean inOrder = m.returned || t.number() > before; // what was given back goes before the others
            check(inOrder && t.number() < e.number(), "IN-10: " + e + " is not in order");
            before = m.returned ? before : t.number();
            check(!m.steering, "IN-10: " + m + " is released while it is told as a steer");
            ledger.take(m, Place.RELEASED, "MessagesReleased");
        }
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    private void answered(Event.QuestionAnswered e) {
        var answer = named(e.number());
        check(questions.containsKey(e.id()) && questionsOver.add(e.id()), "IN-14: " + e.id() + " is not open");
        check(
                answer.number() > questions.getOrDefault(e.id(), Long.MAX_VALUE),
                "IN-14: " + answer + " was accepted before question " + e.id() + " was asked, and is its answer");
        check(answer.label.subject().equals(e.id()), "IN-14: " + answer + " is about " + answer.label.subject());
        calls.answered(e.id(), new String(answer.arrival.body(), StandardCharsets.UTF_8));
    }

    private void questionWithdrawn(Event.QuestionWithdrawn e, Instant at) {
        if (!questions.containsKey(e.id())) {
            return; // it came too late to be asked, and its asker is told
        }
        check(questions.containsKey(e.id()) && questionsOver.add(e.id()), "IN-14: " + e.id() + " is not open");
        check(
                phase == Phase.CLOSED || calls.over(e) || !at.isBefore(deadlines.get(e.id())),
                "IN-17: question " + e.id() + " is given up before its deadline");
    }

    // ---- the end --------------------------------------------------------------------------------------------------

    /** @param now beyond the deadlines of all that should have ended by itself */
    List<String> atTheEnd(Instant now) {
        var open = new ArrayList<String>();
        if (phase != Phase.CLOSED && continuationQueued) {
            open.add("MB-15: a continuation never ran");
        }
        for (var question : questions.keySet()) {
            if (!questionsOver.contains(question)
                    && deadlines
                            .getOrDefault(question, Instant.MAX.minus(CLOCKS_APART))
                            .plus(CLOCKS_APART)
                            .isBefore(now)) {
                open.add("P4: question " + question + " is open for ever");
            }
        }
        if (finishing && phase != Phase.CLOSED) {
            open.add("MB-07: the session was finished and is " + phase);
        }
        return open;
    }
}
