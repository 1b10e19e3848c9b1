package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** How turns are opened, ended and settled. */
abstract sealed class Turns extends Calls permits Mail {
    Turns(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        super(limits, fold, durable, live, now);
    }

    final void openTurn(Told.Kind kind, DeliveryId id, List<Taken> messages, boolean written) {
        emit(new Event.TurnOpened(durable.lastTurn() + 1, kind, id, messages, now, now.plus(limits.turn()), written));
    }

    /** The next delivery id of the session. */
    final DeliveryId nextId() {
        return DeliveryIds.of(durable.seed(), durable.ids());
    }

    /** @param cancel the arrival that is done with this; 0 for none */
    final void endTurn(long cancel, boolean cancelled, String why) {
        var turn = durable.turn().orElseThrow();
        emit(new Event.InterruptAsked(turn.number(), cancel, cancelled, why));
        if (live.endBy.isEmpty()) {
            live.endBy = Optional.of(now.plus(limits.interrupt()));
        }
    }

    final void endForDeadline(String what) {
        endTurn(0, false, "deadline passed: " + what);
    }

    final Outcome endOutcome() {
        return durable.turn().filter(Turn::cancelled).isPresent() ? Outcome.CANCELLED : Outcome.FAILED;
    }

    final void settleWithoutResult(Outcome outcome, String why) {
        settle(outcome, Event.Evidence.NONE, "", why, Usage.unknown(), "", "");
    }

    final void settle(TurnResult r, Event.Evidence evidence) {
        var turn = durable.turn().orElseThrow();
        boolean ending = turn.stage() == TurnStage.ENDING;
        var outcome = ending
                ? endOutcome()
                : switch (r.ending()) {
                    case ANSWERED -> Outcome.ANSWERED;
                    case FAILED -> Outcome.FAILED;
                    case INTERRUPTED -> Outcome.CANCELLED;
                    case TURN_LIMIT -> Outcome.TURN_LIMIT;
                };
        var answer =
                r.ending() == TurnResult.Ending.ANSWERED ? r.answerId() : ""; // others may leave none in the record
        boolean goesOn = outcome == Outcome.TURN_LIMIT && turn.original().kind() != Told.Kind.INTERNAL;
        settle(outcome, evidence, r.text(), ending ? turn.ending() : r.reason(), r.usage(), answer, r.requestId());
        if (goesOn) {
            goOn();
        }
    }

    /** MB-15: one continuation, after what waits; too many in a row park the session. */
    private void goOn() {
        emit(new Event.ContinuationQueued(Math.max(live.seenThrough, durable.takenThrough())));
        if (durable.continuations() >= limits.continuations()) {
            park("the agent went on " + durable.continuations()
                    + " times in a row after reaching its limit of steps, with no message between");
        }
    }

    private void settle(
            Outcome outcome,
            Event.Evidence evidence,
            String text,
            String detail,
            Usage usage,
            String answerId,
            String requestId) {
        var turn = durable.turn().orElseThrow();
        var asked = turn.told().stream()
                .filter(t -> marks(turn, t))
                .map(t -> t.id().toString())
                .toList();
        var steer = turn.openSteer();
        callsOver(turn.number());
        emit(new Event.TurnSettled(
                turn.number(),
                turn.original().kind(),
                turn.messages(),
                outcome,
                evidence,
                text,
                outcome == Outcome.ANSWERED ? "" : detail,
                usage,
                new TurnMark(turn.number(), asked, answerId),
                requestId));
        if (live.interrupt == Live.InterruptWindow.CLOSED) {
            live.endBy = Optional.empty(); // else it bounds the window, which outlasts its turn
        }
        live.landed.removeAll(turn.ids());
        // A steer that was written and not acknowledged runs next in the agent, or is in its record, or is lost. So it
        // is next here, and under the same id, by which the agent can be asked.
        live.told = live.told.filter(id -> steer.filter(s -> s.id().equals(id)).isPresent());
        steer.ifPresent(s -> {
            if (durable.phase() != Phase.CLOSED) {
                openTurn(Told.Kind.MESSAGE, s.id(), s.messages(), true);
                return;
            }
            for (Taken m : s.messages()) { // nobody may take it for unread: the agent may have it
                emit(new Event.MessageEnded(m, Outcome.CLOSED, true, "", durable.phaseReason()));
            }
        });
    }

    /**
     * A line that never reached any incarnation gives no mark: its turn is told again in front of the next line. Nor does
     * a continuation of a turn: it carries no words, so a record without it lacks nothing.
     */
    private boolean marks(Turn turn, Told line) {
        if (line.kind() == Told.Kind.CONTINUATION) {
            return false;
        }
        if (line.kind() == Told.Kind.STEER) {
            return line.landed();
        }
        boolean asked = live.stage == AgentStage.STARTING
                || live.stage == AgentStage.READY
                || live.stage == AgentStage.STOPPING;
        return asked
                ? live.landed.contains(line.id())
                        || live.told.filter(line.id()::equals).isPresent()
                : turn.exposed();
    }

    /** Gives up a process that is planned and not begun. */
    final void abandon() {
        move(AgentStage.Trigger.ABANDON);
        emit(new Event.IncarnationEnded(
                durable.incarnation(), Event.EndCause.STOPPED, "not needed any more", false, ""));
        live.incarnationOver();
    }
}
