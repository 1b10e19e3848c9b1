package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.claude.ControlChannel.Answer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One handle's conversation: at most one process and one turn at a time, and the turns that wait.
 *
 * <p>A serial object: callers, the process's reports and alarms all {@link #enter}, and one of them at a time runs the
 * steps that wait, so no step is ever inside another. No step waits and none runs users' code. After every step
 * {@link #advance} looks what is to be done now, so that no step has to know what comes after it.
 */
final class HeldSession implements HeldPool.Holder {
    private static final Logger LOG = LoggerFactory.getLogger(HeldSession.class);

    /** Where the process is. */
    private enum Phase {
        /** There is none. */
        ABSENT,
        /** A place for one is waited for. */
        PLACING,
        /** It is being started. */
        STARTING,
        /** It takes turns. */
        LIVE,
        /** It is being ended. */
        STOPPING
    }

    private final HeldHost host;
    private final HeldOptions options;
    private final Outbox steps = new Outbox();
    private final Mouth mouth;
    private final Alarm alarm;
    private final ArrayDeque<HeldTurn> waiting = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> closers = new ArrayList<>();
    private final Restarts restarts = new Restarts();
    private volatile @Nullable SessionHandle handle;
    private HandleBook.@Nullable Entry entry;
    private Phase phase = Phase.ABSENT;
    private @Nullable HeldProcess process;
    private @Nullable TurnRun run;
    /** A spare: the binding to be kept ready, until the session is claimed. */
    private @Nullable BoundAgent warm;
    /** The process has not been used since it was started for nobody in particular. */
    private boolean unproven;

    private long turns;
    /** A turn was settled and the agent has not said that it rests. */
    private boolean settling;
    /** How long a turn that waits for that goes on waiting; any sign of life prolongs it. */
    private OptionalLong restDue = OptionalLong.empty();
    /** How long the proof of a spare is waited for. */
    private OptionalLong proofDue = OptionalLong.empty();
    /** The process is to be ended as soon as it rests. */
    private boolean leaving;

    private OptionalLong idleDue = OptionalLong.empty();
    /** When a turn that the agent started by itself has taken too long. */
    private OptionalLong strangeDue = OptionalLong.empty();

    private boolean closing;
    private boolean retired;
    private volatile boolean resting;
    private volatile long lastTurn;

    HeldSession(HeldHost host, Optional<SessionHandle> handle) {
        this.host = host;
        this.options = host.options();
        this.handle = handle.orElse(null);
        this.mouth = new Mouth(options.executor(), options.listener(), handle);
        this.alarm = new Alarm(host.background(), () -> enter(this::sound));
        this.lastTurn = host.background().nanoTime();
    }

    // ---- the one way in

    void enter(Runnable step) {
        steps.run(() -> {
            try {
                step.run();
                advance();
                setAlarm();
            } catch (RuntimeException | Error e) {
                broken(e);
            }
        });
    }

    /** A broken invariant ends the process and fails its turns, rather than leaving a session that hears nothing more. */
    private void broken(Throwable e) {
        LOG.error("held session {} broke in {}", handle, phase, e);
        failAll(new HeldFailure.StartFailed("the session met something it cannot handle: " + e, ""));
        if (process != null && phase != Phase.STOPPING) {
            stop(StopMode.BUSY);
        }
    }

    // ---- callers

    void submit(HeldTurn turn) {
        enter(() -> submitted(turn));
        turn.listen();
    }

    private void submitted(HeldTurn turn) {
        if (retired) {
            host.sessions().again(turn, named(), this);
            return;
        }
        if (turn.isDone()) {
            return;
        }
        if (closing) {
            turn.fail(closed());
            return;
        }
        if (!restarts.parked().isEmpty()) {
            turn.fail(new HeldFailure.Parked(named(), restarts.parked()));
            return;
        }
        TurnRequest request = turn.request();
        BoundAgent inForce = inForce();
        if (inForce != null && request.onOtherBinding() == TurnRequest.OnOtherBinding.REFUSE) {
            List<String> differences = turn.bound().differences(inForce);
            if (!differences.isEmpty()) {
                turn.fail(new HeldFailure.BindingMismatch(named(), differences));
                return;
            }
        }
        boolean busy = (run != null && run.stopping() != TurnRun.Stopping.CLOSED)
                || waiting.stream().anyMatch(other -> !other.isDone());
        if (!busy || request.ifBusy() == TurnRequest.IfBusy.QUEUE) {
            waiting.addLast(turn);
        } else if (request.ifBusy() == TurnRequest.IfBusy.REPLACE) {
            waiting.addFirst(turn);
            if (run != null) {
                end(run, TurnRun.Stopping.CANCELLED);
            }
        } else {
            turn.fail(new HeldFailure.Busy(named()));
        }
    }

    /** What the process that runs or is being started was bound to. */
    private @Nullable BoundAgent inForce() {
        if (process != null && !leaving && (phase == Phase.STARTING || phase == Phase.LIVE)) {
            return process.bound();
        }
        for (HeldTurn turn : waiting) {
            if (!turn.isDone()) {
                return turn.bound();
            }
        }
        return null;
    }

    void cancel(HeldTurn turn) {
        enter(() -> {
            if (turn.isDone()) {
                return;
            }
            if (run != null && run.turn() == turn) {
                end(run, TurnRun.Stopping.CANCELLED);
            } else {
                waiting.remove(turn);
                turn.fail(new HeldFailure.Cancelled(named(), false));
            }
        });
    }

    CompletableFuture<InterruptReceipt> interrupt(HeldTurn turn) {
        var receipt = new CompletableFuture<InterruptReceipt>();
        enter(() -> {
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
        enter(() -> {
            if (run == null || run.turn() != turn || run.stopping() != TurnRun.Stopping.NO) {
                steer.refuse(new HeldFailure.ControlFailed("the turn does not run any more; nothing was said"));
                return;
            }
            run.steer(steer, now());
            tellSteer(run);
        });
    }

    private void tellSteer(TurnRun into) {
        Steer next = into.nextSteer();
        if (next != null) {
            DeliveryId id = newId();
            next.told(id);
            current().attachment().tell(new Line(id, next.texts(), next.note(), true));
        }
    }

    /** Asks the live process something; fails when there is none, and when it refuses. */
    CompletableFuture<JsonNode> ask(ObjectNode request) {
        var answered = new CompletableFuture<JsonNode>();
        enter(() -> {
            if (process == null || phase != Phase.LIVE) {
                answered.completeExceptionally(new HeldFailure.ControlFailed(
                        "session " + handle + " has no process that takes turns; run a turn first"));
                return;
            }
            process.attachment().ask(request, answer -> {
                switch (answer) {
                    case Answer.Success success -> answered.complete(success.response());
                    case Answer.Refused refused ->
                        answered.completeExceptionally(
                                new HeldFailure.ControlFailed("the agent refused: " + refused.error()));
                    case Answer.Expired expired ->
                        answered.completeExceptionally(
                                new HeldFailure.ControlFailed("the agent did not answer in time"));
                    case Answer.Closed over ->
                        answered.completeExceptionally(
                                new HeldFailure.ControlFailed("the agent is gone: " + over.why()));
                }
            });
        });
        return answered;
    }

    /** Ends the process; the handle works again afterwards, unless all is being closed. */
    CompletableFuture<Void> close(boolean forGood) {
        var closed = new CompletableFuture<Void>();
        enter(() -> {
            closing = closing || forGood;
            closers.add(closed);
            List.copyOf(waiting).forEach(turn -> turn.fail(closed()));
            waiting.clear();
            warm = null;
            restarts.reset();
            switch (phase) {
                case ABSENT, STOPPING -> {}
                case PLACING -> {
                    host.pool().release(this);
                    phase = Phase.ABSENT;
                }
                case STARTING -> stop(StopMode.BUSY);
                case LIVE -> closeLive();
            }
        });
        return closed;
    }

    private void closeLive() {
        leaving = true;
        if (run != null) {
            TurnRun running = run;
            HeldFailure why = closed();
            mouth.then(() -> running.turn().fail(why), running.request().listener());
            running.failSteers(why);
            end(running, TurnRun.Stopping.CLOSED);
        } else {
            stop(current().busy ? StopMode.BUSY : StopMode.IDLE);
        }
    }

    void unpark() {
        enter(restarts::reset);
    }

    // ---- spares

    /** Starts a process for nobody yet, if a place is free. */
    void warm(BoundAgent bound) {
        enter(() -> {
            if (phase == Phase.ABSENT && handle == null && host.pool().tryRequest(this)) {
                warm = bound;
                phase = Phase.PLACING;
                begin(bound);
            } else if (handle == null) {
                host.sessions().spareLost(this);
            }
        });
    }

    /** Gives the spare to a handle that was never used. */
    void claim(SessionHandle claimed) {
        mouth.handle(claimed);
        handle = claimed;
        enter(() -> {
            warm = null;
            lastTurn = now();
            resting = false;
            unproven = process != null;
        });
    }

    /** A spare that died since it was started must cost the turn nothing but a start. */
    private void prove() {
        unproven = false;
        save();
        HeldProcess asked = current();
        proofDue = OptionalLong.of(now() + patience(asked));
        asked.attachment()
                .ask(
                        ControlChannel.request("mcp_status"),
                        answer -> enter(() -> {
                            if (process == asked
                                    && (answer instanceof Answer.Success || answer instanceof Answer.Refused)) {
                                proofDue = OptionalLong.empty();
                            }
                        }));
    }

    // ---- places

    @Override
    public void granted() {
        enter(() -> {
            if (phase != Phase.PLACING) {
                host.pool().release(this);
                return;
            }
            HeldTurn first = waiting.peek();
            if (first == null) {
                phase = Phase.ABSENT;
                host.pool().release(this);
            } else {
                begin(first.bound());
            }
        });
    }

    @Override
    public void denied() {
        enter(() -> {
            if (phase == Phase.PLACING) {
                phase = Phase.ABSENT;
                failAll(new HeldFailure.AllBusy(host.pool().cap(), options.waiting()));
            }
        });
    }

    @Override
    public void pleaseLeave() {
        enter(() -> {
            if (phase == Phase.LIVE && isResting()) {
                say(new HeldEvent.Evicted(HeldEvent.Evicted.Why.CAPACITY));
                stop(StopMode.IDLE);
            } else if (phase != Phase.STOPPING) {
                host.pool().stays(this);
            }
        });
    }

    @Override
    public boolean resting() {
        return resting;
    }

    @Override
    public long lastTurn() {
        return lastTurn;
    }

    @Override
    public boolean spare() {
        return handle == null;
    }

    private boolean isResting() {
        HeldProcess live = process;
        return phase == Phase.LIVE && run == null && waiting.isEmpty() && !settling && live != null && !live.busy;
    }

    // ---- what is to be done now

    private void advance() {
        waiting.removeIf(HeldTurn::isDone);
        if (!restarts.parked().isEmpty() && !waiting.isEmpty()) {
            failWaiting(new HeldFailure.Parked(named(), restarts.parked()));
        }
        switch (phase) {
            case ABSENT -> advanceAbsent();
            case LIVE -> advanceLive();
            case PLACING -> {
                if (waiting.isEmpty()) {
                    host.pool().release(this);
                    phase = Phase.ABSENT;
                    advanceAbsent();
                }
            }
            case STARTING, STOPPING -> {}
        }
        boolean rests = isResting();
        if (rests && !resting) {
            resting = true;
            idleDue = OptionalLong.of(
                    handle == null
                            ? current().begunAt + options.maxAge().toNanos()
                            : now() + options.idle().toNanos());
            host.pool().rested();
        } else if (!rests && resting) {
            resting = false;
            idleDue = OptionalLong.empty();
        }
    }

    private void advanceAbsent() {
        closers.forEach(closer -> closer.complete(null));
        closers.clear();
        if (waiting.isEmpty()) {
            if (handle != null && !retired && (closing || restarts.untroubled())) {
                retired = true;
                host.sessions().retire(handle, this);
            }
            return;
        }
        OptionalLong notBefore = restarts.notBefore();
        if (notBefore.isEmpty() || Alarm.passed(notBefore, now())) {
            phase = Phase.PLACING;
            host.pool().request(this);
        }
    }

    private void advanceLive() {
        HeldProcess live = current();
        if (run != null || proofDue.isPresent()) {
            return;
        }
        if (settling || live.busy) {
            if (settling && restDue.isEmpty() && (leaving || !waiting.isEmpty())) {
                restDue = OptionalLong.of(now() + patience(live));
            }
            return;
        }
        if (leaving) {
            stop(StopMode.IDLE);
            return;
        }
        String outworn = live.outworn(options, host.gauge(), now());
        if (!outworn.isEmpty()) {
            recycle(outworn);
            return;
        }
        HeldTurn next = waiting.peek();
        if (next == null) {
            return;
        }
        List<String> differences = next.bound().differences(live.bound());
        if (!differences.isEmpty()) {
            recycle("another binding: " + String.join("; ", differences));
        } else if (unproven) {
            prove();
        } else {
            waiting.removeFirst();
            begin(next, newId(), null);
        }
    }

    private void recycle(String why) {
        say(new HeldEvent.Recycled(why));
        stop(StopMode.IDLE);
    }

    /** @param origin the steering message that this turn is for, when it was written already */
    private void begin(HeldTurn turn, DeliveryId id, @Nullable Steer origin) {
        turns++;
        settling = false;
        restDue = OptionalLong.empty();
        strangeDue = OptionalLong.empty();
        long deadline = turn.request().deadline().orElse(options.turn()).toNanos();
        run = new TurnRun(turn, id, turns, now(), deadline, origin);
        current().turns++;
        if (origin == null) {
            current()
                    .attachment()
                    .tell(new Line(id, turn.request().texts(), turn.request().note(), false));
        }
    }

    private void stop(StopMode mode) {
        phase = Phase.STOPPING;
        forgetTimes();
        current().attachment().stop(mode);
    }

    private void forgetTimes() {
        settling = false;
        restDue = OptionalLong.empty();
        proofDue = OptionalLong.empty();
        strangeDue = OptionalLong.empty();
    }

    // ---- the start

    private void begin(BoundAgent bound) {
        try {
            HandleBook.Entry known = entry;
            if (known == null) {
                SessionHandle named = handle;
                known = named == null ? ofSpare() : host.book().read(named);
                entry = known;
            }
            turns = Math.max(turns, known.mark().map(TurnMark::turn).orElse(0L));
            phase = Phase.STARTING;
            unproven = false;
            process = new HeldProcess(this, host, bound, known.place());
            process.attachment()
                    .know(new KnowledgeQuestion(
                            Optional.of(known.nativeSession()),
                            known.mark().stream().toList(),
                            List.of()));
        } catch (UncheckedIOException e) {
            phase = Phase.ABSENT;
            host.pool().release(this);
            failAll(new HeldFailure.StartFailed(String.valueOf(e.getMessage()), ""));
        }
    }

    private HandleBook.Entry ofSpare() {
        String place = host.background().newId().toString();
        return new HandleBook.Entry(place, host.background().newId().toString(), Optional.empty());
    }

    private void known(HeldProcess starting, Knowledge knowledge) {
        HandleBook.Entry known = noted();
        long answered = known.mark().map(TurnMark::turn).orElse(0L);
        boolean lacks = answered > 0 && knowledge.coversTurn() < answered;
        boolean resume = knowledge.record() == RecordState.PRESENT;
        if (knowledge.record() == RecordState.DAMAGED) {
            entry = known.nativeSession(host.background().newId().toString());
            lacks = true;
        }
        String session = noted().nativeSession();
        if (!lacks) {
            starting.memory = !resume
                    ? HeldEvent.Memory.NEW
                    : answered > 0 ? HeldEvent.Memory.RESUMED : HeldEvent.Memory.RESUMED_UNVERIFIED;
            starting.attachment().start(new StartPlan(session, resume, Optional.empty()));
            return;
        }
        SessionHandle named = named();
        options.executor().execute(() -> {
            Optional<String> text = retelling(named);
            enter(() -> {
                if (process != starting || phase != Phase.STARTING) {
                    return;
                }
                starting.memory = text.isPresent() ? HeldEvent.Memory.RETOLD : HeldEvent.Memory.LOST;
                var catchUp = text.map(words -> new StartPlan.CatchUp(newId(), words));
                starting.attachment().start(new StartPlan(session, resume, catchUp));
            });
        });
    }

    private Optional<String> retelling(SessionHandle named) {
        try {
            return options.retelling().apply(named);
        } catch (RuntimeException e) {
            LOG.warn("the retelling for session {} threw; the agent is told nothing", named, e);
            return Optional.empty();
        }
    }

    private void ready(HeldProcess starting, Report.Verified verified) {
        phase = Phase.LIVE;
        starting.log().begin();
        if (!verified.nativeSession().isEmpty() && !verified.nativeSession().equals(noted().nativeSession())) {
            entry = noted().nativeSession(verified.nativeSession());
            save();
        }
        say(new HeldEvent.Ready(verified.version(), verified.nativeSession(), starting.memory));
    }

    // ---- what the process says

    void saw(HeldProcess from, Frame frame) {
        if (from != process) {
            return;
        }
        from.log().frame(frame);
        if (restDue.isPresent()) {
            restDue = OptionalLong.of(now() + patience(from));
        }
        if (mouth.heard(listener())) {
            FrameEvents.of(frame).ifPresent(this::say);
        }
    }

    void receipt(HeldProcess from, InterruptReceipt receipt) {
        if (from == process && run != null) {
            run.receipt(receipt);
        }
    }

    void heard(HeldProcess from, Report report) {
        if (from != process) {
            return;
        }
        switch (report) {
            case Report.Known known -> known(from, known.knowledge());
            case Report.Started started -> {
                from.pid = started.pid();
                say(new HeldEvent.Started(started.pid()));
            }
            case Report.Verified verified -> ready(from, verified);
            case Report.Mismatch mismatch -> from.mismatch = mismatch;
            case Report.Landed landed -> landed(landed.id());
            case Report.Busy busy -> worksNow(from);
            case Report.Idle idle -> idle(from);
            case Report.Result result -> result(from, result.result());
            case Report.Text text -> say(new HeldEvent.Text(text.fragment()));
            case Report.CallRequested call -> called(from, call);
            case Report.CallWithdrawn call -> from.desk().withdrawn(call.callId());
            case Report.InterruptAnswered answered -> {}
            case Report.Breached breached -> breached(from, breached.what());
            case Report.Noticed noticed -> noticed(from, noticed);
            case Report.Ended ended -> ended(from, ended);
        }
    }

    private void landed(DeliveryId line) {
        if (run != null && run.land(line)) {
            say(new HeldEvent.Landed(line));
            tellSteer(run);
        }
    }

    private void worksNow(HeldProcess from) {
        from.busy = true;
        if (run == null) {
            strangeDue = OptionalLong.of(now() + options.turn().toNanos());
        }
    }

    private void called(HeldProcess from, Report.CallRequested call) {
        from.log().reached(call.callId());
        say(new HeldEvent.ToolCalled(call.callId(), call.tool(), call.input()));
        TurnRun running = run != null && run.stopping() == TurnRun.Stopping.NO ? run : null;
        from.desk().call(call, running, named(), answered -> enter(() -> say(answered)));
    }

    private void noticed(HeldProcess from, Report.Noticed notice) {
        if (notice.what().equals("agent_started_turn")) {
            var nobody = new TurnResult(
                    TurnResult.Ending.ANSWERED,
                    notice.detail(),
                    "",
                    dev.holdfast.Usage.unknown(),
                    List.of(),
                    "",
                    "",
                    false);
            say(new HeldEvent.AgentTurn(from.log().take(nobody, Optional.empty(), Duration.ZERO)));
        } else if (!FrameEvents.repeats(notice.what())) {
            say(new HeldEvent.Noticed(notice.what(), notice.detail()));
        }
    }

    // ---- the turn

    private void result(HeldProcess from, TurnResult told) {
        TurnRun ended = run;
        if (ended == null || !ended.owns(told.lines())) {
            say(new HeldEvent.AgentTurn(from.log().take(told, Optional.empty(), Duration.ZERO)));
            return;
        }
        var result = from.log().take(told, Optional.of(ended.id()), Duration.ofNanos(now() - ended.begunAt()));
        if (result.ending() == HeldResult.Ending.ANSWERED && !told.answerId().isEmpty()) {
            entry = noted().mark(new TurnMark(ended.number(), ended.landed(), told.answerId()));
        }
        restarts.reset();
        over(from, ended);
        if (ended.stopping() == TurnRun.Stopping.BREACHED) {
            fail(ended, new HeldFailure.TimedOut(named(), ended.breach()));
        } else {
            mouth.then(() -> ended.turn().complete(result), ended.request().listener());
            ended.settleSteers(result);
            if (result.fatal()) {
                park(result.failure());
                stop(StopMode.IDLE);
            }
        }
        goOnWithSteers(ended, result.fatal());
    }

    /** The turn no longer runs; the agent is given a moment to say that it rests. */
    private void over(HeldProcess of, TurnRun ended) {
        of.desk().turnOver();
        ended.failReceipts("the turn ended first");
        run = null;
        lastTurn = now();
        settling = true;
        strangeDue = OptionalLong.of(lastTurn + options.turn().toNanos());
    }

    /** How long the agent may take for what it should do at once. */
    private static long patience(HeldProcess of) {
        return of.bound().agent().deadlines().interrupt().toNanos();
    }

    /** What was said into the turn and did not land in it: the agent runs it next, or it is told then (TN-09). */
    private void goOnWithSteers(TurnRun ended, boolean fatal) {
        for (Steer steer : ended.unlanded().reversed()) {
            boolean wanted = ended.stopping() == TurnRun.Stopping.NO && !fatal;
            DeliveryId told = steer.told();
            if (!wanted) {
                steer.refuse(new HeldFailure.Cancelled(named(), told != null));
                if (told != null && phase == Phase.LIVE) {
                    say(new HeldEvent.Recycled("a message was said into a turn that was cancelled"));
                    stop(StopMode.BUSY);
                }
                continue;
            }
            steer.answer().complete(dev.holdfast.SteerAnswer.QUEUED);
            var own = follow(ended, steer);
            if (told == null) {
                waiting.addFirst(own);
            } else {
                begin(own, told, steer);
            }
        }
    }

    private HeldTurn follow(TurnRun ended, Steer steer) {
        TurnRequest request = ended.request();
        var own = new TurnRequest(
                steer.texts(),
                steer.note(),
                Optional.empty(),
                request.listener(),
                request.executor(),
                request.deadline(),
                TurnRequest.IfBusy.QUEUE,
                request.onOtherBinding(),
                request.maxToolCalls());
        var turn = new HeldTurn(this, ended.turn().bound(), own, options.executor());
        turn.endsAlso(steer.result());
        return turn;
    }

    private void idle(HeldProcess from) {
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
            settleWithout(still, new HeldFailure.NoResult(named()));
            if (still.stopping() != TurnRun.Stopping.NO) {
                stop(StopMode.IDLE);
            }
        } else if (still.stopping() != TurnRun.Stopping.NO) {
            stop(StopMode.BUSY); // it may still begin what it was told
        }
    }

    /** Interrupts the turn; what comes then, or does not, ends it. False when that was asked before. */
    private boolean end(TurnRun running, TurnRun.Stopping why) {
        long patience = patience(current());
        boolean first = running.stop(why, OptionalLong.of(now() + 2 * patience));
        if (first && phase == Phase.LIVE) {
            current().attachment().interrupt(running.number());
        }
        return first;
    }

    private void breached(HeldProcess from, String what) {
        say(new HeldEvent.Breached(what));
        if (what.startsWith("start: ")) {
            from.hungAt = what.substring("start: ".length());
        } else if (run == null) {
            if (phase == Phase.LIVE) {
                stop(StopMode.BUSY);
            }
        } else if (what.equals("interrupt")) {
            interruptFailed(run);
        } else {
            run.breach(run.breach().isEmpty() ? what : run.breach());
            end(run, TurnRun.Stopping.BREACHED);
        }
    }

    private void interruptFailed(TurnRun running) {
        if (phase == Phase.LIVE) {
            running.failReceipts("the agent did not answer in time");
            stop(StopMode.BUSY);
        }
    }

    private void settleWithout(TurnRun ended, HeldFailure otherwise) {
        switch (ended.stopping()) {
            case NO -> fail(ended, otherwise);
            case CANCELLED -> fail(ended, new HeldFailure.Cancelled(named(), true));
            case BREACHED -> fail(ended, new HeldFailure.TimedOut(named(), ended.breach()));
            case CLOSED -> fail(ended, closed());
        }
    }

    private void fail(TurnRun ended, HeldFailure why) {
        ended.failSteers(why);
        mouth.then(() -> ended.turn().fail(why), ended.request().listener());
    }

    // ---- the end

    private void ended(HeldProcess from, Report.Ended ended) {
        boolean starting = phase == Phase.STARTING;
        from.desk().turnOver();
        TurnRun cut = run;
        run = null;
        process = null;
        unproven = false;
        leaving = false;
        forgetTimes();
        phase = Phase.ABSENT;
        if (cut != null) {
            cut.failReceipts("the agent is gone");
            if (cut.stopping() == TurnRun.Stopping.NO) {
                crashed(ended);
            }
            settleWithout(cut, new HeldFailure.DiedInTurn(named(), ended.why(), cut.hasLanded(), ended.stderrTail()));
        } else if (starting) {
            startFailed(from, ended);
        }
        say(new HeldEvent.Ended(ended.why()));
        save();
        host.pool().release(this);
        if (handle == null) {
            host.sessions().spareLost(this);
        }
    }

    private void crashed(Report.Ended ended) {
        say(new HeldEvent.Crashed(ended.why(), ended.stderrTail()));
        var delay = restarts.crashed(ended.why(), now());
        if (delay.isPresent()) {
            say(new HeldEvent.RestartDelayed(restarts.crashes(), delay.get(), ended.why()));
        } else {
            say(new HeldEvent.Parked(restarts.parked()));
            failWaiting(new HeldFailure.Parked(named(), restarts.parked()));
        }
    }

    /** A start that failed fails everyone who waits for it (HS-02). Only a missing program is looked for anew each time. */
    private void startFailed(HeldProcess from, Report.Ended ended) {
        HeldFailure why = StartFailures.of(from, ended);
        if (ended.fatal().isEmpty()) {
            crashed(ended);
        } else if (!(why instanceof HeldFailure.CliNotFound)) {
            park(String.valueOf(why.getMessage()));
        }
        failWaiting(why);
    }

    private void park(String reason) {
        restarts.park(reason);
        say(new HeldEvent.Parked(reason));
    }

    private void failAll(HeldFailure why) {
        if (run != null) {
            run.turn().fail(why);
            run.failSteers(why);
        }
        failWaiting(why);
    }

    private void failWaiting(HeldFailure why) {
        List<HeldTurn> all = List.copyOf(waiting);
        waiting.clear();
        all.forEach(turn -> turn.fail(why));
    }

    private void save() {
        SessionHandle named = handle;
        HandleBook.Entry known = entry;
        if (named == null || known == null || known.equals(HandleBook.unwritten(named))) {
            return;
        }
        try {
            host.book().write(named, known);
        } catch (UncheckedIOException e) {
            LOG.warn("session {} is resumed less surely", named, e);
            say(new HeldEvent.Noticed("handle_not_written", String.valueOf(e.getMessage())));
        }
    }

    // ---- time

    private void sound() {
        alarm.rang();
        long now = now();
        if (run != null) {
            run.answerLateSteers(now);
            if (run.overdue(now)) {
                breached(current(), "turn");
            } else if (run.interruptOverdue(now)) {
                interruptFailed(run);
            }
        }
        if (phase == Phase.LIVE && Alarm.passed(proofDue, now)) {
            say(new HeldEvent.Noticed("spare_dead", "the process that was kept ready does not answer; it is replaced"));
            stop(StopMode.BUSY);
        } else if (phase == Phase.LIVE && (Alarm.passed(restDue, now) || Alarm.passed(strangeDue, now))) {
            say(new HeldEvent.Noticed("no_rest", "the agent does not come to rest; its process is replaced"));
            stop(StopMode.BUSY);
        }
        if (Alarm.passed(idleDue, now) && isResting()) {
            say(new HeldEvent.Evicted(HeldEvent.Evicted.Why.IDLE));
            stop(StopMode.IDLE);
        }
    }

    /** Only for what {@link #sound} can act on now: one that has passed and stays would ring without end. */
    private void setAlarm() {
        if (phase == Phase.LIVE) {
            OptionalLong due = Alarm.nearer(Alarm.nearer(restDue, strangeDue), Alarm.nearer(proofDue, idleDue));
            alarm.set(run == null ? due : Alarm.nearer(due, run.dueNanos()));
        } else if (phase == Phase.ABSENT && !waiting.isEmpty()) {
            alarm.set(restarts.notBefore());
        }
    }

    // ---- short words

    private long now() {
        return host.background().nanoTime();
    }

    private DeliveryId newId() {
        return new DeliveryId(host.background().newId());
    }

    private HeldProcess current() {
        HeldProcess live = process;
        if (live == null) {
            throw new IllegalStateException("session " + handle + " has no process in "
                    + phase.toString().toLowerCase(Locale.ROOT));
        }
        return live;
    }

    private HandleBook.Entry noted() {
        HandleBook.Entry known = entry;
        if (known == null) {
            throw new IllegalStateException("session " + handle + " was started without a place");
        }
        return known;
    }

    private SessionHandle named() {
        SessionHandle named = handle;
        return named == null ? new SessionHandle("spare") : named;
    }

    private HeldFailure closed() {
        return new HeldFailure.Closed("session " + handle + " was closed");
    }

    private Optional<HeldListener> listener() {
        return run == null ? Optional.empty() : run.request().listener();
    }

    private void say(HeldEvent event) {
        mouth.say(event, listener());
    }
}
