package dev.holdfast.claude;

import dev.holdfast.Attachment;
import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.claude.AgentProcess.CannotStart;
import dev.holdfast.claude.AgentProcess.Command;
import dev.holdfast.claude.AgentProcess.Exit;
import dev.holdfast.claude.ControlChannel.Answer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One incarnation of Claude Code.
 *
 * <p>A serial object: callers, the process's threads and alarms all enter through {@link #serially}, which holds one lock
 * while the state changes and hands out reports after it. What waits (ending older processes, reading the record,
 * spawning) runs on a thread of its own and comes back the same way. Stages and what may follow what are in
 * {@link Stage}.
 *
 * <p>A start is: spawn, greet, then one line that starts no turn. Its {@code init} shows every tool the agent has before
 * a word reaches the model (TL-01), its result shows where the cost counter stands, and its text re-tells what the agent
 * lacks (TN-16).
 */
final class ClaudeAttachment implements Attachment {
    private static final Duration SILENT_END = Duration.ofSeconds(5);
    private static final int HISTORY_MAX = 16;
    private static final String NEUTRAL_NOTE = "The host has attached this session. Nothing to answer.";

    private enum Refusal {
        NONE,
        NO_SUCH_SESSION,
        IN_USE
    }

    private final ClaudeCodeAgent agent;
    private final Launch launch;
    private final AgentPlace place;
    private final AgentProcess.Source source;
    private final Background background;
    private final StreamJson codec;
    private final Outbox outbox;
    private final Deadlines deadlines;
    private final ReentrantLock lock = new ReentrantLock();

    private final ArrayDeque<String> history = new ArrayDeque<>();
    private Stage stage = Stage.NEW;
    private Knowledge knowledge = Knowledge.nothing();
    private @Nullable StartPlan plan;
    private String nativeSession = "";
    private boolean resuming;
    private final Set<String> triedStarts = new LinkedHashSet<>();
    private OptionalLong startDue = OptionalLong.empty();
    private OptionalLong silentEndDue = OptionalLong.empty();
    private OptionalLong alarm = OptionalLong.empty();

    private @Nullable Connection connection;
    private Conversation conversation;
    private DeliveryId probe;
    private Frame.@Nullable Init probeInit;
    private boolean probeAnswered;
    private boolean probeSeenBefore;
    private boolean verified;
    private Refusal refusal = Refusal.NONE;
    private StopMode stopMode = StopMode.IDLE;
    private String endReason = "";
    private String endFatal = "";

    ClaudeAttachment(
            ClaudeCodeAgent agent,
            Launch launch,
            AgentPlace place,
            AgentProcess.Source source,
            Background background,
            StreamJson codec,
            ReportSink sink) {
        this.agent = agent;
        this.launch = launch;
        this.place = place;
        this.source = source;
        this.background = background;
        this.codec = codec;
        this.outbox = new Outbox(sink);
        this.deadlines = agent.deadlines();
        this.conversation = newConversation();
        this.probe = new DeliveryId(background.newId());
    }

    private Conversation newConversation() {
        return new Conversation(deadlines, this::report, background::nanoTime);
    }

    // ---- the caller's side

    @Override
    public void know(KnowledgeQuestion question) {
        serially(() -> {
            move(Stage.KNOWING, "asked");
            background.run(threadName("know"), () -> findOut(question));
        });
    }

    @Override
    public void start(StartPlan wish) {
        serially(() -> {
            plan = wish;
            nativeSession = wish.nativeSession();
            resuming = wish.resume();
            wish.catchUp().ifPresent(catchUp -> probe = catchUp.id());
            move(Stage.SPAWNING, "asked");
            startDue = OptionalLong.of(background.nanoTime() + deadlines.start().toNanos());
            spawn();
        });
    }

    @Override
    public void tell(Line line) {
        serially(() -> {
            if (stage == Stage.STOPPING || stage == Stage.ENDED) {
                report(new Report.Noticed("line_dropped", line.id() + ": the agent is " + stage));
                return;
            }
            require(Stage.READY, "told a line");
            conversation.told(line.id());
            link().send(codec.userLine(line), false);
        });
    }

    @Override
    public void interrupt(long turn) {
        serially(() -> {
            if (stage != Stage.READY) {
                return;
            }
            link().control()
                    .ask(
                            ControlChannel.request("interrupt"),
                            background.nanoTime(),
                            deadlines.interrupt(),
                            this::interruptAnswered);
        });
    }

    @Override
    public void answer(String callId, ToolAnswer answer) {
        serially(() -> {
            if (connection != null) {
                connection.tools().answer(callId, answer);
            }
        });
    }

    @Override
    public void stop(StopMode mode) {
        serially(() -> {
            switch (stage) {
                case NEW, KNOWN -> end("stopped before it was started", "", "");
                case KNOWING, SPAWNING -> {
                    stopMode = mode;
                    move(Stage.STOPPING, "asked");
                }
                case GREETING, PROBING, READY -> stopProcess(mode, "asked");
                case STOPPING, ENDED -> {}
            }
        });
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
        } catch (RuntimeException e) {
            failed = "asking what the agent has failed: " + e;
        }
        String problem = failed;
        Knowledge answer = found;
        serially(() -> {
            if (stage == Stage.STOPPING) {
                end("stopped before it was started", "", "");
            } else if (!problem.isEmpty()) {
                end(problem, "", "");
            } else {
                knowledge = answer;
                move(Stage.KNOWN, answer.record().toString());
                report(new Report.Known(answer));
            }
        });
    }

    // ---- start

    private void spawn() {
        triedStarts.add(startKey());
        String session = nativeSession;
        boolean resume = resuming;
        background.run(threadName("start"), () -> spawn(session, resume));
    }

    private String startKey() {
        return (resuming ? "resume " : "create ") + nativeSession;
    }

    /** On a thread of its own. */
    private void spawn(String session, boolean resume) {
        var life = new Life();
        try {
            Command command = place.command(session, resume);
            serially(() -> adopt(life));
            AgentProcess process = source.start(command, launch, life);
            serially(() -> spawned(life, process));
        } catch (CannotStart e) {
            serially(() -> end(String.valueOf(e.getMessage()), e.fatal(), ""));
        } catch (RuntimeException e) {
            serially(() -> end("starting the agent failed: " + e, "", ""));
        }
    }

    private void adopt(Life life) {
        connection = life.connection;
        conversation = newConversation();
        probeInit = null;
        probeAnswered = false;
        refusal = Refusal.NONE;
    }

    private void spawned(Life life, AgentProcess process) {
        if (life.over) {
            return;
        }
        life.connection.attach(process);
        report(new Report.Started(process.pid()));
        if (stage == Stage.STOPPING) {
            process.stop(stopMode);
            return;
        }
        if (stage != Stage.SPAWNING) {
            return;
        }
        move(Stage.GREETING, "pid " + process.pid());
        ObjectNode hello = ControlChannel.request("initialize");
        agent.systemPrompt().ifPresent(prompt -> hello.put("systemPrompt", prompt));
        life.connection.control().ask(hello, background.nanoTime(), deadlines.start(), this::greeted);
    }

    private void greeted(Answer answer) {
        if (stage != Stage.GREETING) {
            return;
        }
        switch (answer) {
            case Answer.Success success -> {
                if (loggedOut(success.response().path("account"))) {
                    fail(
                            "not_logged_in",
                            "Claude Code is not logged in: run 'claude' once and log in, or give an"
                                    + " inference URL and key");
                    return;
                }
                move(Stage.PROBING, "greeted");
                sendProbe();
            }
            case Answer.Refused refused ->
                fail("wrong_version", "Claude Code refused to be greeted: " + refused.error() + "; update it");
            case Answer.Expired expired -> {}
            case Answer.Closed closed -> {}
        }
    }

    private static boolean loggedOut(JsonNode account) {
        return StreamJson.text(account, "tokenSource").equals("none")
                && StreamJson.text(account, "apiProvider").equals("firstParty")
                && StreamJson.text(account, "apiKeySource").isEmpty();
    }

    private void sendProbe() {
        boolean telling = plan != null && plan.catchUp().isPresent() && !probeSeenBefore;
        List<String> texts = telling && plan != null
                ? plan.catchUp().map(StartPlan.CatchUp::text).stream().toList()
                : List.of();
        link().send(codec.probeLine(probe, texts, NEUTRAL_NOTE), false);
    }

    /** Takes a frame before the tool list was found right; nothing of it goes on. */
    private void probing(Frame frame) {
        conversation.beforeVerified(frame);
        boolean idle = frame instanceof Frame.State state && state.state().equals("idle");
        switch (frame) {
            case Frame.Init init -> {
                probeInit = init;
                checkTools(init);
            }
            case Frame.Result result -> probeResult(result);
            default -> {}
        }
        if (stage != Stage.PROBING) {
            return;
        }
        if (idle && probeInit == null && !probeSeenBefore) {
            probeAgain();
        } else if (probeInit != null && probeAnswered && (idle || !conversation.announcesStates())) {
            ready(probeInit);
        }
    }

    /** The agent knew the line's id from before and showed nothing; its text is remembered, so another line will do. */
    private void probeAgain() {
        report(new Report.Noticed("deduplicated", probe.toString()));
        probeSeenBefore = true;
        probe = new DeliveryId(background.newId());
        sendProbe();
    }

    private void probeResult(Frame.Result result) {
        if (result.error()) {
            String why = result.errors().isEmpty() ? result.text() : String.join("; ", result.errors());
            noteRefusal(why);
            if (endReason.isEmpty() && refusal == Refusal.NONE) {
                endReason = "the agent failed at its start: " + why;
            }
        } else if (stage == Stage.PROBING && result.turns() > 0) {
            fail("wrong_version", "this version of Claude Code answers a line that asks for no answer; update it");
        } else {
            probeAnswered = true;
        }
    }

    private void ready(Frame.Init init) {
        verified = true;
        startDue = OptionalLong.empty();
        move(Stage.READY, init.version());
        link().tools().open();
        report(new Report.Verified(init.version(), init.session()));
    }

    // ---- the tool list

    private void checkTools(Frame.Init init) {
        Set<String> bound = link().tools().listed();
        var missing = new ArrayList<String>();
        bound.stream().filter(tool -> !init.tools().contains(tool)).forEach(missing::add);
        var surplus = new ArrayList<String>();
        init.tools().stream().filter(tool -> !bound.contains(tool)).forEach(surplus::add);
        init.servers().stream()
                .filter(name -> !name.equals(HostTools.SERVER))
                .forEach(name -> surplus.add("server " + name));
        init.plugins().forEach(name -> surplus.add("plugin " + name));
        init.skills().forEach(name -> surplus.add("skill " + name));
        if (missing.isEmpty() && surplus.isEmpty()) {
            return;
        }
        verified = false;
        report(new Report.Mismatch(missing, surplus));
        fail("tools_mismatch", "the agent's tools are not the bound ones: missing " + missing + ", surplus " + surplus);
    }

    // ---- frames

    private void frame(Frame frame) {
        if (verified) {
            if (frame instanceof Frame.Init init) {
                checkTools(init);
            }
            if (verified) {
                conversation.frame(frame);
            }
        } else if (stage == Stage.GREETING || stage == Stage.PROBING) {
            probing(frame);
        }
    }

    private void interruptAnswered(Answer answer) {
        switch (answer) {
            case Answer.Success success -> report(new Report.InterruptAnswered());
            case Answer.Refused refused -> {
                report(new Report.Noticed("interrupt_refused", refused.error()));
                report(new Report.InterruptAnswered());
            }
            case Answer.Expired expired -> report(new Report.Breached("interrupt"));
            case Answer.Closed closed -> {}
        }
    }

    // ---- the end

    /** Ends the agent for a reason of our own. */
    private void fail(String fatal, String why) {
        endFatal = fatal;
        endReason = why;
        stopProcess(StopMode.BUSY, why);
    }

    private void stopProcess(StopMode mode, String why) {
        if (!stage.running()) {
            return;
        }
        move(Stage.STOPPING, why);
        startDue = OptionalLong.empty();
        AgentProcess process = link().process();
        if (process != null) {
            process.stop(mode);
        }
    }

    private void outputEnded(Life life) {
        life.connection.close("the agent's output has ended");
        silentEndDue = OptionalLong.of(background.nanoTime() + SILENT_END.toNanos());
    }

    private void gone(Exit exit) {
        noteRefusal(exit.stderrTail());
        boolean starting = stage == Stage.GREETING || stage == Stage.PROBING || stage == Stage.SPAWNING;
        if (starting && endReason.isEmpty() && refusal != Refusal.NONE && otherStart()) {
            report(new Report.Noticed("start_refused", exit.stderrTail().strip()));
            silentEndDue = OptionalLong.empty();
            if (stage != Stage.SPAWNING) {
                move(Stage.SPAWNING, "again: " + startKey());
            }
            spawn();
            return;
        }
        if (endFatal.isEmpty() && starting && exit.stderrTail().contains("unknown option")) {
            endFatal = "wrong_version";
            endReason = "this version of Claude Code lacks what is needed; update it";
        }
        String why = endReason.isEmpty() ? exit.why() : endReason + " (" + exit.why() + ")";
        end(exit.allDead() ? why : why + "; something it had started is still alive", endFatal, exit.stderrTail());
    }

    private void noteRefusal(String said) {
        if (said.contains("No conversation found")) {
            refusal = Refusal.NO_SUCH_SESSION;
        } else if (said.contains("is already in use")) {
            refusal = Refusal.IN_USE;
        }
    }

    /**
     * Chooses the other way to start, once each (HS-06). A memory that was read and is now refused is not replaced by an
     * empty one here: that must be asked for with what is to be re-told. A record nobody knows of is left alone: a fresh
     * start over it takes a new id.
     */
    private boolean otherStart() {
        boolean remembered = knowledge.coversTurn() > 0 || !knowledge.present().isEmpty();
        if (refusal == Refusal.NO_SUCH_SESSION && resuming && !remembered) {
            resuming = false;
        } else if (refusal == Refusal.IN_USE && !resuming && knowledge.record() != RecordState.PRESENT) {
            nativeSession = background.newId().toString();
        } else {
            return false;
        }
        return triedStarts.size() < 3 && !triedStarts.contains(startKey());
    }

    private void end(String why, String fatal, String stderrTail) {
        if (stage == Stage.ENDED) {
            return;
        }
        if (connection != null) {
            connection.close("the agent is gone");
        }
        move(Stage.ENDED, why);
        report(new Report.Ended(why, fatal, stderrTail));
    }

    // ---- alarms

    private void sound() {
        alarm = OptionalLong.empty();
        if (stage == Stage.ENDED) {
            return;
        }
        long now = background.nanoTime();
        if (passed(startDue, now)) {
            startDue = OptionalLong.empty();
            startTooSlow();
        }
        if (passed(silentEndDue, now)) {
            silentEndDue = OptionalLong.empty();
            stopProcess(StopMode.BUSY, "the output has ended and the process lives");
        }
        if (connection != null) {
            connection.control().expire(now);
        }
        conversation.vigil().breached(now).ifPresent(name -> report(new Report.Breached(name)));
    }

    private void startTooSlow() {
        String at = stage.toString().toLowerCase(java.util.Locale.ROOT);
        report(new Report.Breached("start"));
        endReason = "the start did not finish within " + deadlines.start().toSeconds() + " s; it hung at " + at;
        if (stage == Stage.SPAWNING) {
            stopMode = StopMode.BUSY;
            move(Stage.STOPPING, endReason);
        } else {
            stopProcess(StopMode.BUSY, endReason);
        }
    }

    private static boolean passed(OptionalLong due, long now) {
        return due.isPresent() && now - due.getAsLong() >= 0;
    }

    /** Sets the one alarm to the nearest due time; an alarm that comes too early just sets the next one. */
    private void setAlarm() {
        if (stage == Stage.ENDED) {
            return;
        }
        long now = background.nanoTime();
        OptionalLong control =
                connection == null ? OptionalLong.empty() : connection.control().dueNanos();
        OptionalLong nearest = List.of(
                        startDue, silentEndDue, control, conversation.vigil().dueNanos())
                .stream()
                .flatMapToLong(due -> due.isPresent() ? LongStream.of(due.getAsLong() - now) : LongStream.empty())
                .min();
        if (nearest.isPresent() && (alarm.isEmpty() || now + nearest.getAsLong() - alarm.getAsLong() < 0)) {
            alarm = OptionalLong.of(now + nearest.getAsLong());
            background.after(Duration.ofNanos(Math.max(0, nearest.getAsLong())), () -> serially(this::sound));
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
        outbox.deliver();
    }

    private void report(Report report) {
        if (stage != Stage.ENDED || report instanceof Report.Ended) {
            outbox.put(report);
        }
    }

    private void move(Stage next, String why) {
        history.add(stage + " to " + next + " (" + why + ")");
        if (history.size() > HISTORY_MAX) {
            history.removeFirst();
        }
        if (!stage.mayBecome(next)) {
            throw new IllegalStateException(
                    "the attachment of session '" + launch.session() + "' cannot go on like this: " + history);
        }
        stage = next;
    }

    private void require(Stage needed, String what) {
        if (stage != needed) {
            throw new IllegalStateException("the attachment of session '" + launch.session() + "' was " + what + " in "
                    + stage + "; wait for " + needed + ". So far: " + history);
        }
    }

    private Connection link() {
        Connection now = connection;
        if (now == null) {
            throw new IllegalStateException("the attachment of session '" + launch.session() + "' has no process yet");
        }
        return now;
    }

    private String threadName(String what) {
        return "holdfast-claude-" + what + "-" + launch.session();
    }

    /** One process of this incarnation, as its threads tell of it; one that was replaced is not listened to. */
    private final class Life implements AgentProcess.Listener {
        private final Connection connection = new Connection(
                codec,
                launch.tools(),
                new LinkedHashSet<>(agent.builtinTools()),
                ClaudeAttachment.this::frame,
                ClaudeAttachment.this::report);

        private boolean over;

        private void heard(Runnable what) {
            serially(() -> {
                if (ClaudeAttachment.this.connection == connection) {
                    what.run();
                }
            });
        }

        @Override
        public void line(String text) {
            heard(() -> connection.received(text));
        }

        @Override
        public void skipped(long bytes, String why) {
            heard(() -> {
                report(new Report.Noticed("line_skipped", bytes + " bytes: " + why));
                conversation.lineSkipped();
            });
        }

        @Override
        public void lineLost(String why) {
            heard(() -> report(new Report.Noticed("write_failed", why)));
        }

        @Override
        public void endOfOutput() {
            heard(() -> outputEnded(this));
        }

        @Override
        public void step(String what, String detail) {
            heard(() -> report(new Report.Noticed(what, detail)));
        }

        @Override
        public void gone(Exit exit) {
            heard(() -> {
                over = true;
                ClaudeAttachment.this.gone(exit);
            });
        }
    }
}
