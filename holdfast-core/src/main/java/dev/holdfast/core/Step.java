package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Binding;
import dev.holdfast.DeliveryId;
import dev.holdfast.FeedEnd;
import dev.holdfast.Knowledge;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One decision: takes an input, then advances until nothing more follows. The rules for the agent's process are here; those
 * for turns, mail and readers in the layers below.
 */
final class Step extends Feeds {
    /** What a harness notices when a result came that is of something the agent began by itself. */
    private static final String OF_OTHERS = "agent_started_turn";

    private static final String NO_RESULT = "no result: the agent took the message and rests without a result";

    Step(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        super(limits, fold, durable, live, now);
    }

    // ---- inputs ---------------------------------------------------------------------------------------------------

    void take(Input input) {
        switch (input) {
            case Input.Awake e -> awake(e);
            case Input.Arrived e -> arrived(e);
            case Input.Tick ignored -> {} // advance looks at every deadline
            case Input.Leaving ignored -> {
                live.leaving = true;
                endFeed(FeedEnd.ENDED, "the host stops");
            }
            case Input.Reported e -> {
                if (current(e.epoch(), e.incarnation(), e.report().getClass().getSimpleName())) {
                    reported(e.report());
                }
            }
            case Input.CallAsked e -> {
                if (current(e.epoch(), e.incarnation(), "CallAsked")) {
                    callAsked(e);
                }
            }
            case Input.CallJudged e -> {
                if (current(e.epoch(), e.incarnation(), "CallJudged")) {
                    callJudged(e);
                }
            }
            case Input.CallHeldBack e -> {
                if (current(e.epoch(), e.incarnation(), "CallHeldBack")) {
                    callHeldBack(e);
                }
            }
            case Input.CallFinished e -> {
                if (current(e.epoch(), e.incarnation(), "CallFinished")) {
                    callFinished(e);
                }
            }
            case Input.ToolUsed e -> {
                if (current(e.epoch(), e.incarnation(), "ToolUsed")) {
                    toolUsed(e);
                }
            }
            case Input.Judged e -> {
                if (current(e.epoch(), e.incarnation(), "Judged")) {
                    judged(e);
                }
            }
            case Input.InternalAsked e -> {
                live.asked++;
                if (live.stage == AgentStage.READY && durable.gives()) {
                    live.internal = plus(live.internal, e.id());
                }
            }
            case Input.InternalWithdrawn e ->
                live.internal =
                        live.internal.stream().filter(id -> !id.equals(e.id())).toList();
            case Input.QuestionRaised e -> ask(e);
            case Input.FeedWanted e -> openFeed(e);
            case Input.TakeWanted e -> want(e);
            case Input.TakeWithdrawn e -> wantNoMore(e);
            case Input.ReadSettled e -> settled(e);
            case Input.ReadReturned e -> returned(e);
            case Input.FeedOver e -> over(e);
            case Input.RestoreWanted e -> restore(e);
            case Input.Slot e -> {
                if (current(e.epoch(), e.incarnation(), "Slot")) {
                    slot(e.answer());
                }
            }
        }
    }

    /** The one place where reports of an older incarnation are dropped (MB-03, O2). */
    private boolean current(long epoch, long incarnation, String what) {
        if (epoch == live.epoch && incarnation == durable.incarnation() && live.stage != AgentStage.DOWN) {
            return true;
        }
        note(new Event.Noticed("late_report", what + " of epoch " + epoch + ", incarnation " + incarnation));
        return false;
    }

    private void awake(Input.Awake input) {
        live.epoch = input.epoch();
        live.awakeAt = now;
        live.settings = input.settings();
        waking = true;
        if (durable.seed().isEmpty()) {
            emit(new Event.SessionOpened(input.seed(), input.harness(), now));
        }
        if (live.settings.agent() && !durable.harness().equals(input.harness())) {
            emit(new Event.HarnessSwapped(durable.harness(), input.harness()));
        }
        endFeed(FeedEnd.CRASHED, "the host of its reader is gone");
        if (durable.up()) {
            callsLost();
            emit(new Event.IncarnationEnded(
                    durable.incarnation(), Event.EndCause.HOST_LOST, "the host that held it is gone", false, ""));
            turnAfterDeath();
        }
    }

    // ---- reports --------------------------------------------------------------------------------------------------

    private void reported(Report report) {
        switch (report) {
            case Report.Known e -> {
                if (live.stage == AgentStage.ASKING) {
                    move(AgentStage.Trigger.KNOWN);
                    live.wear = new Live.Wear(Optional.of(now), 0, 0);
                    known(e.knowledge());
                }
            }
            case Report.Started e -> note(new Event.IncarnationStarted(durable.incarnation(), e.pid()));
            case Report.Verified e -> verified(e);
            case Report.Mismatch e ->
                note(new Event.Noticed("tools_mismatch", "missing " + e.missing() + ", not bound " + e.surplus()));
            case Report.Landed e -> landed(e.id());
            case Report.Busy ignored -> live.busy = true;
            case Report.Memory e -> live.wear = new Live.Wear(live.wear.since(), live.wear.turns(), e.bytes());
            case Report.Idle ignored -> rested();
            case Report.Result e -> result(e.result());
            case Report.Text ignored -> {}
            case Report.Doing ignored -> {}
            case Report.CallRequested e ->
                throw new IllegalStateException("call " + e.callId() + " must come as CallAsked");
            case Report.PermissionAsked e ->
                throw new IllegalStateException("call " + e.callId() + " must come as CallAsked");
            case Report.ToolUsed e ->
                throw new IllegalStateException("the use of " + e.tool() + " must come as ToolUsed");
            case Report.CallWithdrawn e -> callWithdrawn(e);
            case Report.InterruptAnswered ignored -> {
                if (live.interrupt == Live.InterruptWindow.WRITTEN) {
                    live.interrupt = Live.InterruptWindow.ANSWERED;
                    closeInterruptWindow();
                }
            }
            case Report.Breached e -> breached(e.what());
            case Report.Noticed e -> noticed(e);
            case Report.Ended e -> ended(e);
        }
    }

    private void rested() {
        boolean ended = live.awaitIdle || live.ofOthers; // this rest belongs to that
        live.busy = false;
        live.awaitIdle = false;
        live.ofOthers = false;
        live.idleSince = Optional.of(now);
        closeInterruptWindow();
        boolean silent = live.stage == AgentStage.READY
                && durable.turn()
                        .filter(t -> t.stage() != TurnStage.ENDING
                                && live.landed.contains(t.current().id()))
                        .isPresent();
        if (silent && !ended) { // it has the line and works on nothing: a result never comes
            settleWithoutResult(Outcome.FAILED, NO_RESULT);
        }
    }

    private void verified(Report.Verified e) {
        if (live.stage != AgentStage.STARTING) {
            return;
        }
        move(AgentStage.Trigger.VERIFIED);
        var plan = live.plan.orElseThrow();
        live.idleSince = Optional.of(now);
        emit(new Event.IncarnationVerified(
                durable.incarnation(), e.version(), e.nativeSession(), plan.resume(), plan.covers()));
    }

    private void landed(DeliveryId id) {
        live.landed.add(id);
        durable.turn().filter(t -> t.has(id)).ifPresent(t -> live.busy = true); // until it says idle
        durable.turn().filter(t -> t.original().id().equals(id)).ifPresent(t -> live.toldThrough = t.number());
        if (live.told.filter(id::equals).isPresent()) {
            live.told = Optional.empty();
        }
        durable.turn()
                .flatMap(Turn::openSteer)
                .filter(s -> s.id().equals(id))
                .ifPresent(s -> emit(
                        new Event.SteerLanded(durable.lastTurn(), s.messages().getFirst(), id)));
    }

    private void noticed(Report.Noticed e) {
        note(new Event.Noticed(e.what(), e.detail()));
        live.ofOthers |= e.what().equals(OF_OTHERS);
        if (e.what().equals("deduplicated")) {
            durable.turn()
                    .filter(t -> t.stage() != TurnStage.ENDING
                            && t.current().id().toString().equals(e.detail()))
                    .ifPresent(t -> {
                        landed(t.current().id());
                        continueTurn("the agent had the line already", List.of(), List.of());
                    });
        }
    }

    private void breached(String what) {
        if (what.equals("interrupt")) {
            stop(StopMode.BUSY);
        } else if (live.stage != AgentStage.READY) {
            note(new Event.Noticed("deadline", what)); // its end follows; a start that landed nothing costs no message
        } else if (!written()) {
            note(new Event.Noticed("deadline", what + ", outside of any turn of ours"));
            stop(StopMode.BUSY); // no turn of ours is at fault; an open one is told to the next incarnation
        } else if (durable.turn().filter(t -> t.stage() != TurnStage.ENDING).isPresent()) {
            endForDeadline(what);
        } else {
            note(new Event.Noticed("deadline", what));
        }
    }

    /** Whether the line that settles the open turn was written to this process. */
    private boolean written() {
        return durable.turn()
                .map(t -> t.current().id())
                .filter(id ->
                        live.landed.contains(id) || live.told.filter(id::equals).isPresent())
                .isPresent();
    }

    private void closeInterruptWindow() {
        if (live.interrupt != Live.InterruptWindow.ANSWERED || live.busy || live.awaitIdle) {
            return;
        }
        live.interrupt = Live.InterruptWindow.CLOSED;
        live.endBy = Optional.empty();
        if (durable.turnStage() == TurnStage.ENDING) {
            settleWithoutResult(endOutcome(), durable.turn().orElseThrow().ending());
        }
    }

    /** TN-08: what the agent has decides how it is started and what is told. */
    private void known(Knowledge k) {
        var turn = durable.turn();
        long settled = durable.lastSettled();
        boolean openThere = !k.present().isEmpty();
        boolean nothingOfOurs = settled > durable.forgotten()
                && k.coversTurn() == 0
                && k.askedNext().isEmpty()
                && !openThere;
        boolean resume = k.record() == Knowledge.RecordState.PRESENT
                && durable.nativeSession().isPresent()
                && !(openThere && holed(k))
                && !nothingOfOurs;
        if (!resume) {
            var why = durable.nativeSession().isEmpty()
                    ? "the first"
                    : switch (k.record()) {
                        case MISSING -> "the agent has no record of the old one";
                        case DAMAGED -> "the agent's record of the old one is damaged";
                        case PRESENT -> "the agent's record of the old one lacks settled turns";
                    };
            emit(new Event.NativeSessionReplaced(DeliveryIds.nativeSession(durable.seed(), durable.ids()), why));
        }
        // Turns without a mark were told in front of the open turn's line, so they are there when it is.
        long covers = Math.max(durable.forgotten(), !resume ? 0 : openThere ? settled : k.coversTurn());
        live.landed = new HashSet<>(resume ? k.present() : List.of());
        turn.ifPresent(t -> reconcileTold(resume ? k : Knowledge.nothing()));
        Optional<Effect.CatchUp> catchUp = Optional.empty();
        if (covers < settled) {
            var id = nextId();
            var known = resume ? k.askedNext() : List.<String>of();
            long from = known.isEmpty() ? covers + 1 : nextMark(covers).orElse(covers + 1);
            emit(new Event.CatchUpPlanned(durable.incarnation(), id, from, settled, known));
            catchUp = Optional.of(new Effect.CatchUp(id, from, settled, known));
        }
        // A turn's words are told once its first line is there, whatever still has to be asked.
        boolean wordsThere = durable.turn()
                .filter(t -> !live.landed.contains(t.original().id()))
                .isEmpty();
        live.toldThrough = wordsThere ? durable.lastTurn() : settled;
        live.plan = Optional.of(new Live.Plan(durable.nativeSession().orElseThrow(), resume, covers, catchUp));
    }

    /** A line of the open turn is there, and something that was told before it is not. */
    private boolean holed(Knowledge k) {
        boolean turnLost = durable.turn()
                .filter(t -> !k.present().contains(t.original().id()))
                .isPresent();
        return turnLost || nextMark(k.coversTurn()).isPresent();
    }

    /** The first turn after {@code turn} that had a line or a catch-up of its own in the agent's session. */
    private OptionalLong nextMark(long turn) {
        return durable.marks().stream()
                .mapToLong(TurnMark::turn)
                .filter(n -> n > turn)
                .min();
    }

    /** Brings the open turn's lines in step with what is in the agent's record. */
    private void reconcileTold(Knowledge k) {
        var turn = durable.turn().orElseThrow();
        for (Told steer : turn.told()) {
            if (steer.kind() == Told.Kind.STEER) {
                boolean has = k.present().contains(steer.id());
                var message = steer.messages().getFirst();
                if (has && !steer.landed()) {
                    emit(new Event.SteerLanded(turn.number(), message, steer.id()));
                } else if (!has) {
                    emit(new Event.SteerReturned(turn.number(), message, steer.id()));
                }
            }
        }
        turn = durable.turn().orElseThrow();
        if (!k.present().contains(turn.original().id())) {
            boolean begun = turn.told().size() > 1 || !turn.calls().isEmpty();
            if (begun || turn.hostDeaths() + turn.agentDeaths() > 0) {
                emit(new Event.TurnReturned(turn.number(), "the agent does not have it", now.plus(limits.turn())));
            }
            return;
        }
        switch (k.tail()) {
            case Knowledge.Tail.Answered a -> settle(a.result(), Event.Evidence.RECORD);
            case Knowledge.Tail.Open o -> {
                if (k.present().contains(turn.current().id())) {
                    var unended = new ArrayList<>(o.begun());
                    unended.removeAll(o.ended());
                    continueTurn("the agent was cut off in this turn", unended, o.ended());
                }
            }
            case Knowledge.Tail.None ignored ->
                continueTurn("the agent was cut off in this turn", List.of(), List.of());
        }
    }

    /** @param ended calls whose answer the agent's record has, so that it need not be told of them (TL-07) */
    private void continueTurn(String why, List<String> unended, List<String> ended) {
        var turn = durable.turn().orElseThrow();
        var asked = durable.approvals().stream()
                .filter(a -> a.call().turn() == turn.number() && a.state() != Approval.State.USED)
                .toList();
        var mayHaveHappened = new ArrayList<>(unended);
        mayHaveHappened.removeAll(notBegun(durable));
        emit(new Event.ContinuationOpened(
                turn.number(),
                nextId(),
                why,
                turn.calls().stream()
                        .filter(c -> c.ended() || !ended.contains(c.callId()))
                        .toList(),
                mayHaveHappened,
                asked,
                now.plus(limits.turn())));
        live.callOrdinals.clear();
        turn.calls().stream()
                .filter(c -> c.ended() || ended.contains(c.callId()))
                .forEach(c -> nth(c.tool(), c.inputDigest()));
    }

    private void ended(Report.Ended e) {
        boolean wasStopping = live.stage == AgentStage.STOPPING;
        boolean ready = live.stage == AgentStage.READY;
        boolean begun =
                durable.turn().map(t -> t.current().id()).filter(this::begun).isPresent();
        boolean open = durable.turn().isPresent();
        boolean shut = durable.phase() == Phase.CLOSED && !open;
        var cause = wasStopping
                ? live.stopCause.orElse(shut ? Event.EndCause.CLOSED : Event.EndCause.STOPPED)
                : ready ? Event.EndCause.CRASHED : Event.EndCause.START_FAILED;
        move(AgentStage.Trigger.ENDED);
        callsLost();
        live.incarnationOver();
        emit(new Event.IncarnationEnded(durable.incarnation(), cause, e.why(), begun && !wasStopping, e.stderrTail()));
        turnAfterDeath();
        if (!e.fatal().isEmpty()) {
            park(e.fatal() + ": " + e.why());
        } else if (durable.turn().isPresent() && SessionCore.mayStart(durable) && !wasStopping) {
            scheduleRestart(e.why());
        }
    }

    /** MB-20: some agents say only with their first words that a line has landed, and work on it before. */
    private boolean begun(DeliveryId line) {
        return live.landed.contains(line)
                || (live.busy && live.told.filter(line::equals).isPresent());
    }

    /** After the end of an incarnation: a turn that was to be ended is over, a poisonous one is set aside (MB-20). */
    private void turnAfterDeath() {
        if (durable.turn().isEmpty()) {
            return;
        }
        var turn = durable.turn().get();
        if (turn.stage() == TurnStage.ENDING) {
            settleWithoutResult(endOutcome(), turn.ending());
        } else if (turn.original().kind() == Told.Kind.INTERNAL) {
            settleWithoutResult(Outcome.CANCELLED, "the process it was for is gone"); // never inherited (MB-16)
        } else if (turn.agentDeaths() >= limits.agentDeaths()) {
            settleWithoutResult(
                    Outcome.DEAD_LETTER, "the agent died " + turn.agentDeaths() + " times in this message's turn");
        } else if (turn.hostDeaths() >= limits.hostDeaths()) {
            settleWithoutResult(
                    Outcome.DEAD_LETTER, "the host died " + turn.hostDeaths() + " times in this message's turn");
        }
    }

    private void scheduleRestart(String why) {
        int failures = durable.failures();
        if (failures == 0) {
            return;
        }
        if (failures > limits.restartDelays().size()) {
            park("the agent ended " + failures + " times in a row without an answer; last: " + why);
            return;
        }
        var at = now.plus(limits.restartDelays().get(failures - 1));
        emit(new Event.RestartScheduled(at, failures, why));
    }

    // ---- turns ----------------------------------------------------------------------------------------------------

    /** TN-15: the first result after the landing settles; with nothing landed the agent ran a turn of its own. */
    private void result(TurnResult r) {
        var turn = durable.turn();
        boolean ours = turn.filter(t -> live.landed.contains(t.current().id()))
                .filter(t -> r.lines().isEmpty() || r.lines().stream().anyMatch(t::has))
                .isPresent();
        live.busy = false;
        live.awaitIdle = true;
        live.wear = new Live.Wear(live.wear.since(), live.wear.turns() + 1, live.wear.memory());
        if (!ours) {
            emit(new Event.AgentTurnSeen(r.text(), r.usage(), r.requestId()));
            return;
        }
        settle(r, Event.Evidence.RESULT);
        if (r.fatal()) {
            park(r.reason());
        }
    }

    private void slot(Input.SlotAnswer answer) {
        switch (answer) {
            case GRANTED -> {
                if (live.stage == AgentStage.PLANNED) {
                    move(AgentStage.Trigger.SLOT_GRANTED);
                }
            }
            case DENIED -> {
                note(new Event.Noticed("no_slot", "every process is busy; still waiting for a place"));
                if (live.stage == AgentStage.PLANNED
                        && durable.questions().isEmpty()
                        && durable.turn().filter(t -> now.isAfter(t.deadline())).isPresent()) {
                    settleWithoutResult(Outcome.FAILED, "deadline passed: no process slot became free");
                }
            }
            case PLEASE_FREE -> live.freeSlot = true;
        }
    }

    // ---- advance --------------------------------------------------------------------------------------------------

    /** What follows by itself, from the state and the time alone. */
    void advance() {
        deadlines();
        next();
        interrupt();
    }

    /** Gives out what is next, or ends a session with which nothing more is to happen. */
    private void next() {
        openNext();
        serve();
        closeWhatIsOver();
        serve(); // a reader that still waits learns of a close
        wish();
        tell();
    }

    private void deadlines() {
        boolean runs = live.stage == AgentStage.STARTING || live.stage == AgentStage.READY;
        if (runs
                && durable.questions().isEmpty()
                && durable.turn()
                        .filter(t -> t.stage() != TurnStage.ENDING && !now.isBefore(t.deadline()))
                        .isPresent()) {
            if (live.stage == AgentStage.READY && !written()) {
                stop(StopMode.BUSY); // it never came to rest, and would take no later line either
            }
            endForDeadline("turn");
        }
        if (live.endBy.filter(by -> !now.isBefore(by)).isPresent()) {
            stop(StopMode.BUSY);
        }
        questionDeadlines();
        drained();
        idleTooLong();
        recycle();
    }

    /**
     * HS-14: between turns only, which is also when the next one is open and nothing of it was written. What the host asked
     * of this very process goes first.
     */
    private void recycle() {
        var why = wornOut();
        boolean begun = durable.turn()
                .filter(t -> t.stage() == TurnStage.ENDING
                        || t.original().kind() == Told.Kind.INTERNAL
                        || t.told().stream().anyMatch(line -> live.landed.contains(line.id())))
                .isPresent();
        if (!why.isEmpty()
                && live.stage == AgentStage.READY
                && rests()
                && !begun
                && live.told.isEmpty()
                && live.internal.isEmpty()) {
            note(new Event.Noticed("recycled", why));
            stopIdle(Event.EndCause.RECYCLED);
        }
    }

    /** The limit that the process has reached; empty for none. One that is too big before its first turn would be so again. */
    private String wornOut() {
        var most = limits.recycling();
        var wear = live.wear;
        if (wear.turns() >= most.turns()) {
            return wear.turns() + " turns";
        }
        if (wear.turns() > 0 && wear.memory() >= most.memoryBytes()) {
            return wear.memory() + " bytes of memory";
        }
        return wear.since().filter(at -> !now.isBefore(at.plus(most.age()))).isPresent()
                ? "it is older than " + most.age()
                : "";
    }

    /** MB-09: a drain ends with the turn that was open, at its deadline at the latest; the process ends at rest. */
    private void drained() {
        if (durable.phase() != Phase.DRAINING) {
            return;
        }
        closeFeed(FeedEnd.DRAINED);
        boolean late = durable.drainBy().filter(by -> !now.isBefore(by)).isPresent();
        if (durable.turn().isEmpty() && durable.reading().inHand().isEmpty()) {
            change(Phase.Trigger.DRAINED, drained(Core.DRAIN + "ed"));
        } else if (late) {
            var what = durable.turn()
                    .map(t -> "turn " + t.number() + " open")
                    .orElse(durable.reading().inHand().size() + " messages in flight");
            change(Phase.Trigger.DRAINED, drained(Core.DRAIN + " deadline passed with " + what));
            stop(StopMode.BUSY, Event.EndCause.DRAINED);
        }
    }

    /** Somebody's pause stays one: only who paused a session resumes it (MB-08). */
    private String drained(String why) {
        var reason = durable.phaseReason();
        return reason.startsWith(PAUSED) ? reason.substring(PAUSED.length()) : why;
    }

    /** HS-04, MB-11: between turns only, and only when nothing is next. */
    private void idleTooLong() {
        if (live.idleSince.isEmpty() || !SessionCore.atRest(durable, live.build())) {
            return;
        }
        boolean late =
                !live.settings.stayOpen() && !now.isBefore(live.idleSince.get().plus(limits.idle()));
        if ((live.freeSlot || late) && (messages().findFirst().isEmpty() || !durable.gives())) {
            stopIdle(live.freeSlot ? Event.EndCause.EVICTED : Event.EndCause.IDLE);
        }
    }

    private void judged(Input.Judged e) {
        if (!live.judging.equals(OptionalLong.of(e.number()))) {
            return;
        }
        live.judging = OptionalLong.empty();
        if (e.rejected()) {
            stopIdle(Event.EndCause.BOUNDARY);
        } else {
            live.judged = OptionalLong.of(e.number());
        }
    }

    private static List<DeliveryId> plus(List<DeliveryId> ids, DeliveryId id) {
        var all = new ArrayList<>(ids);
        all.add(id);
        return List.copyOf(all);
    }

    /** REQUIRED with a turn open, WELCOME without, FORBIDDEN when the session may not run (HS-23). */
    private void wish() {
        boolean required = durable.turn().isPresent() && SessionCore.mayStart(durable) && !live.leaving;
        boolean over = durable.turnStage() == TurnStage.ENDING;
        boolean delayed = durable.restartAt().filter(now::isBefore).isPresent();
        if (live.stage == AgentStage.PLANNED && !required) {
            abandon();
        } else if (durable.phase().forbidsProcesses() || live.leaving) {
            stop(durable.turn().isPresent() || live.busy ? StopMode.BUSY : StopMode.IDLE);
        } else if (durable.phase() == Phase.PAUSED && durable.turn().isEmpty() && rests()) {
            boolean drained = durable.phaseReason().startsWith(Core.DRAIN);
            stopIdle(drained ? Event.EndCause.DRAINED : Event.EndCause.PAUSED);
        } else if (live.stage == AgentStage.DOWN && required && !delayed) {
            if (over) {
                settleWithoutResult(endOutcome(), durable.turn().orElseThrow().ending());
                next();
            } else if (live.settings.agent()) {
                move(AgentStage.Trigger.PLAN);
                bind();
                emit(new Event.IncarnationPlanned(durable.incarnation() + 1));
            }
        }
    }

    /** HS-03: with no process there, the next simply has this owner's agent; another than before is an event. */
    private void bind() {
        var now = live.settings.binding();
        var before = durable.binding();
        if (!now.isEmpty() && !now.equals(before)) {
            emit(new Event.AgentBound(now, before.isEmpty() ? List.of() : Binding.changes(before, now)));
        }
    }

    /** TN-13: at most one line the agent has not acknowledged. TN-14: none inside an interrupt window. */
    private void tell() {
        if (live.stage != AgentStage.READY
                || durable.turn().isEmpty()
                || live.told.isPresent()
                || live.awaitIdle
                || live.interrupt != Live.InterruptWindow.CLOSED) {
            return;
        }
        var turn = durable.turn().get();
        if (turn.stage() == TurnStage.ENDING) {
            return;
        }
        if (!live.landed.contains(turn.current().id())) {
            say(turn.current().id());
            return;
        }
        turn.openSteer().ifPresentOrElse(s -> say(s.id()), () -> steerNext(turn));
    }

    private void steerNext(Turn turn) {
        if (turn.original().kind() == Told.Kind.INTERNAL) {
            return; // mail would end with a request that is nobody's (MB-16)
        }
        var next = apart().filter(h -> h.kind() == ArrivalKind.STEER).findFirst();
        next.filter(h -> durable.gives()).ifPresent(h -> {
            var id = nextId();
            emit(new Event.SteerPlanned(turn.number(), h.taken(), id));
            say(id);
        });
    }

    private void say(DeliveryId id) {
        live.spoken = true;
        live.told = Optional.of(id);
        live.idleSince = Optional.empty();
    }

    /** Ends a turn that is to be ended: without a word when nothing was written, by interrupt once its line has landed. */
    private void interrupt() {
        if (durable.turnStage() != TurnStage.ENDING || live.stage == AgentStage.STOPPING) {
            return;
        }
        var turn = durable.turn().orElseThrow();
        boolean landed = live.landed.contains(turn.current().id());
        boolean written = live.told.filter(turn.current().id()::equals).isPresent();
        if (!landed && !written) {
            settleWithoutResult(endOutcome(), turn.ending());
            next();
        } else if (landed && live.told.isPresent()) {
            stop(StopMode.BUSY); // another line is unacknowledged: an interrupt could hit its turn (TN-14)
        } else if (landed && live.interrupt == Live.InterruptWindow.CLOSED && !live.awaitIdle) {
            live.interrupt = Live.InterruptWindow.WRITTEN;
        }
    }
}
