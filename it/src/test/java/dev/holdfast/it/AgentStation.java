package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AgentTool;
import dev.holdfast.Author;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionPolicy;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.Deadlines;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.DoorRules;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

/** A session with the scripted agent, on real files and in this JVM. Closing opens every gate first. */
final class AgentStation implements AutoCloseable {
    private static final String FLAGS_END = " \"$@\"\n";

    private final Path directory;
    private final ScriptedAgent agent;
    private final Path program;
    private final Path log;
    private final Set<String> gates = new HashSet<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private SessionPolicy policy = SessionPolicy.standard();
    private Options options = Options.standard();
    private Deadlines deadlines = Deadlines.standard();
    private String[] builtins = {};
    private volatile String registered = "";
    private Holdfast host;
    private Session session;

    AgentStation(Path directory, ModelScript script) {
        this(directory, script, "");
    }

    /** @param flags of the command line that the host does not know of, as a user may have them in a wrapper */
    AgentStation(Path directory, ModelScript script, String flags) {
        this(directory, script, flags, AgentProfile.v197());
    }

    /** @param profile which version the agent plays */
    AgentStation(Path directory, ModelScript script, String flags, AgentProfile profile) {
        this.directory = directory;
        log = directory.resolve("model.log");
        try {
            Path scenario = Files.writeString(directory.resolve("scenario"), script.scenario());
            agent = ScriptedAgent.of(profile)
                    .modelLog(log)
                    .scenario(scenario)
                    .gates(Files.createDirectories(directory.resolve("gates")));
            program = agent.writeExecutable(directory.resolve("agent"));
            if (!flags.isEmpty()) {
                String start = Files.readString(program);
                Files.writeString(program, start.replace(FLAGS_END, " " + flags + FLAGS_END));
                Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A further line of the scenario. */
    AgentStation also(String line) {
        try {
            Files.writeString(directory.resolve("scenario"), line + "\n", StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    AgentStation policy(SessionPolicy next) {
        policy = next;
        return this;
    }

    AgentStation limits(Limits limits) {
        options = options.limits(limits);
        return this;
    }

    AgentStation deadlines(Deadlines next) {
        deadlines = next;
        return this;
    }

    /** The agent's own tools, which can wake it by themselves. */
    AgentStation builtins(String... names) {
        builtins = names;
        return this;
    }

    AgentStation door(UnaryOperator<DoorRules> change) {
        options = options.door(change.apply(options.door()));
        return this;
    }

    AgentStation processes(int most) {
        options = options.processes(most);
        return this;
    }

    /** What the tool {@code login} knows. */
    void registered(String secret) {
        registered = secret;
    }

    /** Takes the session up. */
    AgentStation open() {
        host = Holdfast.open(SqliteJournal.at(directory.resolve("data")), options);
        session = session("held");
        return this;
    }

    /** A session of this name, with the same agent. */
    Session session(String name) {
        var claude = ClaudeCode.agent()
                .binary(program)
                .inference("http://127.0.0.1:9", "sk-fake")
                .deadlines(deadlines)
                .builtinTools(builtins)
                .tools(new Tools());
        return host.session(new dev.holdfast.SessionName(name), claude, policy);
    }

    void restart() {
        host.close();
        open();
    }

    Holdfast host() {
        return host;
    }

    Session session() {
        return session;
    }

    Station.Events events() {
        return Station.events(session);
    }

    long send(String text) {
        return send(Message.of(text));
    }

    long send(Message message) {
        return Station.stored(session.send(message)).number();
    }

    long send(String text, Author author) {
        return send(Message.of(text).author(author));
    }

    Reply reply(long number) {
        return Station.now(session.reply(number));
    }

    Reply ask(String text) {
        return reply(send(text));
    }

    /** Waits until the model stands at this gate. */
    void awaitGate(String name) {
        try {
            assertThat(gate(name).awaitReached(Duration.ofSeconds(60)))
                    .as("the model came to gate " + name)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    Gate gate(String name) {
        gates.add(name);
        return agent.gate(name);
    }

    /** Lets the tool {@code hold} end. */
    void release() {
        released.countDown();
    }

    /** What the model was shown, call by call. */
    List<Conversation> shown() {
        return Files.exists(log) ? Conversation.allIn(log) : List.of();
    }

    Conversation lastShown() {
        return shown().getLast();
    }

    /** How many agents of this station live. */
    long agents() {
        return mine().size();
    }

    /** kill -9 of the agents of this station; how many there were. */
    long killAgents() {
        var mine = mine();
        mine.forEach(ProcessHandle::destroyForcibly);
        return mine.size();
    }

    private List<ProcessHandle> mine() {
        return ProcessHandle.current()
                .descendants()
                .filter(p -> p.info().arguments().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(a -> a.contains(directory.resolve("scenario").toString())))
                .toList();
    }

    static Receipt.Stored stored(Receipt receipt) {
        return Station.stored(receipt);
    }

    @Override
    public void close() {
        release();
        gates.forEach(name -> agent.gate(name).open());
        host.close();
    }

    /** The tools of this host. */
    public final class Tools {
        @AgentTool("Waits for the test")
        public String hold(String text) throws InterruptedException {
            released.await();
            return "held " + text;
        }

        @AgentTool("Fails, and says everything it knows")
        public String login(String password, String note) {
            if (!password.isEmpty()) {
                throw new IllegalStateException("no login with " + password + " and " + note + " at " + registered);
            }
            return "hello";
        }

        @AgentTool("Does a step")
        public String step(String text) {
            return "did " + text;
        }
    }
}
