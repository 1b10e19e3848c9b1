package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import dev.holdfast.claude.ControlChannel.Answer;
import java.io.UncheckedIOException;
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
 * steps that wait, so no step is ever inside another. No step waits and none runs users' code. After every step, or those
 * that came together, {@link #advance} looks what is to be done now, so that no step has to know what comes after it.
 *
 * <p>Longer than other files: every step looks at the same few fields, and only what has fields of its own is a part by
 * itself ({@link TurnCourse}, {@link StartCourse}, {@link HeldProcess}, {@link Mouth}, {@link Restarts}).
 */
final class HeldSession {
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
    private final Outbox steps = new Outbox(this::afterSteps);
    private final Mouth mouth;
    private final Alarm alarm;
    private final ArrayDeque<HeldTurn> waiting = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> closers = new ArrayList<>();
    private Restarts restarts = new Restarts();
    /** What an earlier session of the handle went through has been taken over. */
    private boolean informed;

    private volatile @Nullable SessionHandle handle;
    private final StartCourse starts;
    private Phase phase = Phase.ABSENT;
    private @Nullable Place place;
    private @Nullable HeldProcess process;
    private final TurnCourse course;
    /** The process has not been used since it was started for nobody in particular. */
    private boolean unproven;

    /** How long the proof of a spare is waited for. */
    private OptionalLong proofDue = OptionalLong.empty();
    /** The process is to be ended as soon as it rests. */
    private boolean leaving;

    private OptionalLong idleDue = OptionalLong.empty();
    private boolean closing;
    private boolean retired;
    /** Whether frames matter that no result is made of. */
    private volatile boolean attentive;

    private volatile boolean resting;
    private volatile long lastTurn;

    HeldSession(HeldHost host, Optional<SessionHandle> handle) {
        this.host = host;
        this.options = host.options();
        this.handle = handle.orElse(null);
        this.mouth = new Mouth(options.executor(), options.listener(), handle);
        this.starts = new StartCourse(this, host);
        this.course = new TurnCourse(this, options, mouth);
        this.alarm = new Alarm(host.background(), this::enter, this::sound);
        this.lastTurn = host.background().nanoTime();
    }

    // ---- the one way in

    void enter(Runnable step) {
        enterLater(step);
        steps.deliver();
    }

    /** Puts a step down for whoever delivers next. */
    private void enterLater(Runnable step) {
        steps.put(() -> {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                broken(e);
            }
        });
    }

    private void afterSteps() {
        try {
            advance();
            setAlarm();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
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

    TurnCourse course() {
        return course;
    }

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
        if (!informed) {
            informed = true;
            restarts = host.sessions().trouble(named());
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
        TurnRun running = course.run();
        boolean busy = (running != null && running.stopping() != TurnRun.Stopping.CLOSED)
                || waiting.stream().anyMatch(other -> !other.isDone());
        if (!busy || request.ifBusy() == TurnRequest.IfBusy.QUEUE) {
            waiting.addLast(turn);
        } else if (request.ifBusy() == TurnRequest.IfBusy.REPLACE) {
            waiting.addFirst(turn);
            if (running != null) {
                course.end(running, TurnRun.Stopping.CANCELLED);
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
            if (turn.isOver()) {
                return;
            }
            TurnRun running = course.run();
            if (running != null && running.turn() == turn) {
                course.end(running, TurnRun.Stopping.CANCELLED);
            } else {
                waiting.remove(turn);
                turn.fail(new HeldFailure.Cancelled(named(), false));
            }
        });
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
            if (!forGood) {
                forgetTrouble();
            }
            switch (phase) {
                case ABSENT, STOPPING -> {}
                case PLACING -> {
                    free();
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
        current().attachment().closing();
        if (!course.close()) {
            stop(current().busy ? StopMode.BUSY : StopMode.IDLE);
        }
    }

    void unpark() {
        enter(this::forgetTrouble);
    }

    private void forgetTrouble() {
        var unused = host.sessions().trouble(named());
        if (!retired) { // else it belongs to the session that came after
            restarts.reset();
        }
    }

    // ---- spares

    /** Starts a process for nobody yet, if a place is free. */
    void warm(BoundAgent bound) {
        enter(() -> {
            if (phase == Phase.ABSENT && handle == null && !closing && reserved()) {
                phase = Phase.PLACING;
                begin(bound);
            } else if (handle == null) {
                host.sessions().spareLost(this, Spares.Lost.NO_PLACE);
            }
        });
    }

    /** Gives the spare to a handle that was never used. Quick, and calls nobody; {@link #settle} is to follow. */
    void claim(SessionHandle claimed) {
        mouth.handle(claimed);
        handle = claimed;
        enterLater(() -> {
            lastTurn = now();
            resting = false;
            unproven = process != null;
        });
    }

    /** Works off what was put down. */
    void settle() {
        steps.deliver();
    }

    /** A spare that died since it was started must cost the turn nothing but a start. */
    private void prove() {
        unproven = false;
        starts.save(handle);
        HeldProcess asked = current();
        proofDue = OptionalLong.of(now() + TurnCourse.patience(asked));
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

    private void granted(Place granted) {
        enter(() -> {
            if (phase != Phase.PLACING || place != granted) {
                host.pool().release(granted);
                return;
            }
            HeldTurn first = waiting.peek();
            if (first == null) {
                phase = Phase.ABSENT;
                free();
            } else {
                begin(first.bound());
            }
        });
    }

    private void denied(Place denied) {
        enter(() -> {
            if (phase == Phase.PLACING && place == denied) {
                phase = Phase.ABSENT;
                place = null;
                failAll(new HeldFailure.AllBusy(host.pool().cap(), options.waiting()));
            }
        });
    }

    private void pleaseLeave(Place asked) {
        enter(() -> {
            if (place != asked) {
                host.pool().release(asked);
            } else if (phase == Phase.LIVE && isResting()) {
                say(new HeldEvent.Evicted(HeldEvent.Evicted.Why.CAPACITY));
                stop(StopMode.IDLE);
            } else if (phase != Phase.STOPPING) {
                host.pool().stays(asked);
            }
        });
    }

    /** Whether the process is between turns just now. */
    boolean resting() {
        return resting;
    }

    private boolean reserved() {
        var wanted = new Place();
        boolean free = host.pool().tryRequest(wanted);
        if (free) {
            place = wanted;
        }
        return free;
    }

    private void askForPlace() {
        phase = Phase.PLACING;
        var wanted = new Place();
        place = wanted;
        host.pool().request(wanted);
    }

    /** Gives the place back, or stops asking for it. */
    private void free() {
        Place had = place;
        place = null;
        if (had != null) {
            host.pool().release(had);
        }
    }

    /** One request for a place and what it was granted; an answer that comes late is about no other request. */
    private final class Place implements HeldPool.Holder {
        @Override
        public void granted() {
            HeldSession.this.granted(this);
        }

        @Override
        public void denied() {
            HeldSession.this.denied(this);
        }

        @Override
        public void pleaseLeave() {
            HeldSession.this.pleaseLeave(this);
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
    }

    private boolean isResting() {
        HeldProcess live = process;
        return phase == Phase.LIVE && waiting.isEmpty() && live != null && course.free(live);
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
                    free();
                    phase = Phase.ABSENT;
                    advanceAbsent();
                }
            }
            case STARTING, STOPPING -> {}
        }
        attend();
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
            if (handle != null && !retired) {
                retired = true;
                host.sessions().retire(handle, this, restarts);
            }
            return;
        }
        OptionalLong notBefore = restarts.notBefore();
        if (notBefore.isEmpty() || Alarm.passed(notBefore, now())) {
            askForPlace();
        }
    }

    private void advanceLive() {
        HeldProcess live = current();
        if (proofDue.isPresent()) {
            return;
        }
        if (!course.free(live)) {
            if (leaving || !waiting.isEmpty()) {
                course.awaitRest(live);
            }
            return;
        }
        if (leaving) {
            stop(StopMode.IDLE);
            return;
        }
        String outworn = live.outworn(options, now());
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
            course.begin(next, newId(), null);
        }
    }

    private void recycle(String why) {
        say(new HeldEvent.Recycled(why));
        stop(StopMode.IDLE);
    }

    void stop(StopMode mode) {
        phase = Phase.STOPPING;
        course.forgetTimes();
        proofDue = OptionalLong.empty();
        current().attachment().stop(mode);
    }

    // ---- the start

    private void begin(BoundAgent bound) {
        try {
            HandleBook.Entry known = starts.open(handle);
            course.from(known.mark().map(TurnMark::turn).orElse(0L));
            phase = Phase.STARTING;
            unproven = false;
            process = new HeldProcess(this, host, bound, known.place());
            process.attachment().know(StartCourse.question(known));
        } catch (UncheckedIOException e) {
            notBegun(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.error("held session {} could not be started", handle, e);
            notBegun("starting the session failed: " + e);
        }
    }

    private void notBegun(String why) {
        process = null;
        phase = Phase.ABSENT;
        free();
        failAll(new HeldFailure.StartFailed(why, ""));
        if (handle == null) {
            host.sessions().spareLost(this, Spares.Lost.START_FAILED);
        }
    }

    /** Whether this process is still being started. */
    boolean starts(HeldProcess starting) {
        return process == starting && phase == Phase.STARTING;
    }

    private void ready(HeldProcess starting, Report.Verified verified) {
        phase = Phase.LIVE;
        starting.log().begin();
        if (starts.ready(verified)) {
            starts.save(handle);
        }
        say(new HeldEvent.Ready(verified.version(), verified.nativeSession(), starting.memory));
    }

    // ---- what the process says

    void saw(HeldProcess from, Frame frame) {
        if (from != process) {
            return;
        }
        from.log().frame(frame);
        course.signOfLife(from);
        if (mouth.heard(course.listener())) {
            FrameEvents.of(frame).ifPresent(this::say);
        }
    }

    void told(HeldProcess from, HeldEvent event) {
        if (from == process) {
            course.told(event);
        }
    }

    /** Who decides about tools now; for any thread. */
    Optional<UserDesk.Asker> asker() {
        return course.asker().map(ask -> new UserDesk.Asker(ask, named(), options.permissionDeadline()));
    }

    /** Looks who listens; before a line is written, since its answer may be there before the step is over. */
    void attend() {
        attentive = mouth.heard(course.listener()) || course.awaitsRest();
    }

    boolean attentive() {
        return attentive;
    }

    void receipt(HeldProcess from, InterruptReceipt receipt) {
        TurnRun running = course.run();
        if (from == process && running != null) {
            running.receipt(receipt);
        }
    }

    void heard(HeldProcess from, Report report) {
        if (from != process) {
            return;
        }
        switch (report) {
            case Report.Known known -> starts.known(from, known.knowledge());
            case Report.Started started -> {
                from.pid = started.pid();
                say(new HeldEvent.Started(started.pid()));
            }
            case Report.Verified verified -> ready(from, verified);
            case Report.Mismatch mismatch -> from.mismatch = mismatch;
            case Report.Landed landed -> course.landed(landed.id());
            case Report.Memory memory -> {} // looked at here
            case Report.Busy busy -> course.worksNow(from);
            case Report.Idle idle -> course.idle(from);
            case Report.Result result -> course.result(from, result.result());
            case Report.Text text -> say(new HeldEvent.Text(text.fragment()));
            case Report.Doing doing -> {} // beats are of sessions; whoever holds an agent himself sees its frames
            case Report.CallRequested call -> course.called(from, call);
            case Report.PermissionAsked ignored -> {} // a held session has a PermissionAsk
            case Report.ToolUsed ignored -> {}
            case Report.CallWithdrawn call -> from.desk().withdrawn(call.callId());
            case Report.InterruptAnswered answered -> course.interruptAnswered();
            case Report.Breached breached -> {
                if (breached.what().startsWith("start: ")) {
                    from.hungAt = breached.what().substring("start: ".length());
                    say(new HeldEvent.Breached(breached.what()));
                } else {
                    course.breached(breached.what());
                }
            }
            case Report.Noticed noticed -> course.noticed(from, noticed);
            case Report.Ended ended -> ended(from, ended);
        }
    }

    // ---- what its turns need

    boolean live() {
        return phase == Phase.LIVE;
    }

    StartCourse starts() {
        return starts;
    }

    /** The agent has settled a turn. */
    void settled() {
        restarts.reset();
        lastTurn = now();
    }

    void waitFirst(HeldTurn turn) {
        waiting.addFirst(turn);
    }

    // ---- the end

    private void ended(HeldProcess from, Report.Ended ended) {
        boolean starting = phase == Phase.STARTING;
        from.desk().turnOver();
        process = null;
        unproven = false;
        leaving = false;
        proofDue = OptionalLong.empty();
        phase = Phase.ABSENT;
        lastTurn = now();
        free(); // before anything is said: nothing of that may cost the place
        if (course.run() != null) {
            if (course.cut(ended)) {
                crashed(ended);
            }
        } else if (starting) {
            startFailed(from, ended);
        }
        say(new HeldEvent.Ended(ended.why()));
        starts.save(handle);
        if (handle == null) {
            host.sessions().spareLost(this, starting ? Spares.Lost.START_FAILED : Spares.Lost.LIVED);
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
        failWaiting(why);
        if (ended.fatal().isEmpty()) {
            crashed(ended);
        } else if (!(why instanceof HeldFailure.CliNotFound)) {
            park(String.valueOf(why.getMessage()));
        }
    }

    void park(String reason) {
        restarts.park(reason);
        say(new HeldEvent.Parked(reason));
    }

    private void failAll(HeldFailure why) {
        course.fail(why);
        failWaiting(why);
    }

    private void failWaiting(HeldFailure why) {
        List<HeldTurn> all = List.copyOf(waiting);
        waiting.clear();
        all.forEach(turn -> turn.fail(why));
    }

    // ---- time

    private void sound() {
        long now = now();
        course.sound(now);
        if (phase == Phase.STARTING) {
            starts.sound(current(), now);
        }
        if (phase == Phase.LIVE && Alarm.passed(proofDue, now)) {
            say(new HeldEvent.Noticed("spare_dead", "the process that was kept ready does not answer; it is replaced"));
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
            alarm.set(Alarm.nearer(course.dueNanos(), Alarm.nearer(proofDue, idleDue)));
        } else if (phase == Phase.STARTING) {
            alarm.set(starts.dueNanos());
        } else if (phase == Phase.ABSENT && !waiting.isEmpty()) {
            alarm.set(restarts.notBefore());
        } else if (phase == Phase.ABSENT) {
            alarm.callOff();
        }
    }

    // ---- short words

    long now() {
        return host.background().nanoTime();
    }

    DeliveryId newId() {
        return new DeliveryId(host.background().newId());
    }

    HeldProcess current() {
        HeldProcess live = process;
        if (live == null) {
            throw new IllegalStateException("session " + handle + " has no process in "
                    + phase.toString().toLowerCase(Locale.ROOT));
        }
        return live;
    }

    SessionHandle named() {
        SessionHandle named = handle;
        return named == null ? new SessionHandle("spare") : named;
    }

    HeldFailure closed() {
        return new HeldFailure.Closed("session " + handle + " was closed");
    }

    void say(HeldEvent event) {
        mouth.say(event, course.listener());
    }
}
