package dev.holdfast.core;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.TurnMark;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Folds events into the state: the only place where {@link Durable} changes. Every stage change goes through its table. */
final class Fold {
    private static final int LAST_WORDS_MAX = 200;
    private static final int QUESTION_MAX = 4_000;

    private final Limits limits;

    Fold(Limits limits) {
        this.limits = limits;
    }

    Durable apply(Durable state, Event event) {
        var d = state.draft();
        switch (event) {
            case Event.SessionOpened e -> {
                d.seed = e.seed();
                d.harness = e.harness();
                d.usedAt = e.at();
            }
            case Event.PhaseChanged e -> phaseChanged(d, e);
            case Event.ArrivalDone e -> arrivalDone(d, e);
            case Event.FinishAsked e -> {
                d.name(e.number());
                d.finishing = Optional.of(new Finish(e.number(), e.reason()));
            }
            case Event.MessageEnded e -> messageEnded(d, e);
            case Event.QuestionAsked e -> {
                var questions = new ArrayList<>(d.questions);
                questions.add(new Question(e.id(), e.deadline(), e.after(), shown(e.text()), e.call()));
                d.questions = questions;
                e.call().ifPresent(call -> {
                    var approvals = new ArrayList<>(d.approvals);
                    approvals.add(new Approval(e.id(), call, Approval.State.OPEN, 0, false));
                    d.approvals = approvals;
                });
            }
            case Event.QuestionAnswered e -> {
                d.name(e.number());
                d.questions = without(d.questions, e.id());
                approvals(d, a -> a.question().equals(e.id()), a -> a.answered(e.number()));
            }
            case Event.QuestionWithdrawn e -> {
                d.questions = without(d.questions, e.id());
                approvals(d, a -> a.question().equals(e.id()), Approval::lapsed);
            }
            case Event.MemoryDropped e -> {
                d.forgotten = e.through();
                forget(d);
                d.continueAfter = OptionalLong.empty(); // there is nothing left to go on with
            }
            case Event.TranscriptCut e -> {
                if (e.from() <= d.forgotten + 1) {
                    d.forgotten = d.lastTurn; // nothing is left to tell again
                }
                forget(d);
                d.continueAfter = OptionalLong.empty();
                d.lastWords = "";
            }
            case Event.TurnCopied e -> {
                d.name(e.number());
                d.lastTurn = e.turn();
            }
            case Event.HarnessSwapped e -> {
                d.harness = e.to();
                forget(d);
            }
            case Event.ContinuationQueued e -> d.continueAfter = OptionalLong.of(e.after());
            case Event.FeedOpened e -> d.reading = new Reading(e.feed(), true, d.reading.inHand());
            case Event.MessagesTaken e -> messagesTaken(d, e);
            case Event.MessagesReturned e -> messagesReturned(d, e);
            case Event.MessagesReleased e -> {
                d.name(e.number());
                takeOut(d, e.messages());
                var held = new ArrayList<>(d.released);
                held.addAll(e.messages());
                d.released = held;
            }
            case Event.MessagesRestored e -> {
                d.released = without(d.released, e.messages());
                giveBack(d, e.messages());
            }
            case Event.FeedEnded e -> {
                d.reading = new Reading(e.feed(), false, d.reading.inHand());
                d.lastEnd = e.cause().name();
            }
            case Event.TurnOpened e -> turnOpened(d, e);
            case Event.SteerPlanned e -> steerPlanned(d, e);
            case Event.SteerLanded e -> steerLanded(d, e);
            case Event.SteerReturned e -> steerReturned(d, e);
            case Event.ContinuationOpened e -> continuationOpened(d, e);
            case Event.TurnReturned e -> turnReturned(d, e);
            case Event.TurnSettled e -> turnSettled(d, e);
            case Event.CallStarted e -> callStarted(d, e);
            case Event.CallEnded e -> callEnded(d, e);
            case Event.InterruptAsked e -> interruptAsked(d, e);
            case Event.AgentBound e -> d.binding = e.binding();
            case Event.IncarnationPlanned e -> incarnationPlanned(d, e);
            case Event.IncarnationEnded e -> incarnationEnded(d, e);
            case Event.NativeSessionReplaced e -> {
                d.nativeSession = Optional.of(e.nativeSession());
                d.marks = List.of();
                d.ids++;
            }
            case Event.CatchUpPlanned e -> {
                d.ids++;
                mark(d, new TurnMark(e.through(), List.of(e.delivery().toString()), ""));
            }
            case Event.RestartScheduled e -> d.restartAt = Optional.of(e.at());
            case Event.DeadlineMoved e -> d.turn = Optional.of(open(d, e.turn()).deadline(e.deadline()));
            case Event.IncarnationStarted e -> {}
            case Event.IncarnationVerified e -> {
                d.restartAt = Optional.empty();
                d.nativeSession = Optional.of(e.nativeSession()); // the agent may have taken another id than asked for
            }
            case Event.AgentTurnSeen e -> addCost(d, e.usage().costMicros());
            case Event.Noticed e -> {}
        }
        return d.build();
    }

    /** The agent's own session is given up, and with it what was known of it. */
    private static void forget(Durable.Draft d) {
        d.nativeSession = Optional.empty();
        d.marks = List.of();
    }

    private void phaseChanged(Durable.Draft d, Event.PhaseChanged e) {
        d.phase = Phase.TABLE.next(d.phase, e.trigger());
        d.phaseReason = e.reason();
        if (e.trigger() == Phase.Trigger.RESUME) {
            d.failures = 0;
            d.restartAt = Optional.empty();
            d.continuations = 0;
            e.deadline().ifPresent(by -> d.turn = d.turn.map(t -> t.deadline(by)));
        }
        d.drainBy = e.trigger() == Phase.Trigger.DRAIN ? e.deadline() : Optional.empty();
        if (d.phase == Phase.CLOSED) {
            d.restartAt = Optional.empty();
            d.continueAfter = OptionalLong.empty();
            d.lastEnd = "CLOSED";
        }
    }

    private static void arrivalDone(Durable.Draft d, Event.ArrivalDone e) {
        var front = d.front.stream().filter(m -> m.number() != e.number()).toList();
        if (front.size() < d.front.size()) {
            d.front = front;
        } else if (e.kind().counted()) {
            d.nameCounted(e.number(), e.bytes());
        } else {
            d.name(e.number());
        }
    }

    private static void messageEnded(Durable.Draft d, Event.MessageEnded e) {
        var held = new ArrayList<>(d.reading.inHand());
        var released = new ArrayList<>(d.released);
        if (held.remove(e.message())) {
            d.reading = new Reading(d.reading.feed(), d.reading.open(), held);
        } else if (released.remove(e.message())) {
            d.released = released;
        } else if (!removeFromFront(d, e.message())) {
            d.nameOrdinary(e.message());
        }
    }

    private static List<Question> without(List<Question> questions, String id) {
        return questions.stream().filter(q -> !q.id().equals(id)).toList();
    }

    private static void messagesTaken(Durable.Draft d, Event.MessagesTaken e) {
        takeOut(d, e.messages());
        var held = new ArrayList<>(d.reading.inHand());
        for (Taken m : e.messages()) {
            if (m.kind().speaks()) {
                held.add(m);
                d.consumed++;
            }
        }
        d.reading = new Reading(d.reading.feed(), d.reading.open(), held);
        d.usedAt = e.at();
    }

    /** From the front, or from among those that wait: there may be thousands of either. */
    private static void takeOut(Durable.Draft d, List<Taken> messages) {
        var front = new LinkedHashSet<>(d.front);
        for (Taken m : messages) {
            if (front.remove(m)) {
                continue;
            }
            if (m.kind().speaks()) {
                d.nameOrdinary(m);
            } else if (m.kind().counted()) {
                d.nameCounted(m.number(), m.bytes());
            } else {
                d.name(m.number());
            }
        }
        d.front = List.copyOf(front);
    }

    private static List<Taken> without(List<Taken> all, List<Taken> some) {
        var left = new LinkedHashSet<>(all);
        some.forEach(left::remove);
        return List.copyOf(left);
    }

    private static void messagesReturned(Durable.Draft d, Event.MessagesReturned e) {
        var held = without(d.reading.inHand(), e.messages());
        giveBack(d, e.messages());
        d.consumed -= e.messages().size();
        d.reading = new Reading(d.reading.feed(), d.reading.open(), held);
    }

    /** They may come back one after the other; in front they stand in the order of acceptance all the same. */
    private static void giveBack(Durable.Draft d, List<Taken> messages) {
        var front = new ArrayList<>(d.front);
        front.addAll(messages);
        front.sort(Comparator.comparingLong(Taken::number));
        d.front = front;
    }

    private static boolean removeFromFront(Durable.Draft d, Taken message) {
        var rest = new ArrayList<>(d.front);
        boolean removed = rest.remove(message);
        d.front = rest;
        return removed;
    }

    private void turnOpened(Durable.Draft d, Event.TurnOpened e) {
        var stage = TurnStage.TABLE.next(d.turn.map(Turn::stage).orElse(TurnStage.NONE), TurnStage.Trigger.OPENED);
        if (e.turn() != d.lastTurn + 1) {
            throw new IllegalStateException("turn " + e.turn() + " does not follow turn " + d.lastTurn);
        }
        long after = d.lastOrdinary;
        for (Taken message : e.messages()) {
            if (!removeFromFront(d, message)) {
                d.nameOrdinary(message);
            }
        }
        d.consumed += e.messages().size();
        switch (e.kind()) {
            case AFTER_LIMIT -> {
                d.continueAfter = OptionalLong.empty();
                d.continuations++;
                d.usedAt = e.at();
            }
            case MESSAGE -> {
                d.continuations = 0;
                d.usedAt = e.at();
            }
            case STEER, CONTINUATION, INTERNAL -> {}
        }
        d.lastTurn = e.turn();
        d.ids++;
        var line = new Told(e.delivery(), e.kind(), e.messages(), false);
        d.turn = Optional.of(new Turn(
                e.turn(),
                stage,
                List.of(line),
                after,
                e.at(),
                e.deadline(),
                true,
                e.written(),
                0,
                0,
                List.of(),
                "",
                false));
    }

    private static void steerPlanned(Durable.Draft d, Event.SteerPlanned e) {
        var turn = open(d, e.turn());
        var told = new ArrayList<>(turn.told());
        told.add(new Told(e.delivery(), Told.Kind.STEER, List.of(e.message()), false));
        d.ids++;
        d.turn = Optional.of(turn.told(told));
    }

    private static void steerLanded(Durable.Draft d, Event.SteerLanded e) {
        var turn = open(d, e.turn());
        var told = new ArrayList<Told>();
        turn.told().forEach(t -> told.add(t.id().equals(e.delivery()) ? t.asLanded() : t));
        if (!removeFromFront(d, e.message())) {
            d.nameOrdinary(e.message());
        }
        d.consumed++;
        d.continuations = 0;
        d.turn = Optional.of(turn.told(told));
    }

    /** A steer that had landed was named and goes to the front; one that never did is still waiting under its number. */
    private static void steerReturned(Durable.Draft d, Event.SteerReturned e) {
        var turn = open(d, e.turn());
        var told = new ArrayList<>(turn.told());
        var line = told.stream()
                .filter(t -> t.id().equals(e.delivery()))
                .findFirst()
                .orElseThrow();
        told.remove(line);
        if (line.landed()) {
            d.consumed--;
            giveBack(d, List.of(e.message()));
        }
        d.turn = Optional.of(turn.told(told));
    }

    private static void continuationOpened(Durable.Draft d, Event.ContinuationOpened e) {
        var turn = open(d, e.turn());
        var told = new ArrayList<>(turn.told());
        told.add(new Told(e.delivery(), Told.Kind.CONTINUATION, List.of(), false));
        d.ids++;
        d.turn = Optional.of(turn.told(told)
                .calls(forgotten(turn, false))
                .stage(TurnStage.TABLE.next(turn.stage(), TurnStage.Trigger.CONTINUED))
                .deaths(turn.agentDeaths(), 0)
                .deadline(e.deadline()));
    }

    private static void turnReturned(Durable.Draft d, Event.TurnReturned e) {
        var turn = open(d, e.turn());
        d.turn = Optional.of(turn.told(List.of(turn.original()))
                .calls(forgotten(turn, true))
                .stage(TurnStage.TABLE.next(turn.stage(), TurnStage.Trigger.RETURNED))
                .deadline(e.deadline()));
    }

    /** A continuation tells of every call; an agent that begins the turn again knows of none. */
    private static List<OpenCall> forgotten(Turn turn, boolean forgotten) {
        return turn.calls().stream().map(c -> c.forgotten(forgotten)).toList();
    }

    private void turnSettled(Durable.Draft d, Event.TurnSettled e) {
        var turn = open(d, e.turn());
        TurnStage.TABLE.next(turn.stage(), TurnStage.Trigger.SETTLED);
        d.turn = Optional.empty();
        d.approvals =
                d.approvals.stream().filter(a -> a.call().turn() != e.turn()).toList();
        if (!e.mark().asked().isEmpty()) {
            mark(d, e.mark());
        }
        addCost(d, e.usage().costMicros());
        if (e.evidence() != Event.Evidence.NONE) {
            d.failures = 0;
            d.restartAt = Optional.empty();
        }
        if (e.outcome() == Outcome.ANSWERED && e.kind() != Told.Kind.INTERNAL) {
            d.lastWords = shortened(e.text());
        }
        if (!turn.inFlight()) {
            d.consumed += turn.messages().size();
        }
    }

    private static void approvals(Durable.Draft d, Predicate<Approval> which, UnaryOperator<Approval> change) {
        d.approvals = d.approvals.stream()
                .map(a -> which.test(a) ? change.apply(a) : a)
                .toList();
    }

    private static void callStarted(Durable.Draft d, Event.CallStarted e) {
        var started = new ArrayList<>(d.started);
        started.add(new StartedCall(e.turn(), e.callId(), e.tool(), e.inputDigest(), e.key(), e.builtIn(), e.facts()));
        d.started = started;
        approvals(d, a -> a.call().key().equals(e.key()) && a.state() == Approval.State.ANSWERED, Approval::used);
        if (e.turn() == 0) {
            return; // in a turn the agent started by itself
        }
        var turn = open(d, e.turn());
        var calls = new ArrayList<>(turn.calls());
        calls.add(new OpenCall(e.callId(), e.tool(), e.inputDigest(), e.key(), false, false, "", false));
        d.turn = Optional.of(turn.calls(calls));
    }

    private static void callEnded(Durable.Draft d, Event.CallEnded e) {
        d.started =
                d.started.stream().filter(s -> !s.callId().equals(e.callId())).toList();
        if (!e.key().isEmpty()) {
            approvals(d, a -> a.call().key().equals(e.key()), Approval::asEnded);
        }
        boolean known = switch (e.outcome()) {
            case OK, ERROR, DENIED -> true;
            case ABANDONED, CANCELLED, LOST -> false; // it may have happened
        };
        if (!known) {
            return;
        }
        if (d.turn.isEmpty() || d.turn.get().number() != e.turn()) {
            return;
        }
        var turn = d.turn.get();
        var calls = new ArrayList<OpenCall>();
        for (OpenCall c : turn.calls()) {
            calls.add(c.callId().equals(e.callId()) ? c.end(e.error(), e.answer()) : c);
        }
        d.turn = Optional.of(turn.calls(calls));
    }

    private static void interruptAsked(Durable.Draft d, Event.InterruptAsked e) {
        var turn = open(d, e.turn());
        if (e.number() > 0) {
            d.name(e.number());
        }
        d.turn = Optional.of(turn.stage(TurnStage.TABLE.next(turn.stage(), TurnStage.Trigger.END_ASKED))
                .ending(e.why(), e.cancelled()));
    }

    /** MB-05: what was in flight is in flight again, for the new incarnation. */
    private static void incarnationPlanned(Durable.Draft d, Event.IncarnationPlanned e) {
        d.incarnation = e.incarnation();
        d.up = true;
        d.turn.filter(t -> !t.inFlight()).ifPresent(t -> {
            d.consumed += t.messages().size();
            d.turn = Optional.of(t.inFlight(true));
        });
    }

    /** MB-05: an unsettled message is at the front again and its count undone, once. */
    private static void incarnationEnded(Durable.Draft d, Event.IncarnationEnded e) {
        d.up = false;
        d.approvals = d.approvals.stream().filter(a -> a.call().turn() != 0).toList();
        d.lastEnd = e.cause().name();
        if (e.cause() == Event.EndCause.CRASHED || e.cause() == Event.EndCause.START_FAILED) {
            d.failures++;
        }
        d.turn.ifPresent(t -> {
            int agent = t.agentDeaths();
            int host = t.hostDeaths();
            if (e.cause() == Event.EndCause.HOST_LOST) {
                host++;
            } else if (e.landed()) {
                agent++;
                host = 0;
            }
            if (t.inFlight()) {
                d.consumed -= t.messages().size();
            }
            d.turn = Optional.of(t.inFlight(false).deaths(agent, host));
        });
    }

    private void mark(Durable.Draft d, TurnMark mark) {
        var marks = new ArrayList<>(d.marks);
        marks.add(mark);
        int surplus = marks.size() - limits.marks();
        d.marks = surplus > 0 ? marks.subList(surplus, marks.size()) : marks;
    }

    private static void addCost(Durable.Draft d, OptionalLong micros) {
        micros.ifPresent(m -> d.costMicros = OptionalLong.of(d.costMicros.orElse(0) + m));
    }

    private static Turn open(Durable.Draft d, long number) {
        var turn = d.turn.orElseThrow(() -> new IllegalStateException("turn " + number + " is not open: no turn is"));
        if (turn.number() != number) {
            throw new IllegalStateException("turn " + number + " is not open: turn " + turn.number() + " is");
        }
        return turn;
    }

    /** The event has the whole. */
    private static String shown(String text) {
        return text.length() > QUESTION_MAX ? text.substring(0, QUESTION_MAX - 1) + "…" : text;
    }

    private static String shortened(String text) {
        var line = text.strip().replace('\n', ' ');
        return line.length() > LAST_WORDS_MAX ? line.substring(0, LAST_WORDS_MAX - 1) + "…" : line;
    }
}
