package dev.holdfast.cli;

import dev.holdfast.Author;
import dev.holdfast.JournalException;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.core.Event;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/**
 * {@code holdfast demo}: a scripted agent in a durable session, a Java tool, a {@code kill -9} in the middle of an
 * answer, and the conversation going on. Every promise it shows is checked; the exit code says whether all held.
 */
@Command(
        name = "demo",
        description = {
            "A scripted agent, a tool call, a kill -9 in mid-answer, and the conversation going on.",
            "Needs no account and no network. Keeps its store in --data DIR; without one it uses a temporary directory,"
                    + " which stays only when a promise was broken."
        })
final class DemoCommand implements Callable<Integer> {
    static final List<String> WORDS = List.of(
            "Where is order 7?", "Please write that to the customer.", "Thank you. Did you lose anything on the way?");
    private static final String GATE = "half";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    /** Longer than the scripted agent's record lags behind, so that the dead agent's record holds the message. */
    private static final Duration BEFORE_THE_KILL = Duration.ofMillis(900);

    /** What the agent's model does: the second answer stops at a gate, and there its process is killed. */
    private static final String SCENARIO = """
            contains order 7: [[tool mcp__host__find_order {"id":7}]]
            contains order 7: [[say Order 7, a brass anchor, was shipped on Monday and arrives on Thursday.]]
            contains write that: [[say Dear customer, your brass anchor left our house on Monday]] [[gate half]]
            contains write that: [[say , and arrives on Thursday. Kind regards, the order desk]]
            contains process was restarted: [[say … and it arrives on Thursday. Kind regards, the order desk]]
            contains lose anything: [[say Not a word. I remember both of your messages, each of them once.]]
            """;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    private final List<Long> pids = new CopyOnWriteArrayList<>();

    /** A person wants the demo to end. */
    private static final class Left extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final int exit;

        Left(int exit) {
            super("the demo was left");
            this.exit = exit;
        }
    }

    @Override
    public Integer call() throws IOException {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        if (globals.namedData().isPresent()) {
            return shown(globals, globals.data(), true);
        }
        Path data = Files.createTempDirectory("holdfast-demo-");
        int exit = shown(globals, data, false);
        if (exit != Exit.TURN_FAILED) {
            remove(data); // what a broken promise left is evidence
        }
        return exit;
    }

    /** @param kept whether its store is there afterwards, all being well */
    private int shown(GlobalOptions globals, Path data, boolean kept) throws IOException {
        var screen = globals.screen();
        var name = freeName(data);
        Path place = place(data, name);
        var script = ScriptedAgent.worst()
                .scenario(place.resolve("scenario"))
                .gates(place)
                .modelLog(place.resolve("model.log"));
        var stage = new DemoStage(screen);
        var live = new LiveAnswer(screen, screen, (seq, event) -> told(seq, event, stage), !screen.json());
        stage.attach(live);
        var desk = new OrderDesk(stage::tool);
        stage.opening(data, name);
        try (var departure = Departure.atOnce();
                var hosted = Hosted.open(
                        globals,
                        data,
                        new Store.InDirectory(data),
                        name,
                        journal -> AgentOptions.scripted(script, data, name).tools(desk),
                        options -> options,
                        live)) {
            play(hosted, script, stage, departure);
            var promises = new DemoPromises(hosted, name, WORDS, place.resolve("model.log"), desk, pids);
            stage.heading("4", "Every promise, checked against the journal and against what the model was shown");
            boolean held = promises.check(stage);
            stage.closing(data, name, held, kept || !held);
            return held ? Exit.OK : Exit.TURN_FAILED;
        } catch (Left left) {
            return left.exit;
        }
    }

    private static void remove(Path data) throws IOException {
        try (var all = Files.walk(data)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    private static SessionName freeName(Path data) {
        try (var store = SqliteJournal.readOnly(data)) {
            for (int i = 1; ; i++) {
                var name = new SessionName(i == 1 ? "demo" : "demo-" + i);
                if (Waiting.on(store.session(name)).isEmpty()) {
                    return name;
                }
            }
        } catch (JournalException e) {
            if (e.problem() == JournalException.Problem.NOT_FOUND) {
                return new SessionName("demo");
            }
            throw e;
        }
    }

    private static Path place(Path data, SessionName name) throws IOException {
        Path place = Files.createDirectories(data.resolve("scripted").resolve(name.value()));
        Files.writeString(place.resolve("scenario"), SCENARIO, StandardCharsets.UTF_8);
        return place;
    }

    private void play(Hosted hosted, ScriptedAgent script, DemoStage stage, Departure departure) {
        stage.heading("1", "A question that needs a Java tool");
        say(1, hosted, stage, departure);

        stage.heading("2", "kill -9 in the middle of an answer");
        var answer = send(2, hosted, stage);
        reachGate(script, departure);
        pause(BEFORE_THE_KILL, departure);
        long pid = pids.getLast();
        DemoKill.kill(pid);
        stage.killed(pid);
        script.gate(GATE).open();
        await(answer, departure);
        pause(Duration.ofMillis(300), departure);

        stage.heading("3", "The conversation goes on");
        say(3, hosted, stage, departure);
    }

    private static void reachGate(ScriptedAgent script, Departure departure) {
        var gate = script.gate(GATE);
        for (int waited = 0; !gate.isReached(); waited += 20) {
            if (waited > LIMIT.toMillis()) {
                throw new CommandFailed(
                        Exit.TURN_FAILED,
                        "slow",
                        "the scripted agent did not answer within " + LIMIT.toSeconds()
                                + " s: try again when this machine is less busy");
            }
            pause(Duration.ofMillis(20), departure);
        }
    }

    private void say(int number, Hosted hosted, DemoStage stage, Departure departure) {
        await(send(number, hosted, stage), departure);
        pause(Duration.ofMillis(300), departure);
    }

    static Message message(int number) {
        return Message.of(WORDS.get(number - 1)).key("demo-" + number).author(new Author("you", "demo"));
    }

    private static CompletableFuture<Reply> send(int number, Hosted hosted, DemoStage stage) {
        var message = message(number);
        stage.said(message.text());
        Receipt receipt = hosted.send(message);
        return hosted.end(hosted.accepted(receipt), false);
    }

    private static void await(CompletableFuture<Reply> end, Departure departure) {
        var leaving = departure.asked().thenApply(Optional::<Object>of);
        if (!(Waiting.on(CompletableFuture.anyOf(end, leaving)) instanceof Reply)) {
            throw new Left(departure.asked().join());
        }
    }

    private static void pause(Duration time, Departure departure) {
        departure.within(time).ifPresent(exit -> {
            throw new Left(exit);
        });
    }

    /** What the journal records on the way, as far as a visitor wants to know. */
    private Optional<String> told(long seq, Event event, DemoStage stage) {
        if (event instanceof Event.IncarnationStarted e) {
            pids.add(e.pid());
        }
        boolean recovery = pids.size() > 1
                && (event instanceof Event.IncarnationStarted || event instanceof Event.IncarnationVerified);
        boolean wanted = recovery
                || event instanceof Event.IncarnationEnded
                || event instanceof Event.RestartScheduled
                || event instanceof Event.ContinuationOpened
                || event instanceof Event.TurnReturned
                || event instanceof Event.TurnSettled;
        return wanted ? stage.journal(seq, event) : Optional.empty();
    }

    /** The command that shows it again and keeps its store. */
    static String again() {
        return System.getProperty("holdfast.command", "holdfast") + " demo --data DIR";
    }

    /** A line of the closing words. */
    static Map<String, String> next(Path data, SessionName name) {
        String command = System.getProperty("holdfast.command", "holdfast");
        String at = " --data " + data;
        return Map.of(
                "show", command + " show " + name + at,
                "events", command + " events " + name + at,
                "chat", command + " chat " + name + at);
    }
}
