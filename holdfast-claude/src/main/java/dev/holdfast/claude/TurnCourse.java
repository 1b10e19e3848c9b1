package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SteerAnswer;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The course of a session's turns on its process: the one that runs, from its line to its end, and what the agent still
 * does between it and the next one. A part of its {@link HeldSession}, which calls it from within its steps; only
 * {@link #interrupt} and {@link #steer} are for any thread.
 */
final class TurnCourse {
    private final HeldSession session;
    private final HeldOptions options;
    private final Mouth mouth;
    private @Nullable TurnRun run;
    private volatile Optional<PermissionAsk> asker;
    private long turns;

    /** A turn was settled and the agent has not said that it rests. */
    private boolean settling;

    /** An interrupt was written and not answered: it could still hit what is told next (TN-14). */
    private boolean interrupting;

    /** How long a turn that waits for that goes on waiting; any sign of life prolongs it. */
    private OptionalLong restDue = OptionalLong.empty();

    /** When the agent has worked too long on what is no turn of ours. */
    private OptionalLong strangeDue = OptionalLong.empty();

    TurnCourse(HeldSession session, HeldOptions options, Mouth mouth) {
        this.session = session;
        this.options = options;
        this.asker = options.permissions();
        this.mouth = mouth;
    }

    // ---- what the session asks

    /** The turn that runs; null for none. */
    @Nullable
    TurnRun run() {
        return run;
    }

    /** Whether another turn may be told: none runs, and the agent rests. */
    boolean free(HeldProcess live) {
        return run == null && !settling && !interrupting && !live.busy;
    }

    /** Turns are numbered from here on. */
    void from(long answered) {
        turns = Math.max(turns, answered);
    }

    /** Somebody waits for the agent to rest after a turn. */
    void awaitRest(HeldProcess live) {
        if (settling && restDue.isEmpty()) {
            restDue = OptionalLong.of(session.now() + patience(live));
        }
    }

    void interruptAnswered() {
        interrupting = false;
    }

    boolean awaitsRest() {
        return restDue.isPresent();
    }

    void signOfLife(HeldProcess from) {
        if (restDue.isPresent()) {
            restDue = OptionalLong.of(session.now() + patience(from));
        }
    }

    /** The process is being ended: nothing is waited for any more. */
    void forgetTimes() {
        settling = false;
        interrupting = false;
        restDue = OptionalLong.empty();
        strangeDue = OptionalLong.empty();
    }

    OptionalLong dueNanos() {
        OptionalLong due = Alarm.nearer(restDue, strangeDue);
        return run == null ? due : Alarm.nearer(due, run.dueNanos());
    }

    void sound(long now) {
        if (run != null) {
            run.answerLateSteers(now);
            if (run.interruptWaits() && session.live()) {
                interruptOrWait(run);
            }
            if (run.overdue(now)) {
                breached("turn");
            } else if (run.interruptOverdue(now)) {
                interruptFailed(run);
            }
        }
        if (session.live() && (Alarm.passed(restDue, now) || Alarm.passed(strangeDue, now))) {
            say(new HeldEvent.Noticed("no_rest", "the agent does not come to rest; its process is replaced"));
            session.stop(StopMode.BUSY);
        }
    }

    /** The session is being closed: its turn is settled at once, and ended then. False when there is none. */
    boolean close() {
        TurnRun running = run;
        if (running == null) {
            return false;
        }
        fail(running, session.closed());
        end(running, TurnRun.Stopping.CLOSED);
        return true;
    }

    /** Fails the running turn at once. */
    void fail(HeldFailure why) {
        if (run != null) {
            run.turn().fail(why);
            run.failSteers(why);
        }
    }

    /** The process is gone; answers whether a turn of ours was cut, by nobody here. */
    boolean cut(Report.Ended ended) {
        TurnRun cut = run;
        run = null;
        forgetTimes();
        if (cut == null) {
            return false;
        }
        cut.turn().over();
        cut.failReceipts("the agent is gone");
        boolean crashed = cut.stopping() == TurnRun.Stopping.NO;
        settleWithout(
                cut, new HeldFailure.DiedInTurn(session.named(), ended.why(), cut.hasLanded(), ended.stderrTail()));
        return crashed;
    }

    Optional<HeldListener> listener() {
        return run == null ? Optional.empty() : run.request().listener();
    }

    private void say(HeldEvent event) {
        mouth.say(event, listener());
    }

    // ---- callers

    CompletableFuture<InterruptReceipt> interrupt(HeldTurn turn) {
        var receipt = new CompletableFuture<InterruptReceipt>();
        session.enter(() -> {
            if (run == null || run.turn() != turn) {
                receipt.completeExceptionally(new HeldFailure.ControlFailed("the turn does not run"));
                return;
            }
            run.wantsReceipt(receipt);
            if (!end(run, TurnRun.Stopping.CANCELLED)) {
                run.failReceipts("the turn is being interrupted already");
            }
        });
        return receipt;
    }

    void steer(HeldTurn turn, Steer steer) {
        session.enter(() -> {
            if (run == null || run.turn() != turn || run.stopping() != TurnRun.Stopping.NO) {
                steer.refuse(new HeldFailure.ControlFailed("the turn does not run any more; nothing was said"));
                return;
            }
            run.steer(steer, session.now());
            tellSteer(run);
        });
    }

    private void tellSteer(TurnRun into) {
        Steer next = into.nextSteer();
        if (next != null) {
            DeliveryId id = session.newId();
            next.told(id);
            session.current().attachment().tell(new Line(id, next.texts(), next.note(), true));
        }
    }

    // ---- the turn

    /** @param origin the steering message that this turn is for, when it was written already */
    void begin(HeldTurn turn, DeliveryId id, @Nullable Steer origin) {
        turns++;
        settling = false;
        restDue = OptionalLong.empty();
        strangeDue = OptionalLong.empty();
        long deadline = turn.request().deadline().orElse(options.turn()).toNanos();
        run = new TurnRun(turn, id, turns, session.now(), deadline, origin);
        HeldProcess on = session.current();
        on.turns++;
        on.hooks(turn.bound());
        asker = turn.request().permissions().or(options::permissions);
        session.attend();
        if (origin == null) {
            on.attachment()
                    .tell(new Line(id, turn.request().texts(), turn.request().note(), false));
        }
    }

    void landed(DeliveryId line) {
        if (run != null && run.land(line)) {
            say(new HeldEvent.Landed(line));
            tellSteer(run);
            if (run.interruptWaits() && session.live()) {
                interruptOrWait(run);
            }
        }
    }

    void worksNow(HeldProcess from) {
        from.busy = true;
        if (run == null) {
            strangeDue = OptionalLong.of(session.now() + options.turn().toNanos());
        }
    }

    void called(HeldProcess from, Report.CallRequested call) {
        from.log().reached(call.callId());
        say(new HeldEvent.ToolCalled(call.callId(), call.tool(), call.input()));
        TurnRun running = run != null && run.stopping() == TurnRun.Stopping.NO ? run : null;
        from.desk().call(call, running, session.named(), answered -> session.enter(() -> say(answered)));
    }

    /** Who decides about tools now; for any thread. */
    Optional<PermissionAsk> asker() {
        return asker;
    }

    /** Code of users was asked, or has answered. */
    void told(HeldEvent event) {
        if (run != null && event instanceof HeldEvent.PermissionAsked) {
            run.asked(session.now());
        } else if (run != null && event instanceof HeldEvent.PermissionAnswered) {
            run.answered(session.now());
        }
        say(event);
    }

    void noticed(HeldProcess from, Report.Noticed notice) {
        if (notice.what().equals("agent_started_turn")) {
            var nobody = new TurnResult(
                    TurnResult.Ending.ANSWERED, notice.detail(), "", Usage.unknown(), List.of(), "", "", false);
            say(new HeldEvent.AgentTurn(from.log().take(nobody, Optional.empty(), Duration.ZERO)));
        } else if (!FrameEvents.repeats(notice.what())) {
            say(new HeldEvent.Noticed(notice.what(), notice.detail()));
        }
    }

    void result(HeldProcess from, TurnResult told) {
        TurnRun ended = run;
        if (ended == null || !ended.owns(told.lines())) {
            say(new HeldEvent.AgentTurn(from.log().take(told, Optional.empty(), Duration.ZERO)));
            return;
        }
        var result = from.log().take(told, Optional.of(ended.id()), Duration.ofNanos(session.now() - ended.begunAt()));
        if (result.ending() == HeldResult.Ending.ANSWERED && !told.answerId().isEmpty()) {
            session.starts().answered(new TurnMark(ended.number(), ended.landed(), told.answerId()));
        }
        session.settled();
        over(from, ended);
        if (ended.stopping() == TurnRun.Stopping.BREACHED && result.ending() == HeldResult.Ending.CANCELLED) {
            fail(ended, new HeldFailure.TimedOut(session.named(), ended.breach()));
        } else {
            mouth.then(() -> ended.turn().complete(result), ended.request().listener());
            ended.settleSteers(result);
            if (result.fatal()) {
                session.park(result.failure());
                session.stop(StopMode.IDLE);
            }
        }
        goOnWithSteers(ended, result.fatal());
    }

    /** The turn no longer runs; the agent is given a moment to say that it rests. */
    private void over(HeldProcess of, TurnRun ended) {
        of.desk().turnOver();
        ended.turn().over();
        ended.failReceipts("the turn ended first");
        run = null;
        asker = options.permissions();
        settling = true;
        strangeDue = OptionalLong.of(session.now() + options.turn().toNanos());
    }

    /** How long the agent may take for what it should do at once. */
    static long patience(HeldProcess of) {
        return of.bound().agent().deadlines().interrupt().toNanos();
    }

    /** What was said into the turn and did not land in it: the agent runs it next, or it is told then (TN-09). */
    private void goOnWithSteers(TurnRun ended, boolean fatal) {
        for (Steer steer : ended.unlanded().reversed()) {
            boolean wanted = ended.stopping() == TurnRun.Stopping.NO && !fatal;
            DeliveryId told = steer.told();
            if (!wanted) {
                steer.refuse(new HeldFailure.Cancelled(session.named(), told != null));
                if (told != null && session.live()) {
                    say(new HeldEvent.Recycled("a message was said into a turn that was cancelled"));
                    session.stop(StopMode.BUSY);
                }
                continue;
            }
            steer.answer().complete(SteerAnswer.QUEUED);
            var own = follow(ended, steer);
            if (told == null) {
                session.waitFirst(own);
            } else {
                begin(own, told, steer);
            }
            own.listen();
        }
    }

    private HeldTurn follow(TurnRun ended, Steer steer) {
        TurnRequest request = ended.request();
        var own = new TurnRequest(
                steer.texts(),
                steer.note(),
                request.cancel(),
                request.listener(),
                request.executor(),
                request.permissions(),
                request.deadline(),
                TurnRequest.IfBusy.QUEUE,
                request.onOtherBinding(),
                request.maxToolCalls());
        var turn = new HeldTurn(session, ended.turn().bound(), own, options.executor());
        turn.endsAlso(steer.result());
        return turn;
    }

    void idle(HeldProcess from) {
        from.busy = false;
        settling = false;
        restDue = OptionalLong.empty();
        strangeDue = OptionalLong.empty();
        TurnRun still = run;
        if (still == null) {
            return;
        }
        if (still.hasLanded()) {
            over(from, still);
            settling = false;
            settleWithout(still, new HeldFailure.NoResult(session.named()));
            if (still.stopping() != TurnRun.Stopping.NO) {
                session.stop(StopMode.IDLE);
            }
        } else if (still.stopping() != TurnRun.Stopping.NO) {
            session.stop(StopMode.BUSY); // it may still begin what it was told
        }
    }

    /** Interrupts the turn; what comes then, or does not, ends it. False when that was asked before. */
    boolean end(TurnRun running, TurnRun.Stopping why) {
        boolean first = running.stop(why);
        if (first && session.live()) {
            interruptOrWait(running);
        }
        return first;
    }

    /** No interrupt is written while a message that was said into the turn may still be acknowledged (TN-14). */
    private void interruptOrWait(TurnRun running) {
        OptionalLong acknowledged = running.acknowledgementDue(session.now());
        if (acknowledged.isPresent()) {
            running.interruptLater(acknowledged);
            return;
        }
        running.interruptNow(OptionalLong.of(session.now() + 2 * patience(session.current())));
        interrupting = true;
        session.current().attachment().interrupt(running.number());
    }

    /** A deadline passed in or between turns. */
    void breached(String what) {
        say(new HeldEvent.Breached(what));
        if (run == null) {
            if (session.live()) {
                session.stop(StopMode.BUSY);
            }
        } else if (what.equals("interrupt")) {
            interruptFailed(run);
        } else {
            run.breach(run.breach().isEmpty() ? what : run.breach());
            end(run, TurnRun.Stopping.BREACHED);
        }
    }

    private void interruptFailed(TurnRun running) {
        if (session.live()) {
            running.failReceipts("the agent did not answer in time");
            session.stop(StopMode.BUSY);
        }
    }

    private void settleWithout(TurnRun ended, HeldFailure otherwise) {
        switch (ended.stopping()) {
            case NO -> fail(ended, otherwise);
            case CANCELLED -> fail(ended, new HeldFailure.Cancelled(session.named(), true));
            case BREACHED -> fail(ended, new HeldFailure.TimedOut(session.named(), ended.breach()));
            case CLOSED -> fail(ended, session.closed());
        }
    }

    private void fail(TurnRun ended, HeldFailure why) {
        ended.failSteers(why);
        mouth.then(() -> ended.turn().fail(why), ended.request().listener());
    }
}
