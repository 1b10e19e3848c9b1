package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What must hold in every {@link World}; what does not throws {@link AssertionError}. */
final class WorldRules {
    private WorldRules() {}

    // ---- before an event is applied -------------------------------------------------------------------------------

    static void before(World w, Event event) {
        switch (event) {
            case Event.TurnOpened e -> opened(w, e);
            case Event.SteerPlanned e -> gives(w, e);
            case Event.MessagesTaken e -> taken(w, e);
            case Event.MemoryDropped e -> dropped(w, e);
            case Event.TranscriptCut e -> dropped(w, e);
            case Event.MessageEnded e -> closed(w, e.message(), e.outcome());
            case Event.TurnSettled e -> e.messages().forEach(m -> closed(w, m, e.outcome()));
            default -> {}
        }
    }

    /** MB-08, MB-09: what is paused or drained gives nothing. */
    private static void gives(World w, Event event) {
        if (w.durable.phase() != Phase.OPEN) {
            throw new AssertionError(w.durable.phase() + " gives: " + event);
        }
    }

    /** MB-01, TN-09: nothing overtakes but what was made to. */
    private static void opened(World w, Event.TurnOpened e) {
        if (e.written()) {
            return; // in the agent's hands already
        }
        gives(w, e);
        var own = CoreDriver.numbers(e.messages());
        for (Taken m : e.messages()) {
            boolean patient = header(w, m.number()).wish().afterIdle();
            if (patient) {
                w.store.stream()
                        .filter(h -> h.number() <= w.read && ordinary(h) && waits(w, h.number()))
                        .findFirst()
                        .ifPresent(h -> overtaken(m.number(), h));
            } else if (m.kind() == ArrivalKind.MESSAGE
                    || (m.kind() == ArrivalKind.STEER && !w.ledger.named(m.number()))) { // else it was told before
                first(w, m.number(), own);
            }
        }
        if (e.kind() == Told.Kind.AFTER_LIMIT) {
            first(w, w.durable.continueAfter().orElseThrow() + 1, own);
        }
    }

    /** No ordinary message before {@code number} waits any more. */
    private static void first(World w, long number, List<Long> own) {
        w.store.stream()
                .filter(h -> h.number() < number && ordinary(h))
                .filter(h -> waits(w, h.number()) && !own.contains(h.number()))
                .findFirst()
                .ifPresent(h -> overtaken(number, h));
    }

    private static void overtaken(long number, Header h) {
        throw new AssertionError("arrival " + number + " goes before " + h);
    }

    private static boolean ordinary(Header h) {
        return (h.kind() == ArrivalKind.MESSAGE || h.kind() == ArrivalKind.STEER)
                && !h.wish().afterIdle();
    }

    private static boolean waits(World w, long number) {
        return !w.ledger.named(number) || w.ledger.has(number, Ledger.Place.FRONT);
    }

    private static Header header(World w, long number) {
        return w.store.get((int) number - 1);
    }

    /** MB-01, MB-03, IN-04: to the newest feed, in the order of acceptance and without a gap. */
    private static void taken(World w, Event.MessagesTaken e) {
        gives(w, e);
        if (e.feed() != w.reader.feed() || !w.reader.open()) {
            throw new AssertionError("given to a reader that is none: " + e + ", " + w.reader);
        }
        var own = CoreDriver.numbers(e.messages());
        for (long number : own) {
            for (long before = 1; before < number; before++) {
                if (waits(w, before) && !own.contains(before)) {
                    throw new AssertionError("arrival " + number + " is given before " + before);
                }
            }
        }
    }

    /** IN-20: in its place. */
    private static void dropped(World w, Event e) {
        if (w.durable.up() || w.durable.turn().isPresent()) {
            throw new AssertionError("memory is dropped under a process or a turn: " + e);
        }
        long place = w.ledger.in(Ledger.Place.ENDED).stream()
                .filter(n -> Set.of(ArrivalKind.CLEAR, ArrivalKind.CUT, ArrivalKind.RESET)
                        .contains(header(w, n).kind()))
                .reduce(0L, Math::max);
        first(w, place, List.of());
    }

    /** MB-07: what is queued before a finish is worked off, unless somebody closes the session. */
    private static void closed(World w, Taken m, Outcome outcome) {
        boolean shut = w.store.stream().anyMatch(h -> h.kind() == ArrivalKind.CLOSE);
        long finish = w.durable.finishing().map(Finish::number).orElse(0L);
        boolean queued = !w.ledger.has(m.number(), Ledger.Place.RELEASED);
        if (outcome == Outcome.CLOSED && !shut && queued && m.number() < finish) {
            throw new AssertionError("message " + m.number() + " was queued before the finish and is dropped");
        }
    }

    // ---- the end of a process -------------------------------------------------------------------------------------

    /** MB-12: input ends only while the agent rests, as far as it has said so. */
    static void stop(World w, StopMode mode) {
        if (mode != StopMode.IDLE || w.durable.phase().forbidsProcesses() || w.live.leaving()) {
            return;
        }
        boolean worksUnheard = w.reports.stream().anyMatch(r -> r instanceof Report.Busy);
        boolean idleUnheard =
                w.reports.stream().takeWhile(r -> !(r instanceof Report.Busy)).anyMatch(r -> r instanceof Report.Idle);
        if (!w.agent.written().isEmpty() || idleUnheard || (w.agent.works() && !worksUnheard)) {
            throw new AssertionError("input ends in mid-turn: " + w.agent);
        }
    }

    // ---- the agent's context --------------------------------------------------------------------------------------

    /** P2: every message stands at most once in the context, and each one of a settled turn exactly once, in order. */
    static void context(World w, long settled) {
        var words = new ArrayList<Long>();
        w.agent.context().forEach(i -> words.addAll(i.messages()));
        var distinct = new HashSet<>(words);
        if (distinct.size() != words.size()) {
            throw new AssertionError("a message is twice in the context: " + w.agent.context());
        }
        for (long turn = 1; turn <= settled; turn++) {
            boolean forgotten = turn <= w.durable.forgotten();
            for (long message : w.told.getOrDefault(turn, List.of())) {
                if (distinct.contains(message) == forgotten) {
                    throw new AssertionError("message " + message + " of " + (forgotten ? "forgotten" : "settled")
                            + " turn " + turn + ": " + w.agent.context());
                }
            }
        }
        if (!w.opened.containsAll(distinct)) {
            throw new AssertionError("words of a message that was not opened: " + words + ", opened " + w.opened);
        }
        long last = 0;
        for (long message : words) {
            var h = header(w, message);
            if (h.kind() == ArrivalKind.MESSAGE && !h.wish().afterIdle() && !w.ledger.restored(message)) {
                if (message < last) {
                    throw new AssertionError("messages out of order in the context: " + words);
                }
                last = message;
            }
        }
    }

    // ---- every state ----------------------------------------------------------------------------------------------

    static void state(World w) {
        places(w);
        phases(w);
        if (w.shape.settings().agent()) {
            agentWaits(w);
        } else {
            readerWaits(w);
        }
    }

    private static void places(World w) {
        same(w, "front", w.durable.front(), Ledger.Place.FRONT);
        same(w, "in hand", w.durable.reading().inHand(), Ledger.Place.HAND);
        same(w, "released", w.durable.released(), Ledger.Place.RELEASED);
        same(w, "turn", w.durable.turn().map(Turn::messages).orElse(List.of()), Ledger.Place.TURN);
        if (w.durable.consumed() != w.ledger.consumed()) {
            throw new AssertionError("consumed " + w.durable.consumed() + ", not " + w.ledger.consumed());
        }
        if (!w.reader.holds().containsAll(CoreDriver.numbers(w.durable.reading().inHand()))) {
            throw new AssertionError("in the hand of nobody: " + w.durable.reading() + ", " + w.reader);
        }
    }

    private static void same(World w, String what, List<Taken> there, Ledger.Place place) {
        long wanted = w.ledger.count(place);
        boolean same = there.size() == wanted && there.stream().allMatch(m -> w.ledger.has(m.number(), place));
        if (!same) {
            throw new AssertionError(what + ": " + there + ", not " + w.ledger.in(place));
        }
    }

    private static void phases(World w) {
        var d = w.durable;
        if (d.drainBy().isPresent() != (d.phase() == Phase.DRAINING)) {
            throw new AssertionError("a drain's deadline in " + d.phase());
        }
        boolean left = d.turn().isPresent()
                || !d.front().isEmpty()
                || !d.reading().inHand().isEmpty()
                || d.continueAfter().isPresent();
        if (d.phase() == Phase.CLOSED && left) {
            throw new AssertionError("closed with something left");
        }
        boolean internal =
                d.turn().filter(t -> t.original().kind() == Told.Kind.INTERNAL).isPresent();
        if (internal && !d.up()) {
            throw new AssertionError("a request of the host without its process (MB-16)");
        }
    }

    /** P4: with work to do there is something due, or an answer that must come. */
    private static void agentWaits(World w) {
        var d = w.durable;
        var l = w.live;
        boolean mail = l.waiting().values().stream()
                .anyMatch(h -> (h.kind().counted() || h.kind() == ArrivalKind.RESET) && !d.named(h.number()));
        boolean work = d.turn().isPresent()
                || !d.front().isEmpty()
                || mail
                || d.continueAfter().isPresent()
                || d.finishing().isPresent();
        if (!work || d.phase() != Phase.OPEN || l.leaving()) {
            return;
        }
        boolean unread = w.read < w.store.size();
        boolean answerComes = (l.stage() != AgentStage.DOWN && l.stage() != AgentStage.READY)
                || l.judging().isPresent()
                || (l.stage() == AgentStage.READY && (l.busy() || l.awaitIdle()))
                || unread;
        if (!answerComes && (d.turn().isEmpty() || !w.due())) {
            throw new AssertionError("stuck: work to do, nothing running and nothing due");
        }
        if (w.sleepable() && !unread) {
            throw new AssertionError("an owner with work may go");
        }
    }

    /** A reader that waits is served when there is something, is told when there will be nothing, and is not left alone. */
    private static void readerWaits(World w) {
        var d = w.durable;
        boolean asks = w.live.demand().isPresent();
        if (w.reader.open() && w.reader.asks() != asks) {
            throw new AssertionError("a reader that " + (asks ? "does not ask is served" : "asks is forgotten"));
        }
        if (w.reader.open() != d.reading().open() || (asks && !d.reading().open())) {
            throw new AssertionError("whether the feed is open: " + w.reader + ", " + d.reading());
        }
        long next = d.takenThrough() + 1;
        boolean something = !d.front().isEmpty() || (next <= w.live.seenThrough() && next <= w.store.size());
        if (asks && (something || d.phase() != Phase.OPEN)) {
            throw new AssertionError("a reader waits in vain");
        }
        if (w.sleepable() && (d.reading().open() || !d.reading().inHand().isEmpty())) {
            throw new AssertionError("an owner with a reader may go");
        }
    }
}
