package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * One decision: takes an input, then advances until nothing more follows. Emitting an event applies it at once to the
 * working state, so that later rules of the same decision see it. Used once, by one thread.
 *
 * <p>Longer than the house's bound on purpose: its rules share one working state and are read together; apart they would
 * hide from each other what a decision has done so far.
 */
final class Step {
    private final Limits limits;
    private final Fold fold;
    private final Instant now;
    private final List<Event> events = new ArrayList<>();
    private Durable durable;
    private final Live.Draft live;

    Step(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        this.limits = limits;
        this.fold = fold;
        this.durable = durable;
        this.live = live.draft();
        this.now = now;
    }

    Core.Decision decision() {
        boolean flush = !events.isEmpty() || live.stage == AgentStage.DOWN;
        if (flush && !live.notes.isEmpty()) {
            var all = new ArrayList<>(live.notes);
            all.addAll(events);
            live.notes = List.of();
            return new Core.Decision(all, live.build());
        }
        return new Core.Decision(events, live.build());
    }

    private void emit(Event event) {
        durable = fold.apply(durable, event);
        events.add(event);
    }

    /** For events that change no state: they ride with the next commit. */
    private void note(Event event) {
        var notes = new ArrayList<>(live.notes);
        notes.add(event);
        live.notes = notes;
    }

    private void move(AgentStage.Trigger trigger) {
        live.stage = AgentStage.TABLE.next(live.stage, trigger);
    }

    // ---- inputs ---------------------------------------------------------------------------------------------------

    void take(Input input) {
        switch (input) {
            case Input.Awake e -> awake(e);
            case Input.Arrived e -> arrived(e);
            case Input.Tick ignored -> {} // advance looks at every deadline
            case Input.Leaving ignored -> live.leaving = true;
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
            case Input.CallFinished e -> {
                if (current(e.epoch(), e.incarnation(), "CallFinished")) {
                    callFinished(e);
                }
            }
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
        if (durable.seed().isEmpty()) {
            emit(new Event.SessionOpened(input.seed(), input.harness()));
        }
        if (durable.up()) {
            emit(new Event.IncarnationEnded(
                    durable.incarnation(), Event.EndCause.HOST_LOST, "the host that held it is gone", false, ""));
            turnAfterDeath();
        }
    }

    private void arrived(Input.Arrived input) {
        var waiting = new TreeMap<>(live.waiting.tailMap(durable.takenThrough(), false));
        for (Header h : input.headers()) {
            if (!durable.named(h.number())) {
                waiting.put(h.number(), h);
            }
        }
        live.seenThrough = Math.max(live.seenThrough, input.through());
        live.waiting = waiting;
        for (Header h : List.copyOf(waiting.values())) {
            if (h.kind().urgent() && !durable.named(h.number())) {
                urgent(h);
            }
        }
        if (durable.phase() == Phase.CLOSED) {
            endWaiting();
        }
    }

    private void urgent(Header h) {
        switch (h.kind()) {
            case CANCEL -> cancel(h);
            case CLOSE -> close(h);
            case RESUME -> {
                emit(new Event.ArrivalDone(
                        h.number(), h.kind(), durable.phase() == Phase.PARKED ? "resumed" : "not parked"));
                if (durable.phase() == Phase.PARKED) {
                    emit(new Event.PhaseChanged(
                            Phase.Trigger.RESUME, "", durable.turn().map(t -> now.plus(limits.turn()))));
                }
            }
            case EVICT -> {
                boolean can = live.stage == AgentStage.READY && durable.turn().isEmpty() && !live.busy;
                emit(new Event.ArrivalDone(h.number(), h.kind(), can ? "evicting" : "nothing to evict"));
                live.freeSlot |= can; // a turn just over is followed by idle, and the end by that
            }
            case MESSAGE, STEER -> throw new IllegalStateException(h.kind() + " is not urgent");
        }
    }

    /** IN-06: a cancel names a turn or a message; unnamed, it binds to what stood when it was accepted. */
    private void cancel(Header h) {
        if (h.targetTurn().isPresent()) {
            long target = h.targetTurn().getAsLong();
            endTurnFor(h, durable.turn().filter(t -> t.number() == target).isPresent(), "turn " + target);
        } else if (h.targetMessage().isPresent()) {
            cancelMessage(h, h.targetMessage().getAsLong());
        } else if (h.boundTurn().isPresent()) {
            long target = h.boundTurn().getAsLong();
            endTurnFor(h, durable.turn().filter(t -> t.number() == target).isPresent(), "turn " + target);
        } else {
            cancelNext(h);
        }
    }

    /** The message next to run when the cancel was accepted: it may have begun since. */
    private void cancelNext(Header h) {
        long first = h.boundAfter() + 1; // not named when the cancel was accepted
        boolean openedSince = durable.turn()
                .filter(t -> t.original().messages().getFirst().number() == first
                        || (t.afterOrdinary() <= h.boundAfter() && durable.lastOrdinary() > h.boundAfter()))
                .isPresent();
        if (openedSince) {
            endTurnFor(h, true, "");
            return;
        }
        boolean takenSince = durable.named(first) && durable.lastOrdinary() > h.boundAfter();
        var next = (takenSince ? Optional.<Taken>empty() : nextMessage()).filter(m -> m.number() < h.number());
        if (next.isPresent()) {
            withdraw(h, next.get());
        } else if (takenSince || readThrough(h.number() - 1)) {
            done(h, "nothing was running or waiting");
        }
    }

    /** Urgent arrivals are read ahead (IN-05): one that is about a message waits until that message was read. */
    private boolean readThrough(long number) {
        return Math.max(live.seenThrough, durable.takenThrough()) >= number;
    }

    private void cancelMessage(Header h, long number) {
        boolean inTurn = durable.turn()
                .filter(t -> t.original().messages().stream().anyMatch(m -> m.number() == number))
                .isPresent();
        if (inTurn) {
            endTurnFor(h, true, "");
            return;
        }
        boolean steering = durable.turn()
                .flatMap(Turn::openSteer)
                .filter(s -> s.messages().getFirst().number() == number)
                .isPresent();
        var waits = Optional.ofNullable(live.waiting.get(number))
                .filter(w -> !steering && !w.kind().urgent() && !durable.named(number))
                .map(Header::taken)
                .or(() -> durable.front().stream()
                        .filter(m -> m.number() == number)
                        .findFirst());
        if (waits.isPresent()) {
            withdraw(h, waits.get());
        } else if (durable.named(number) || readThrough(Math.min(number, h.number() - 1))) {
            done(h, "message " + number + " is not waiting any more");
        }
    }

    private void withdraw(Header h, Taken message) {
        done(h, "message " + message.number() + " taken out of the queue");
        emit(new Event.MessageEnded(message, Outcome.CANCELLED, "cancelled before its turn"));
    }

    private void endTurnFor(Header h, boolean isOpen, String what) {
        if (!isOpen) {
            done(h, what + " is not open any more");
        } else if (durable.turnStage() == TurnStage.ENDING) {
            done(h, "the turn is being ended already");
        } else {
            endTurn(h.number(), "cancelled");
        }
    }

    private void done(Header h, String what) {
        emit(new Event.ArrivalDone(h.number(), h.kind(), what));
    }

    private void close(Header h) {
        if (durable.phase() == Phase.CLOSED) {
            done(h, "closed already");
            return;
        }
        done(h, "closing");
        emit(new Event.PhaseChanged(Phase.Trigger.CLOSE, h.note(), Optional.empty()));
        durable.turn().ifPresent(t -> settleWithoutResult(Outcome.CLOSED, h.note()));
        endWaiting();
    }

    private void endWaiting() {
        for (Taken m : durable.front()) {
            emit(new Event.MessageEnded(m, Outcome.CLOSED, durable.phaseReason()));
        }
        for (Header w : live.waiting.tailMap(durable.takenThrough(), false).values()) {
            if (!w.kind().urgent() && !durable.named(w.number())) {
                emit(new Event.MessageEnded(w.taken(), Outcome.CLOSED, durable.phaseReason()));
            }
        }
    }

    // ---- reports --------------------------------------------------------------------------------------------------

    private void reported(Report report) {
        switch (report) {
            case Report.Known e -> {
                if (live.stage == AgentStage.ASKING) {
                    move(AgentStage.Trigger.KNOWN);
                    known(e.knowledge());
                }
            }
            case Report.Started e -> note(new Event.IncarnationStarted(durable.incarnation(), e.pid()));
            case Report.Verified e -> verified(e);
            case Report.Mismatch e ->
                note(new Event.Noticed("tools_mismatch", "missing " + e.missing() + ", not bound " + e.surplus()));
            case Report.Landed e -> landed(e.id());
            case Report.Busy ignored -> live.busy = true;
            case Report.Idle ignored -> {
                live.busy = false;
                live.awaitIdle = false;
                live.idleSince = Optional.of(now);
                closeInterruptWindow();
            }
            case Report.Result e -> result(e.result());
            case Report.Text ignored -> {}
            case Report.CallRequested e ->
                throw new IllegalStateException("call " + e.callId() + " must come as CallAsked");
            case Report.CallWithdrawn e -> live.calls.remove(e.callId());
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
        if (e.what().equals("deduplicated")) {
            durable.turn()
                    .filter(t -> t.stage() != TurnStage.ENDING
                            && t.current().id().toString().equals(e.detail()))
                    .ifPresent(t -> {
                        landed(t.current().id());
                        continueTurn("the agent had the line already", List.of());
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
            endTurn(0, "deadline passed: " + what);
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
        boolean nothingOfOurs =
                settled > 0 && k.coversTurn() == 0 && k.askedNext().isEmpty() && !openThere;
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
        long covers = !resume ? 0 : openThere ? settled : k.coversTurn();
        live.landed = new HashSet<>(resume ? k.present() : List.of());
        turn.ifPresent(t -> reconcileTold(resume ? k : Knowledge.nothing()));
        Optional<Effect.CatchUp> catchUp = Optional.empty();
        if (covers < settled) {
            var id = DeliveryIds.of(durable.seed(), durable.ids());
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
                    continueTurn("the agent was cut off in this turn", unended);
                }
            }
            case Knowledge.Tail.None ignored -> continueTurn("the agent was cut off in this turn", List.of());
        }
    }

    private void continueTurn(String why, List<String> unended) {
        var turn = durable.turn().orElseThrow();
        emit(new Event.ContinuationOpened(
                turn.number(),
                DeliveryIds.of(durable.seed(), durable.ids()),
                why,
                turn.calls(),
                unended,
                now.plus(limits.turn())));
        live.callOrdinals.clear();
        turn.calls().stream().filter(OpenCall::ended).forEach(c -> nth(c.tool(), c.inputDigest()));
    }

    private void ended(Report.Ended e) {
        boolean wasStopping = live.stage == AgentStage.STOPPING;
        boolean ready = live.stage == AgentStage.READY;
        boolean landed = durable.turn()
                .filter(t -> live.landed.contains(t.current().id()))
                .isPresent();
        boolean open = durable.turn().isPresent();
        var cause = wasStopping
                ? (open ? Event.EndCause.STOPPED : Event.EndCause.EVICTED)
                : ready ? Event.EndCause.CRASHED : Event.EndCause.START_FAILED;
        move(AgentStage.Trigger.ENDED);
        live.incarnationOver();
        emit(new Event.IncarnationEnded(durable.incarnation(), cause, e.why(), landed && !wasStopping, e.stderrTail()));
        turnAfterDeath();
        if (!e.fatal().isEmpty()) {
            park(e.fatal() + ": " + e.why());
        } else if (durable.turn().isPresent() && durable.phase() == Phase.OPEN && !wasStopping) {
            scheduleRestart(e.why());
        }
    }

    /** After the end of an incarnation: a turn that was to be ended is over, a poisonous one is set aside (MB-20). */
    private void turnAfterDeath() {
        if (durable.turn().isEmpty()) {
            return;
        }
        var turn = durable.turn().get();
        if (turn.stage() == TurnStage.ENDING) {
            settleWithoutResult(endOutcome(), turn.ending());
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

    private void park(String reason) {
        if (durable.phase() == Phase.OPEN) {
            emit(new Event.PhaseChanged(Phase.Trigger.PARK, reason, Optional.empty()));
        }
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
        if (!ours) {
            emit(new Event.AgentTurnSeen(r.text(), r.usage(), r.requestId()));
            return;
        }
        settle(r, Event.Evidence.RESULT);
        if (r.fatal()) {
            park(r.reason());
        }
    }

    private void settle(TurnResult r, Event.Evidence evidence) {
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
        settle(outcome, evidence, r.text(), ending ? turn.ending() : r.reason(), r.usage(), answer, r.requestId());
    }

    /**
     * A line that never reached any incarnation gives no mark: its turn is told again in front of the next line. Nor does
     * a continuation: it carries no words, so a record without it lacks nothing.
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

    private void settleWithoutResult(Outcome outcome, String why) {
        settle(outcome, Event.Evidence.NONE, "", why, Usage.unknown(), "", "");
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
        emit(new Event.TurnSettled(
                turn.number(),
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
        live.calls.clear();
        live.callOrdinals.clear();
        // A steer that was written and not acknowledged runs next in the agent, or is in its record, or is lost. So it
        // is next here, and under the same id, by which the agent can be asked.
        live.told = live.told.filter(id -> steer.filter(s -> s.id().equals(id)).isPresent());
        steer.filter(s -> durable.phase() != Phase.CLOSED).ifPresent(s -> openTurn(s.id(), s.messages(), true));
    }

    private void openTurn(DeliveryId id, List<Taken> messages, boolean written) {
        emit(new Event.TurnOpened(durable.lastTurn() + 1, id, messages, now, now.plus(limits.turn()), written));
    }

    private Outcome endOutcome() {
        return durable.turn().filter(Turn::cancelled).isPresent() ? Outcome.CANCELLED : Outcome.FAILED;
    }

    private void endTurn(long number, String why) {
        var turn = durable.turn().orElseThrow();
        emit(new Event.InterruptAsked(turn.number(), number, why));
        if (live.endBy.isEmpty()) {
            live.endBy = Optional.of(now.plus(limits.interrupt()));
        }
    }

    // ---- calls ----------------------------------------------------------------------------------------------------

    private void callAsked(Input.CallAsked c) {
        if (live.calls.containsKey(c.callId())) {
            return;
        }
        long turn = durable.turn().map(Turn::number).orElse(0L);
        long message = durable.turn()
                .map(t -> t.original().messages().getFirst().number())
                .orElse(0L);
        int nth = nth(c.tool(), c.inputDigest());
        var key =
                DeliveryIds.digest(durable.seed() + "/" + message + "/" + c.tool() + "/" + c.inputDigest() + "/" + nth);
        live.calls.put(c.callId(), new Live.Call(c.tool(), c.sideEffects(), key, false));
        if (c.sideEffects()) {
            emit(new Event.CallStarted(turn, c.callId(), c.tool(), c.inputDigest(), key));
        }
    }

    /** Counts calls alike, those included whose end the agent was told of when it was asked to go on. */
    private int nth(String tool, String inputDigest) {
        return live.callOrdinals.merge(tool + "/" + inputDigest, 1, Integer::sum);
    }

    private void callFinished(Input.CallFinished c) {
        var call = live.calls.get(c.callId());
        long turn = durable.turn().map(Turn::number).orElse(0L);
        if (call == null || call.answered()) {
            note(new Event.Noticed("late_answer", "call " + c.callId()));
            return;
        }
        live.calls.put(c.callId(), new Live.Call(call.tool(), call.sideEffects(), call.key(), true));
        var end = new Event.CallEnded(turn, c.callId(), call.tool(), c.error(), c.answerExcerpt());
        if (call.sideEffects()) {
            emit(end);
        } else {
            note(end);
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
                        && durable.turn().filter(t -> now.isAfter(t.deadline())).isPresent()) {
                    settleWithoutResult(Outcome.FAILED, "deadline passed: no process slot became free");
                }
            }
            case PLEASE_FREE -> live.freeSlot = true;
        }
    }

    private void stop(StopMode mode) {
        if (AgentStage.TABLE.allows(live.stage, AgentStage.Trigger.STOP)) {
            move(AgentStage.Trigger.STOP);
            live.stop = Optional.of(mode);
        }
    }

    // ---- advance --------------------------------------------------------------------------------------------------

    /** What follows by itself, from the state and the time alone. */
    void advance() {
        deadlines();
        openNext();
        wish();
        tell();
        interrupt();
    }

    private void deadlines() {
        boolean runs = live.stage == AgentStage.STARTING || live.stage == AgentStage.READY;
        if (runs
                && durable.turn()
                        .filter(t -> t.stage() != TurnStage.ENDING && !now.isBefore(t.deadline()))
                        .isPresent()) {
            if (live.stage == AgentStage.READY && !written()) {
                stop(StopMode.BUSY); // it never came to rest, and would take no later line either
            }
            endTurn(0, "deadline passed: turn");
        }
        if (live.endBy.filter(by -> !now.isBefore(by)).isPresent()) {
            stop(StopMode.BUSY);
        }
        if (live.idleSince
                .filter(s -> SessionCore.atRest(durable, live.build())
                        && (live.freeSlot || !now.isBefore(s.plus(limits.idle()))))
                .isPresent()) {
            if (nextMessage().isEmpty() || durable.phase() != Phase.OPEN) {
                stop(StopMode.IDLE);
            }
        }
    }

    private void openNext() {
        if (durable.turn().isEmpty()
                && durable.phase() == Phase.OPEN
                && !live.leaving
                && !durable.seed().isEmpty()) {
            nextMessage().ifPresent(m -> openTurn(DeliveryIds.of(durable.seed(), durable.ids()), List.of(m), false));
        }
    }

    private Optional<Taken> nextMessage() {
        if (!durable.front().isEmpty()) {
            return Optional.of(durable.front().getFirst());
        }
        return waiting(durable, live.waiting);
    }

    private static Optional<Taken> waiting(Durable durable, java.util.NavigableMap<Long, Header> waiting) {
        return waiting.tailMap(durable.takenThrough(), false).values().stream()
                .filter(h -> !h.kind().urgent() && !durable.named(h.number()))
                .findFirst()
                .map(Header::taken);
    }

    /** REQUIRED with a turn open, WELCOME without, FORBIDDEN when the session may not run (HS-23). */
    private void wish() {
        boolean forbidden = durable.phase() != Phase.OPEN || live.leaving;
        boolean required = durable.turn().isPresent() && !forbidden;
        boolean delayed = durable.restartAt().filter(now::isBefore).isPresent();
        if (forbidden) {
            if (live.stage == AgentStage.PLANNED) {
                abandon();
            } else {
                stop(durable.turn().isPresent() || live.busy ? StopMode.BUSY : StopMode.IDLE);
            }
        } else if (live.stage == AgentStage.PLANNED && !required) {
            abandon();
        } else if (live.stage == AgentStage.DOWN && required && !delayed) {
            if (durable.turn().orElseThrow().stage() == TurnStage.ENDING) {
                settleWithoutResult(endOutcome(), durable.turn().orElseThrow().ending());
                openNext();
                wish();
                return;
            }
            move(AgentStage.Trigger.PLAN);
            emit(new Event.IncarnationPlanned(durable.incarnation() + 1));
        }
    }

    private void abandon() {
        move(AgentStage.Trigger.ABANDON);
        emit(new Event.IncarnationEnded(
                durable.incarnation(), Event.EndCause.STOPPED, "not needed any more", false, ""));
        live.incarnationOver();
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
        var next = live.waiting.tailMap(durable.takenThrough(), false).values().stream()
                .filter(h -> h.kind() == ArrivalKind.STEER && !durable.named(h.number()))
                .findFirst();
        next.ifPresent(h -> {
            var id = DeliveryIds.of(durable.seed(), durable.ids());
            emit(new Event.SteerPlanned(turn.number(), h.taken(), id));
            say(id);
        });
    }

    private void say(DeliveryId id) {
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
            openNext();
            wish();
            tell();
        } else if (landed && live.told.isPresent()) {
            stop(StopMode.BUSY); // another line is unacknowledged: an interrupt could hit its turn (TN-14)
        } else if (landed && live.interrupt == Live.InterruptWindow.CLOSED && !live.awaitIdle) {
            live.interrupt = Live.InterruptWindow.WRITTEN;
        }
    }
}
