package dev.holdfast.cli;

import dev.holdfast.JournalReader;
import dev.holdfast.SessionName;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.core.Event;
import dev.holdfast.runtime.EventCodec;
import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which agent a session runs on, and where it finds its model. */
final class AgentOptions {
    private static final String HOLDFAST_CLAUDE = "HOLDFAST_CLAUDE";
    private static final String URL = "HOLDFAST_INFERENCE_URL";
    private static final String KEY = "HOLDFAST_INFERENCE_KEY";

    @Option(
            names = "--agent",
            paramLabel = "NAME",
            description = "claude (Claude Code), or scripted (a child process that echoes; for trying things out)."
                    + " Default: what the session began with, else claude.")
    private Optional<Kind> kind = Optional.empty();

    @Option(names = "--model", paramLabel = "MODEL", description = "The model's name or alias. Default: the agent's.")
    private Optional<String> model = Optional.empty();

    @Option(
            names = "--claude",
            paramLabel = "PATH",
            description = "The Claude Code program. Default: HOLDFAST_CLAUDE, else 'claude' on the PATH.")
    private Optional<Path> claude = Optional.empty();

    @Option(
            names = "--inference-url",
            paramLabel = "URL",
            description = "Where the model is served, always with a key. Default: HOLDFAST_INFERENCE_URL, else the"
                    + " agent's own login is used.")
    private Optional<String> inferenceUrl = Optional.empty();

    @Option(
            names = "--inference-key-file",
            paramLabel = "FILE",
            description = "A file that holds the key for that URL. Default: the variable HOLDFAST_INFERENCE_KEY.")
    private Optional<Path> inferenceKeyFile = Optional.empty();

    @Option(
            names = "--guard",
            paramLabel = "FILE",
            description = "Rules for calls of tools, as JSON: allow, deny, ask, unattended-deny. Default: all may run.")
    private Optional<Path> guard = Optional.empty();

    /** What a session records that was begun by somebody without an agent: a reader, or an order that came first. */
    private static final String NO_AGENT = "none";

    /** The agents a session can run on; the names are what sessions record. */
    enum Kind {
        claude,
        scripted
    }

    /** These options with the rules that were named; read before anything is sent. */
    Options guarded(Options options) {
        try {
            return guard.map(GuardPolicy::read).map(options::guard).orElse(options);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(Exit.USAGE, "usage", String.valueOf(e.getMessage()));
        }
    }

    /** The agent of the session: the one it began with, else the one asked for; one begun without any takes what is named. */
    ClaudeCodeAgent agent(Shell shell, Path data, SessionName session, JournalReader journal) {
        var recorded = recorded(session, journal);
        if (recorded.filter(NO_AGENT::equals).isPresent()) {
            if (kind.isEmpty()) {
                throw new CommandFailed(
                        Exit.SESSION,
                        "session",
                        "session " + session + " was begun without an agent: name one with --agent, or leave it to the"
                                + " program that reads it");
            }
            recorded = Optional.empty();
        }
        if (recorded.isPresent()
                && kind.isPresent()
                && !recorded.get().equals(kind.get().name())) {
            throw new CommandFailed(
                    Exit.USAGE,
                    "usage",
                    "session " + session + " runs on the agent '" + recorded.get() + "', not on '"
                            + kind.get().name() + "'; leave --agent out, or choose another session name");
        }
        return switch (recorded.orElse(kind.orElse(Kind.claude).name())) {
            case "scripted" -> scripted(ScriptedAgent.worst(), data, session);
            case "claude" -> claude(shell);
            default ->
                throw new CommandFailed(
                        Exit.SESSION,
                        "session",
                        "session " + session + " runs on the agent '" + recorded.orElse("")
                                + "', which this command cannot start; talk to it through the program that made it");
        };
    }

    private static Optional<String> recorded(SessionName session, JournalReader journal) {
        if (Waiting.on(journal.session(session)).isEmpty()) {
            return Optional.empty();
        }
        var first = Waiting.on(journal.events(session, 0, 1));
        return first.stream()
                .map(new EventCodec()::decode)
                .filter(Event.SessionOpened.class::isInstance)
                .map(e -> ((Event.SessionOpened) e).harness())
                .findFirst();
    }

    /** A scripted agent whose program, record and settings lie below the data directory. */
    static ClaudeCodeAgent scripted(ScriptedAgent script, Path data, SessionName session) {
        try {
            Path place = Files.createDirectories(scriptedPlace(data, session));
            return ClaudeCode.agent()
                    .harnessName(Kind.scripted.name())
                    .binary(script.writeExecutable(place.resolve("agent")))
                    .configDirectory(place.resolve("config"));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot prepare the scripted agent in " + data, e);
        }
    }

    private static Path scriptedPlace(Path data, SessionName session) {
        return data.resolve("scripted").resolve(session.value());
    }

    private ClaudeCodeAgent claude(Shell shell) {
        String key = inferenceKeyFile.map(AgentOptions::keyIn).orElse(shell.variable(KEY));
        String url = url(shell, !key.isBlank());
        var agent = modelled(ClaudeCode.agent().binary(program(shell)));
        return url.isBlank() ? agent : agent.inference(url, key);
    }

    private ClaudeCodeAgent modelled(ClaudeCodeAgent agent) {
        return model.map(agent::model).orElse(agent);
    }

    /** Where the model is served; empty for the agent's own login. */
    private String url(Shell shell, boolean keyed) {
        String url = inferenceUrl.orElse(shell.variable(URL));
        if (url.isBlank() == keyed) {
            throw new CommandFailed(
                    Exit.USAGE,
                    "usage",
                    url.isBlank()
                            ? "there is an inference key but no URL: give both or none (--inference-url or " + URL + ")"
                            : "there is an inference URL but no key: give both or none (--inference-key-file or " + KEY
                                    + ")");
        }
        return url;
    }

    /**
     * The agent that would be started, for a start that sends nothing.
     *
     * @param url where its model is served; empty when it has a login of its own, or needs none
     * @param needsLogin false for the scripted one
     */
    record Candidate(ClaudeCodeAgent agent, Path program, String url, boolean needsLogin) {}

    /**
     * That agent, with a made-up key in place of the real one, which is not read.
     *
     * @param home for the scripted agent's program and settings
     */
    Candidate candidate(Shell shell, Path home) {
        if (kind.orElse(Kind.claude) == Kind.scripted) {
            var session = new SessionName("doctor");
            var agent = scripted(ScriptedAgent.worst(), home, session);
            return new Candidate(agent, scriptedPlace(home, session).resolve("agent"), "", false);
        }
        boolean keyed = inferenceKeyFile.isPresent() || !shell.variable(KEY).isBlank();
        String url = url(shell, keyed);
        inferenceKeyFile.filter(file -> !Files.isReadable(file)).ifPresent(file -> {
            throw new CommandFailed(Exit.USAGE, "usage", "the inference key file " + file + " cannot be read");
        });
        Path program = program(shell);
        var agent = modelled(ClaudeCode.agent().binary(program));
        return new Candidate(url.isBlank() ? agent : agent.inference(url, "no-key"), program, url, url.isBlank());
    }

    private static String keyIn(Path file) {
        try {
            String key = Files.readString(file, StandardCharsets.UTF_8).strip();
            if (key.isEmpty()) {
                throw new CommandFailed(Exit.USAGE, "usage", "the inference key file " + file + " is empty");
            }
            return key;
        } catch (IOException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "the inference key file " + file + " cannot be read: " + e);
        }
    }

    /** Looked for before anything is sent, so that a missing program leaves no message behind. */
    private Path program(Shell shell) {
        if (claude.isPresent()) {
            return executable(claude.get(), "--claude names ");
        }
        if (!shell.variable(HOLDFAST_CLAUDE).isEmpty()) {
            return executable(Path.of(shell.variable(HOLDFAST_CLAUDE)), HOLDFAST_CLAUDE + " names ");
        }
        for (String folder : shell.variable("PATH").split(java.io.File.pathSeparator, -1)) {
            Path candidate = Path.of(folder).resolve("claude");
            if (!folder.isEmpty() && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        throw notFound("there is no 'claude' on the PATH: install Claude Code, or name it with --claude PATH or "
                + HOLDFAST_CLAUDE + ". Try '--agent scripted' without one");
    }

    private static Path executable(Path named, String who) {
        if (!Files.isRegularFile(named) || !Files.isExecutable(named)) {
            throw notFound(who + named + ", which is no executable file: name the Claude Code program");
        }
        return named.toAbsolutePath();
    }

    private static CommandFailed notFound(String why) {
        return new CommandFailed(Exit.AGENT_UNAVAILABLE, "not_found", why + ". Nothing was sent.");
    }
}
