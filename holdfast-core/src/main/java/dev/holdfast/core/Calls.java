package dev.holdfast.core;

import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.Limits;
import dev.holdfast.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The door for calls of tools, the host's and the agent's own: judged, asked about, dispatched, ended, each with one row of
 * the audit (TL-03, TL-04).
 */
abstract sealed class Calls extends Work permits Turns {
    /** How long a verdict counts (TL-04). */
    static final Duration VERDICT_LIFE = Duration.ofSeconds(5);

    private static final String TURN_OVER = "the turn is over";
    private static final int KEY_DIGITS = 32;
    private static final int ANSWERED_REMEMBERED = 64;

    /** Calls that got their answer in this step, which is not given before its effects are. */
    private final Set<String> answeredNow = new HashSet<>();

    Calls(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        super(limits, fold, durable, live, now);
    }

    // ---- in -------------------------------------------------------------------------------------------------------

    /** Nothing of it is recorded yet: one that was only asked for did not happen. */
    final void callAsked(Input.CallAsked c) {
        if (live.calls.containsKey(c.callId())) {
            return;
        }
        forgetAnswered();
        var scope = durable.turn()
                .map(t -> t.original().scope(t.number()))
                .orElse("0/" + durable.incarnation() + "/" + durable.lastTurn()); // no such turn is ever run again
        var tool = c.builtIn() ? "agent/" + c.tool() : c.tool();
        int nth = nth(tool, c.inputDigest());
        var key = DeliveryIds.digest(durable.seed() + "/" + scope + "/" + tool + "/" + c.inputDigest() + "/" + nth);
        live.calls.put(
                c.callId(),
                Call.asked(
                        c.tool(),
                        c.inputDigest(),
                        c.sideEffects(),
                        c.builtIn(),
                        key,
                        SessionCore.message(durable.turn())));
    }

    /** A long turn does not make each of its calls slower: of those that are over the newest are remembered. */
    private void forgetAnswered() {
        var oldest = live.calls.entrySet().iterator();
        while (live.calls.size() >= ANSWERED_REMEMBERED && oldest.hasNext()) {
            var call = oldest.next();
            if (call.getValue().stage() == Call.Stage.ANSWERED && !answeredNow.contains(call.getKey())) {
                oldest.remove();
            }
        }
    }

    /** In the order of the answers, whenever they were asked. */
    private void keepAnswered(String callId, Call call) {
        live.calls.remove(callId);
        live.calls.put(callId, call);
        answeredNow.add(callId);
    }

    /** Counts calls alike, those included whose end the agent was told of when it was asked to go on. */
    final int nth(String tool, String inputDigest) {
        return live.callOrdinals.merge(tool + "/" + inputDigest, 1, Integer::sum);
    }

    /** A verdict is used once: one of an older round, or for a call that is over, decides nothing. */
    final void callJudged(Input.CallJudged j) {
        var call = live.calls.get(j.callId());
        if (call == null || call.stage() != Call.Stage.ASKED || call.round() != j.round()) {
            return;
        }
        if (durable.turnStage() == TurnStage.ENDING) {
            return;
        }
        if (now.isAfter(j.at().plus(VERDICT_LIFE))) {
            live.calls.put(j.callId(), call.again());
            return;
        }
        var message = call.facts().message();
        switch (j.ruling()) {
            case Ruling.Admitted r ->
                dispatch(j.callId(), call, new CallFacts(message, j.author(), r.as(), r.rule()), j.at());
            case Ruling.Refused r ->
                refuse(j.callId(), call, new CallFacts(message, j.author(), r.as(), r.rule()), r.reason());
            case Ruling.Questioned r ->
                question(j.callId(), call, new CallFacts(message, j.author(), CallRuling.NONE, r.rule()), r);
        }
    }

    private void dispatch(String callId, Call call, CallFacts facts, Instant judgedAt) {
        boolean records = !call.started() && ((call.sideEffects() && !call.builtIn()) || asked(call));
        if (records) {
            emit(new Event.CallStarted(
                    turnNumber(), callId, call.tool(), call.inputDigest(), call.key(), call.builtIn(), facts));
        }
        live.calls.put(callId, call.running(facts, now, judgedAt, call.started() || records));
    }

    /** A person's answer is used up by what it let run, also when that has no side effects. */
    private boolean asked(Call call) {
        return durable.approval(call.key())
                .filter(a -> a.state() == Approval.State.ANSWERED)
                .isPresent();
    }

    private void refuse(String callId, Call call, CallFacts facts, String reason) {
        var refused = call.refused(facts, reason);
        keepAnswered(callId, refused);
        emit(end(callId, refused, CallOutcome.DENIED, true, reason));
    }

    private void question(String callId, Call call, CallFacts facts, Ruling.Questioned q) {
        var before = durable.approval(call.key()).filter(a -> a.state() == Approval.State.OPEN);
        if (before.isPresent()) { // asked before a crash, and not answered yet
            live.calls.put(callId, call.questioned(before.get().question(), facts));
            return;
        }
        var id = "call-" + call.key().substring(0, KEY_DIGITS) + "-" + (durable.approvals(call.key()) + 1);
        var about =
                new AskedCall(turnNumber(), callId, call.tool(), call.inputDigest(), call.key(), call.builtIn(), facts);
        long after = Math.max(live.seenThrough, durable.takenThrough());
        emit(new Event.QuestionAsked(id, q.text(), now.plus(q.within()), after, Optional.of(about)));
        live.calls.put(callId, call.questioned(id, facts));
    }

    /** The question is over: the call that waits for it is judged once more, with what became of it. */
    final void questionOver(String id) {
        live.calls.replaceAll((callId, call) ->
                call.stage() == Call.Stage.QUESTIONED && call.question().equals(id) ? call.again() : call);
    }

    /** Between the verdict and the dispatch too much time passed, or the tools were stopped. */
    final void callHeldBack(Input.CallHeldBack h) {
        var call = live.calls.get(h.callId());
        if (call != null && call.stage() == Call.Stage.RUNNING && call.round() == h.round()) {
            live.calls.put(h.callId(), call.again());
        }
    }

    final void callFinished(Input.CallFinished c) {
        var call = live.calls.get(c.callId());
        if (call == null || call.stage() != Call.Stage.RUNNING) {
            note(new Event.Noticed("late_answer", "call " + c.callId()));
            return;
        }
        var over = call.answered();
        keepAnswered(c.callId(), over);
        record(
                over,
                end(c.callId(), over, c.error() ? CallOutcome.ERROR : CallOutcome.OK, c.error(), c.answerExcerpt()));
    }

    /** The agent used a tool of its own: told by its events, and it needs no commit of its own. */
    final void toolUsed(Input.ToolUsed u) {
        var known = live.calls.get(u.callId());
        if (known != null && known.stage() != Call.Stage.RUNNING) {
            return; // kept from it, which has its row
        }
        var call = known != null
                ? known
                : Call.asked(u.tool(), u.inputDigest(), true, true, "", SessionCore.message(durable.turn()));
        if (known == null) {
            note(new Event.Noticed("tool_not_guarded", u.tool() + " ran in call " + u.callId() + " and nobody asked"));
        }
        live.calls.remove(u.callId());
        live.calls.entrySet().removeIf(e -> sameUse(e.getKey(), e.getValue(), u.callId()));
        record(
                call,
                end(u.callId(), call, u.error() ? CallOutcome.ERROR : CallOutcome.OK, u.error(), u.answerExcerpt()));
    }

    /** The agent asked about the use more than once: it is one use. */
    private static boolean sameUse(String id, Call call, String used) {
        return call.builtIn() && !call.started() && call.stage() == Call.Stage.RUNNING && id.startsWith(used + "~");
    }

    final void callWithdrawn(Report.CallWithdrawn w) {
        var call = live.calls.remove(w.callId());
        if (call != null) {
            over(w.callId(), call, CallOutcome.CANCELLED);
            openQuestions(call.question()).forEach(q -> withdraw(q, "the agent does not want the call any more"));
        }
    }

    // ---- over -----------------------------------------------------------------------------------------------------

    /** The turn ends: whatever of its calls is open has ended with it, and nobody is asked about them any more. */
    final void callsOver(long turn) {
        live.calls.forEach((id, call) -> over(id, call, CallOutcome.CANCELLED));
        live.calls.clear();
        live.callOrdinals.clear();
        endApprovals(turn);
    }

    /** The agent's process is gone: what ran may have happened. A question stays open for the same call (TL-04). */
    final void callsLost() {
        live.calls.forEach((id, call) -> {
            if (call.stage() != Call.Stage.QUESTIONED) {
                over(id, call, CallOutcome.LOST);
            }
        });
        live.calls.clear();
        for (StartedCall s : durable.started()) {
            emit(ended(s.callId(), s.turn(), asked(s), CallOutcome.LOST, OptionalLong.empty(), false, ""));
        }
        endApprovals(0); // a turn of the agent's own is not made again
    }

    private static AskedCall asked(StartedCall s) {
        return new AskedCall(s.turn(), s.callId(), s.tool(), s.inputDigest(), s.key(), s.builtIn(), s.facts());
    }

    private void over(String callId, Call call, CallOutcome begun) {
        switch (call.stage()) {
            case ASKED, QUESTIONED -> record(call, end(callId, call, CallOutcome.ABANDONED, false, ""));
            case RUNNING -> record(call, end(callId, call, begun, false, ""));
            case ANSWERED -> {}
        }
    }

    private void endApprovals(long turn) {
        for (Approval a : durable.approvals()) {
            if (a.call().turn() != turn) {
                continue;
            }
            openQuestions(a.question()).forEach(q -> withdraw(q, TURN_OVER));
            boolean rowless = durable.approvals().stream()
                    .anyMatch(b -> b.question().equals(a.question()) && !b.ended() && b.state() != Approval.State.USED);
            if (rowless) {
                emit(ended(a.call().callId(), turn, a.call(), CallOutcome.ABANDONED, OptionalLong.empty(), false, ""));
            }
        }
    }

    private List<Question> openQuestions(String id) {
        return durable.questions().stream().filter(q -> q.id().equals(id)).toList();
    }

    private void withdraw(Question q, String why) {
        emit(new Event.QuestionWithdrawn(q.id(), why));
    }

    /** What the journal knows the start of gets its end at once; anything else with the next commit. */
    private void record(Call call, Event end) {
        if (call.started() || !call.question().isEmpty()) {
            emit(end);
        } else {
            note(end);
        }
    }

    private Event end(String callId, Call call, CallOutcome outcome, boolean error, String answer) {
        boolean dispatched = !call.since().equals(Instant.EPOCH) && outcome != CallOutcome.DENIED;
        var took = dispatched && outcome != CallOutcome.LOST
                ? OptionalLong.of(
                        Math.max(0, Duration.between(call.since(), now).toMillis()))
                : OptionalLong.empty();
        var about = new AskedCall(
                turnNumber(), callId, call.tool(), call.inputDigest(), call.key(), call.builtIn(), call.facts());
        return ended(callId, about.turn(), about, outcome, took, error, answer);
    }

    private static Event ended(
            String callId,
            long turn,
            AskedCall c,
            CallOutcome outcome,
            OptionalLong millis,
            boolean error,
            String answer) {
        return new Event.CallEnded(
                turn,
                callId,
                c.tool(),
                error,
                answer,
                c.inputDigest(),
                c.key(),
                c.builtIn(),
                c.facts(),
                outcome,
                millis);
    }

    private long turnNumber() {
        return durable.turn().map(Turn::number).orElse(0L);
    }

    /** Ids of calls that a person was asked about and that were never begun. */
    static List<String> notBegun(Durable durable) {
        return durable.approvals().stream()
                .filter(a -> a.state() != Approval.State.USED)
                .map(a -> a.call().callId())
                .toList();
    }
}
