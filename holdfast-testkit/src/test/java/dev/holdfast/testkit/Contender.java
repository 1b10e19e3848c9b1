package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/** One agent in a comparison: the scripted one, or a real command line in front of a scripted Messages API. */
final class Contender implements AutoCloseable {
    private final Path home;
    private final List<String> program;
    private final Map<String, String> variables = new HashMap<>();
    private final Optional<ScriptedMessagesApi> api;
    private final ScriptedAgent agent;
    private final List<TestHost> started = new ArrayList<>();
    private final Map<String, String> names = new HashMap<>();
    private TestHost.Answers answers = TestHost::serve;
    private List<String> flags = TestHost.FLAGS;

    private Contender(Path home, List<String> program, Optional<ScriptedMessagesApi> api, ScriptedAgent agent) {
        this.home = home;
        this.program = program;
        this.api = api;
        this.agent = agent;
    }

    static Contender scripted(AgentProfile profile) {
        Path home = freshHome();
        Path gates = home.resolve("gates");
        create(gates);
        ScriptedAgent agent =
                ScriptedAgent.of(profile).modelLog(home.resolve("model.log")).gates(gates);
        return new Contender(home, agent.command(), Optional.empty(), agent);
    }

    static Contender scripted(ScriptedAgent agent) {
        return new Contender(freshHome(), agent.command(), Optional.empty(), agent);
    }

    /** The real command line of a version; empty when it is not there. */
    static Optional<Path> binary(String version) {
        Path binary = Path.of("..", "target", "cli", version, "claude")
                .toAbsolutePath()
                .normalize();
        return Files.isExecutable(binary) ? Optional.of(binary) : Optional.empty();
    }

    static Contender real(Path binary) {
        ScriptedMessagesApi api = ScriptedMessagesApi.start();
        Contender contender =
                new Contender(freshHome(), List.of(binary.toString()), Optional.of(api), ScriptedAgent.worst());
        contender.variables.put("ANTHROPIC_BASE_URL", api.url().toString());
        contender.variables.put("ANTHROPIC_API_KEY", "sk-fake");
        contender.variables.put("DISABLE_TELEMETRY", "1");
        contender.variables.put("DISABLE_AUTOUPDATER", "1");
        contender.variables.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        return contender;
    }

    private static Path freshHome() {
        try {
            return Files.createTempDirectory("holdfast-testkit-").toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot make a home", e);
        }
    }

    private static void create(Path directory) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot create " + directory, e);
        }
    }

    Path home() {
        return home;
    }

    Path work() {
        Path work = home.resolve("work");
        create(work);
        return work;
    }

    Contender answering(TestHost.Answers how) {
        answers = how;
        return this;
    }

    Contender variable(String name, String value) {
        variables.put(name, value);
        return this;
    }

    /** Leaves out every flag that begins like this. */
    Contender without(String prefix) {
        flags = flags.stream().filter(flag -> !flag.startsWith(prefix)).toList();
        return this;
    }

    Gate gate(String name) {
        return api.isPresent() ? api.get().gate(name) : agent.gate(name);
    }

    static String newSession() {
        return UUID.randomUUID().toString();
    }

    /** Starts a process without talking to it. */
    TestHost launch(String... more) {
        List<String> command = new ArrayList<>(program);
        command.addAll(flags);
        command.addAll(List.of(more));
        TestHost host = TestHost.start(command, home, variables, answers);
        names.forEach((uuid, name) -> host.name(uuid, name));
        started.add(host);
        return host;
    }

    /** Starts a process and passes the control handshake and a probe. */
    TestHost start(String... more) {
        TestHost host = launch(more);
        String id = host.initialize();
        host.awaitAnswer(id);
        int from = host.mark();
        host.probe("probe", "probe");
        host.awaitIdle(from);
        return host;
    }

    List<Conversation> shown() {
        return api.isPresent()
                ? api.get().requests().stream().map(ModelRequest::conversation).toList()
                : Conversation.allIn(home.resolve("model.log"));
    }

    Conversation lastShown() {
        return shown().getLast();
    }

    /** The user's words as the model saw them last, the agent's own words about commands shortened. */
    List<String> lastWords() {
        List<String> words = new ArrayList<>();
        for (String text : lastShown().userTexts()) {
            if (!text.startsWith("<local-command-caveat>") && !text.startsWith("This session is being continued")) {
                words.add(text.startsWith("<") ? text.substring(0, Math.min(text.length(), 18)) : text);
            }
        }
        return words;
    }

    Path record(String sessionId) {
        String slug = SessionRecord.slug(work().toString());
        return home.resolve(".claude").resolve("projects").resolve(slug).resolve(sessionId + ".jsonl");
    }

    List<Json> recordLines(String sessionId) {
        Path file = record(sessionId);
        List<Json> lines = new ArrayList<>();
        if (!Files.exists(file)) {
            return lines;
        }
        try {
            for (String line : Files.readString(file).split("\n", -1)) {
                if (!line.isBlank()) {
                    lines.add(Json.read(line));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file, e);
        }
        return lines;
    }

    List<String> recordLabels(String sessionId) {
        for (TestHost host : started) {
            names.putAll(host.names());
        }
        return FrameLabels.ofRecord(recordLines(sessionId), names);
    }

    @Override
    public void close() {
        for (TestHost host : started) {
            host.close();
        }
        api.ifPresent(ScriptedMessagesApi::close);
        for (TestHost host : started) {
            host.awaitExit();
        }
        delete(home);
    }

    /** What a dying agent still writes there is no failure of the test. */
    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException stillWritten) {
            directory.toFile().deleteOnExit();
        }
    }
}
