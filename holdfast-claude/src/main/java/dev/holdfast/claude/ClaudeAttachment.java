package dev.holdfast.claude;

import dev.holdfast.Attachment;
import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCalls;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolRelay;
import dev.holdfast.claude.AgentProcess.CannotStart;
import dev.holdfast.claude.AgentProcess.Command;
import dev.holdfast.claude.AgentProcess.Exit;
import dev.holdfast.claude.ControlChannel.Answer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * One incarnation of Claude Code.
 *
 * <p>A serial object: callers, the process's threads and alarms all enter through {@link #serially}, which holds one lock
 * while the state changes and hands out reports after it. What waits (ending older processes, reading the record,
 * spawning) runs on a thread of its own and comes back the same way. Stages and what may follow what are in
 * {@link Stage}.
 *
 * <p>A start is: spawn, greet, check the tools with one line that starts no turn ({@link ToolCheck}).
 */
final class ClaudeAttachment implements Attachment, AgentLife.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(ClaudeAttachment.class);
    private static final Duration SILENT_END = Duration.ofSeconds(5);
    private static final String NEVER_STARTED = "stopped before it was started";

    private final ClaudeCodeAgent agent;
    private final Launch launch;
    private final AgentPlace place;
    private final AgentProcess.Source source;
    private final StartGate gate;
    private final Background background;
    private final StreamJson codec;
    private final Outbox outbox = new Outbox();
    private final Watcher watcher;
    private final Deadlines deadlines;
    private final ReentrantLock lock = new ReentrantLock();

    private final StageTrack track;
    private Knowledge knowledge = Knowledge.nothing();
    private @Nullable StartPlan plan;
    private @Nullable StartChoice choice;
    private Optional<ToolRelay.Offer> offer = Optional.empty();
    private StartGate.Place gatePlace = () -> {};
    private OptionalLong startDue = OptionalLong.empty();
    private OptionalLong silentEndDue = OptionalLong.empty();
    private final Alarm alarm;
    private final AgentLife.Parts parts;

    private @Nullable AgentLife life;
    private boolean verified;
    private HookBook hooks;
    private StopMode stopMode = StopMode.IDLE;
    private Optional<StartTrouble> trouble = Optional.empty();

    /** One that does not tell what its process holds. */
    ClaudeAttachment(
            ClaudeCodeAgent agent,
            Launch launch,
            AgentPlace place,
            AgentProcess.Source source,
            StartGate gate,
            Background background,
            StreamJson codec,
            ReportSink sink) {
        this(agent, launch, place, source, gate, background, codec, sink, pid -> OptionalLong.empty());
    }

    ClaudeAttachment(
            ClaudeCodeAgent agent,
            Launch launch,
            AgentPlace place,
            AgentProcess.Source source,
            StartGate gate,
            Background background,
            StreamJson codec,
            ReportSink sink,
            MemoryGauge gauge) {
        this.watcher = sink instanceof Watcher all ? all : Watcher.of(sink);
        this.agent = agent;
        this.launch = launch;
        this.place = place;
        this.source = source;
        this.gate = gate;
        this.background = background;
        this.codec = codec;
        this.deadlines = agent.deadlines();
        this.hooks = agent.hooks();
        this.track = new StageTrack("the attachment of session '" + launch.session() + "'");
        var memory = new MemoryLook(gauge, background::nanoTime);
        this.parts = new AgentLife.Parts(agent, launch, codec, background, watcher, outbox, lock, memory);
        this.alarm = new Alarm(background, step -> serially(() -> guarded(step)), this::sound);
    }

    // ---- the caller's side

    @Override
    public void know(KnowledgeQuestion question) {
        serially(() -> {
            track.move(Stage.KNOWING, "asked");
            onThread("know", () -> findOut(question));
        });
    }

    @Override
    public void start(StartPlan wish) {
        serially(() -> {
            track.move(Stage.SPAWNING, "asked");
            plan = wish;
            spawn(new StartChoice(wish, knowledge, () -> background.newId().toString()));
        });
    }

    @Override
    public void tell(Line line) {
        serially(() -> {
            if (track.is(Stage.STOPPING) || track.is(Stage.ENDED)) {
                report(new Report.Noticed("line_dropped", line.id() + ": the agent is " + track.now()));
                return;
            }
            track.require(Stage.READY, "told a line");
            AgentLife now = current();
            now.conversation.told(line);
            now.write(line.id(), codec.userLine(line));
        });
    }

    @Override
    public void interrupt(long turn) {
        serially(() -> {
            if (track.is(Stage.READY)) {
                current().interrupts.ask();
            }
        });
    }

    /** Asks the agent anything over its control channel; {@code then} is called once, in the order of the reports. */
    void ask(ObjectNode request, Consumer<Answer> then) {
        serially(() -> {
            Consumer<Answer> inOrder = answer -> outbox.put(() -> then.accept(answer));
            if (track.is(Stage.READY)) {
                boolean greets = StreamJson.text(request, "subtype").equals(ControlChannel.INITIALIZE);
                ObjectNode whole = greets ? ControlChannel.greeting(agent.systemPrompt(), hooks) : request;
                current().connection.control().ask(whole, background.nanoTime(), deadlines.control(), inOrder);
            } else {
                inOrder.accept(new Answer.Closed("the agent is " + track.now()));
            }
        });
    }

    /** Goes over to other hooks under the same rules. */
    void hooks(HookBook same) {
        serially(() -> {
            hooks = same;
            if (life != null) {
                life.connection.users().hooks(same);
            }
        });
    }

    /** The session will be stopped soon: no code of users is asked any more. */
    void closing() {
        serially(() -> {
            if (life != null) {
                life.connection.users().answers().closing();
            }
        });
    }

    @Override
    public void answer(String callId, ToolAnswer answer) {
        serially(() -> {
            if (life != null) {
                life.connection.tools().answer(callId, answer);
            }
        });
    }

    @Override
    public void progress(ToolProgress progress) {
        serially(() -> {
            if (life != null) {
                life.connection.progress(progress, background.nanoTime(), deadlines.control());
            }
        });
    }

    @Override
    public void permit(String callId, Optional<String> refusal) {
        serially(() -> {
            if (life != null) {
                life.connection.permit(callId, refusal);
            }
        });
    }

    @Override
    public void stop(StopMode mode) {
        serially(() -> {
            switch (track.now()) {
                case NEW, KNOWN -> end(NEVER_STARTED, "", "");
                case KNOWING -> track.move(Stage.STOPPING, "asked");
                case SPAWNING -> stopSpawning(mode);
                case GREETING, PROBING, READY -> stopProcess(mode, "asked");
                case STOPPING, ENDED -> {}
            }
        });
    }

    /** A start that still waits is over at once; a process on its way is ended when it is there. */
    private void stopSpawning(StopMode mode) {
        if (life == null || life.over) {
            end(NEVER_STARTED, "", "");
        } else {
            stopMode = mode;
            track.move(Stage.STOPPING, "asked");
        }
    }

    // ---- know

    /** On a thread of its own. */
    private void findOut(KnowledgeQuestion question) {
        String failed = "";
        Knowledge found = Knowledge.nothing();
        try {
            failed = source.endOlder(launch).orElse("");
            if (failed.isEmpty()) {
                found = place.knowledge(question);
            }
        } catch (CannotStart e) {
            failed = String.valueOf(e.getMessage());
        } catch (RuntimeException | Error e) {
            failed = "asking what the agent has failed: " + e;
        }
        String problem = failed;
        Knowledge answer = found;
        serially(() -> {
            if (track.is(Stage.STOPPING)) {
                end(NEVER_STARTED, "", "");
            } else if (!problem.isEmpty()) {
                end(problem, "", "");
            } else {
                knowledge = answer;
                track.move(Stage.KNOWN, answer.record().toString());
                report(new Report.Known(answer));
            }
        });
    }

    // ---- start

    private void spawn(StartChoice way) {
        choice = way;
        String session = way.nativeSession();
        boolean resume = way.resume();
        onThread("start", () -> queueUp(session, resume));
    }

    /** Agents that share a configuration directory start one after another; the wait is no part of the deadline. */
    private void queueUp(String session, boolean resume) {
        try {
            Optional<Path> shared = place.sharedConfigDirectory();
            StartGate.Place mine = gate.enter(shared, () -> onThread("start", () -> spawn(session, resume)));
            serially(() -> {
                gatePlace = mine;
                if (track.is(Stage.READY) || track.is(Stage.STOPPING) || track.is(Stage.ENDED)) {
                    leaveGate();
                }
            });
        } catch (CannotStart e) {
            serially(() -> end(String.valueOf(e.getMessage()), e.fatal(), ""));
        } catch (RuntimeException | Error e) {
            serially(() -> end("starting the agent failed: " + e, "", ""));
        }
    }

    private void leaveGate() {
        StartGate.Place mine = gatePlace;
        gatePlace = () -> {};
        mine.leave();
    }

    /** On a thread of its own. */
    private void spawn(String session, boolean resume) {
        try {
            Command command = place.command(session, resume, offered());
            var begun = new AgentLife(parts, hooks, Optional.ofNullable(plan).flatMap(StartPlan::catchUp), this);
            serially(() -> adopt(begun));
            if (!begun.adopted) {
                return;
            }
            AgentProcess process = source.start(command, launch, begun);
            serially(() -> spawned(begun, process));
        } catch (CannotStart e) {
            serially(() -> end(String.valueOf(e.getMessage()), e.fatal(), ""));
        } catch (RuntimeException | Error e) {
            serially(() -> end("starting the agent failed: " + e, "", ""));
        }
    }

    /** The tools over HTTP, where the agent is to have them so: offered once for all processes of this incarnation. */
    private Optional<ToolRelay.Offer> offered() {
        if (agent.relay().isEmpty()) {
            return Optional.empty();
        }
        var made = agent.relay().get().offer(launch.session(), launch.tools(), new HttpCalls());
        var before = new AtomicReference<Optional<ToolRelay.Offer>>(Optional.empty());
        serially(() -> {
            before.set(track.is(Stage.ENDED) ? Optional.of(made) : offer);
            offer = Optional.of(made);
        });
        before.get().ifPresent(ToolRelay.Offer::close);
        return Optional.of(made);
    }

    /** Calls that come over HTTP: the same way as those on the agent's channel. */
    private final class HttpCalls implements ToolCalls {
        @Override
        public CompletionStage<ToolAnswer> call(
                SessionName session, String callId, String tool, String input, Consumer<ToolProgress> progress) {
            var answer = new AtomicReference<CompletionStage<ToolAnswer>>(
                    CompletableFuture.completedFuture(ToolAnswer.error("this session takes no calls now")));
            serially(() -> {
                if (life != null && !life.over) {
                    answer.set(life.connection.tools().overHttp(callId, tool, input, progress));
                }
            });
            return answer.get();
        }

        @Override
        public void withdraw(SessionName session, String callId) {
            serially(() -> {
                if (life != null) {
                    life.connection.tools().leftOverHttp(callId);
                }
            });
        }
    }

    private void adopt(AgentLife begun) {
        if (track.is(Stage.SPAWNING)) {
            begun.adopted = true;
            life = begun;
            startDue = OptionalLong.of(background.nanoTime() + deadlines.start().toNanos());
        }
    }

    private void spawned(AgentLife begun, AgentProcess process) {
        if (begun.over) {
            return;
        }
        begun.connection.attach(process);
        report(new Report.Started(process.pid()));
        if (!track.is(Stage.SPAWNING)) {
            process.stop(stopMode);
            return;
        }
        track.move(Stage.GREETING, "pid " + process.pid());
        ObjectNode hello = ControlChannel.greeting(agent.systemPrompt(), hooks);
        if (launch.guarded()) {
            GuardDesk.register(hello, agent.builtinTools());
        }
        begun.connection.control().ask(hello, background.nanoTime(), deadlines.control(), this::greeted);
    }

    private void greeted(Answer answer) {
        if (!track.is(Stage.GREETING)) {
            return;
        }
        switch (answer) {
            case Answer.Success success -> {
                var found = StartTrouble.inAccount(success.response().path("account"));
                if (found.isPresent()) {
                    fail(found.get());
                } else {
                    track.move(Stage.PROBING, "greeted");
                    sendProbe();
                }
            }
            case Answer.Refused refused -> fail(StartTrouble.greetingRefused(refused.error()));
            case Answer.Expired expired -> startTooSlow();
            case Answer.Closed closed -> {}
        }
    }

    private void sendProbe() {
        AgentLife now = current();
        now.connection.send(now.check.line(codec), false);
    }

    /** Takes a frame before the tools were found right; nothing of it goes on. */
    private void checking(Frame frame) {
        AgentLife now = current();
        now.conversation.beforeVerified(frame);
        boolean mute = !now.conversation.announcesStates();
        switch (now.check.take(frame, now.connection.tools().listed(), mute)) {
            case ToolCheck.Finding.Nothing nothing -> {}
            case ToolCheck.Finding.Again again -> {
                report(new Report.Noticed("deduplicated", again.known().toString()));
                sendProbe();
            }
            case ToolCheck.Finding.Right right -> ready(right.init());
            case ToolCheck.Finding.Wrong wrong -> mismatch(wrong.difference());
            case ToolCheck.Finding.Unsuited unsuited -> fail(StartTrouble.ANSWERED_THE_PROBE);
            case ToolCheck.Finding.Failed failed -> startFailed(failed.why());
        }
    }

    /** Before the probe was sent an agent can give up; whatever else it says answers nothing of ours. */
    private void greeting(Frame frame) {
        current().conversation.beforeVerified(frame);
        if (frame instanceof Frame.Result result && result.error()) {
            startFailed(ToolCheck.why(result));
        }
    }

    private void startFailed(String why) {
        if (choice == null || !choice.refusedIn(why)) {
            trouble = Optional.of(StartTrouble.failed(why));
        }
    }

    private void ready(Frame.Init init) {
        verified = true;
        startDue = OptionalLong.empty();
        leaveGate();
        track.move(Stage.READY, init.version());
        current().connection.tools().open();
        report(new Report.Verified(init.version(), init.session()));
    }

    private void mismatch(ToolCheck.Difference difference) {
        verified = false;
        current().connection.tools().close();
        report(new Report.Mismatch(difference.missing(), difference.surplus()));
        fail(StartTrouble.wrongTools(difference));
    }

    @Override
    public void frame(Frame frame) {
        AgentLife now = current();
        if (watcher.wants(frame)) {
            outbox.put(() -> watcher.frame(frame));
        }
        if (!verified) {
            if (track.is(Stage.GREETING)) {
                greeting(frame);
            } else if (track.is(Stage.PROBING)) {
                checking(frame);
            }
            return;
        }
        if (frame instanceof Frame.Init init) {
            var difference = ToolCheck.difference(init, now.connection.tools().listed());
            if (!difference.none()) {
                mismatch(difference);
                return;
            }
            now.interrupts.turnBegan();
        } else if (frame instanceof Frame.State state && state.resting()) {
            now.interrupts.rested();
        }
        now.toolWatch.frame(frame);
        now.conversation.frame(frame);
    }

    // ---- the end

    /** Ends the agent for a reason of our own. */
    private void fail(StartTrouble why) {
        trouble = Optional.of(why);
        stopProcess(StopMode.BUSY, why.why());
    }

    private void stopProcess(StopMode mode, String why) {
        if (!track.now().running()) {
            return;
        }
        track.move(Stage.STOPPING, why);
        startDue = OptionalLong.empty();
        current().connection.closing();
        AgentProcess process = current().connection.process();
        if (process != null) {
            process.stop(mode);
        }
    }

    @Override
    public void outputEnded(AgentLife ended) {
        ended.connection.close("the agent's output has ended");
        silentEndDue = OptionalLong.of(background.nanoTime() + SILENT_END.toNanos());
    }

    @Override
    public void gone(Exit exit) {
        boolean starting = track.is(Stage.GREETING) || track.is(Stage.PROBING) || track.is(Stage.SPAWNING);
        if (starting && trouble.isEmpty()) {
            if (startOtherwise(exit)) {
                return;
            }
            trouble = StartTrouble.inErrorOutput(exit.stderrTail());
        }
        String why = trouble.map(t -> t.why() + " (" + exit.why() + ")").orElse(exit.why());
        String fatal = trouble.map(StartTrouble::fatal).orElse("");
        end(exit.allDead() ? why : why + "; something it had started is still alive", fatal, exit.stderrTail());
    }

    private boolean startOtherwise(Exit exit) {
        StartChoice now = choice;
        if (now == null) {
            return false;
        }
        now.refusedIn(exit.stderrTail());
        String before = now.toString();
        if (!now.another()) {
            return false;
        }
        report(new Report.Noticed(
                "start_refused", before + ": " + exit.stderrTail().strip() + "; trying to " + now));
        silentEndDue = OptionalLong.empty();
        leaveGate();
        if (!track.is(Stage.SPAWNING)) {
            track.move(Stage.SPAWNING, "again: " + now);
        }
        spawn(now);
        return true;
    }

    private void end(String why, String fatal, String stderrTail) {
        if (track.is(Stage.ENDED)) {
            return;
        }
        if (life != null) {
            life.connection.close("the agent is gone");
        }
        leaveGate();
        offer.ifPresent(made -> outbox.put(made::close));
        track.move(Stage.ENDED, why);
        report(new Report.Ended(why, fatal, stderrTail));
    }

    // ---- alarms

    private void sound() {
        if (track.is(Stage.ENDED)) {
            return;
        }
        long now = background.nanoTime();
        if (Alarm.passed(startDue, now)) {
            startDue = OptionalLong.empty();
            startTooSlow();
        }
        if (Alarm.passed(silentEndDue, now)) {
            silentEndDue = OptionalLong.empty();
            stopProcess(StopMode.BUSY, "the output has ended and the process lives");
        }
        if (life != null) {
            life.expire(now);
        }
    }

    private void startTooSlow() {
        String at = track.now().toString().toLowerCase(java.util.Locale.ROOT);
        report(new Report.Breached("start: " + at));
        String why = "the start did not finish in time; it hung at " + at;
        trouble = Optional.of(new StartTrouble("", why));
        if (track.is(Stage.SPAWNING)) {
            stopMode = StopMode.BUSY;
            track.move(Stage.STOPPING, why);
        } else {
            stopProcess(StopMode.BUSY, why);
        }
    }

    private void setAlarm() {
        if (track.is(Stage.ENDED)) {
            alarm.callOff();
        } else {
            OptionalLong ours = Alarm.nearer(startDue, silentEndDue);
            alarm.set(life == null ? ours : Alarm.nearer(ours, life.dueNanos()));
        }
    }

    // ---- the one way in

    private void serially(Runnable step) {
        lock.lock();
        try {
            step.run();
            setAlarm();
        } finally {
            lock.unlock();
        }
        if (!lock.isHeldByCurrentThread()) {
            outbox.deliver();
        }
    }

    /** A process that was replaced is not listened to. */
    @Override
    public void heard(AgentLife from, List<Runnable> all) {
        serially(() -> all.forEach(each -> {
            if (life == from) {
                guarded(each);
            }
        }));
    }

    /** A broken invariant ends the agent and is told, rather than leaving a session that hears nothing more. */
    private void guarded(Runnable what) {
        try {
            what.run();
        } catch (RuntimeException | Error e) {
            LOG.error("the attachment of session {} broke; so far: {}", launch.session(), track, e);
            report(new Report.Noticed("broken", e + "; so far: " + track));
            fail(new StartTrouble("", "the harness met something it cannot handle: " + e));
        }
    }

    @Override
    public void report(Report report) {
        if (!track.is(Stage.ENDED) || report instanceof Report.Ended) {
            outbox.put(() -> watcher.report(report));
        }
    }

    private AgentLife current() {
        AgentLife now = life;
        if (now == null) {
            throw new IllegalStateException("the attachment of session '" + launch.session() + "' has no process yet");
        }
        return now;
    }

    /** Does what may wait; a machine that has no thread for it ends the incarnation. */
    private void onThread(String what, Runnable task) {
        try {
            background.run("holdfast-claude-" + what + "-" + launch.session(), task);
        } catch (RuntimeException | Error e) {
            LOG.error("session {} finds no thread to {}", launch.session(), what, e);
            serially(() -> end("no thread could be started: " + e, "", ""));
        }
    }
}
