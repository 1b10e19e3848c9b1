package dev.holdfast.claude;

import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.ToolRelay;
import dev.holdfast.claude.AgentProcess.CannotStart;
import dev.holdfast.claude.AgentProcess.Command;
import dev.holdfast.process.EnvironmentAllowList;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * Where one session's agent lives: its program, working directory, configuration, environment and record. The working
 * directory and the configuration directory name the record, so both are stable over restarts of the host. Blocking.
 */
final class AgentPlace {
    /** The tools are on the agent's own channel. */
    private static final String IN_PROCESS = "{\"mcpServers\":{\"host\":{\"type\":\"sdk\",\"name\":\"host\"}}}";

    /** Longer names of record folders are cut here and end in a digest that only the agent knows. */
    private static final int FOLDER_NAME_MAX = 200;

    private final ClaudeCodeAgent agent;
    private final Launch launch;
    private final Map<String, String> host;
    private final StreamJson codec;

    /** @param host the environment of this JVM, of which only what HS-09 allows goes on */
    AgentPlace(ClaudeCodeAgent agent, Launch launch, Map<String, String> host, StreamJson codec) {
        this.agent = agent;
        this.launch = launch;
        this.host = host;
        this.codec = codec;
    }

    // ---- directories

    private Path sessionHome() {
        return launch.home().resolve("agents").resolve(fileName(launch.session().value()));
    }

    /** A name for a folder: capitals are spelled out, since some file systems do not tell them from small letters. */
    static String fileName(String session) {
        var name = new StringBuilder();
        for (int i = 0; i < session.length(); i++) {
            char c = session.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                name.append('=').append(Character.toLowerCase(c));
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }

    private Path workingDirectory() throws IOException {
        Optional<Path> named = agent.workingDirectory();
        if (named.isEmpty()) {
            return privateDirectory(sessionHome().resolve("work")).toRealPath();
        }
        if (!Files.isDirectory(named.get())) {
            throw new CannotStart(
                    "", "the working directory " + named.get() + " does not exist; create it or name another");
        }
        return named.get().toRealPath();
    }

    /** A private one where the credentials are ours, else the one of the agent's own login, shared and never copied. */
    private Optional<Path> ownConfigDirectory() throws IOException {
        if (agent.configDirectory().isPresent()) {
            return Optional.of(privateDirectory(agent.configDirectory().get()));
        }
        return agent.inference().isPresent()
                ? Optional.of(privateDirectory(sessionHome().resolve("config")))
                : Optional.empty();
    }

    private Path configDirectory() throws IOException {
        Optional<Path> own = ownConfigDirectory();
        if (own.isPresent()) {
            return own.get();
        }
        Map<String, String> environment = environment();
        String named = environment.getOrDefault("CLAUDE_CONFIG_DIR", "");
        if (!named.isEmpty()) {
            return Path.of(named);
        }
        String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
        return Path.of(home).resolve(".claude");
    }

    /** The configuration directory when it is not this session's own (HS-20). */
    Optional<Path> sharedConfigDirectory() {
        try {
            return ownConfigDirectory().isPresent() && agent.configDirectory().isEmpty()
                    ? Optional.empty()
                    : Optional.of(configDirectory().toAbsolutePath().normalize());
        } catch (IOException e) {
            throw unprepared(e);
        }
    }

    private static Path privateDirectory(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory);
            try {
                Files.setPosixFilePermissions(
                        directory,
                        EnumSet.of(
                                PosixFilePermission.OWNER_READ,
                                PosixFilePermission.OWNER_WRITE,
                                PosixFilePermission.OWNER_EXECUTE));
            } catch (UnsupportedOperationException noPosix) {
                return directory;
            }
        }
        return directory;
    }

    // ---- the command

    /**
     * How to start the agent: {@code resume} its session, or create it under the given id.
     *
     * @param offer where its tools are; absent: on its own channel
     */
    Command command(String nativeSession, boolean resume, Optional<ToolRelay.Offer> offer) {
        try {
            var words = new ArrayList<String>();
            words.add(binary().toString());
            words.addAll(flags(nativeSession, resume, offer.isPresent() ? written(offer.get()) : IN_PROCESS));
            return new Command(words, workingDirectory(), environment());
        } catch (IOException e) {
            throw unprepared(e);
        }
    }

    private CannotStart unprepared(IOException e) {
        return new CannotStart("", "the directories of session '" + launch.session() + "' cannot be prepared: " + e);
    }

    /** Where the tools are, in a file for this user only: a command line can be read by others. */
    private String written(ToolRelay.Offer offer) throws IOException {
        Path file = privateDirectory(sessionHome().resolve("tools")).resolve("mcp.json");
        Files.deleteIfExists(file);
        createPrivate(file);
        ObjectNode config = StreamJson.NODES.objectNode();
        ObjectNode entry = config.putObject("mcpServers").putObject(HostTools.SERVER);
        entry.put("type", "http").put("url", offer.url());
        entry.putObject("headers").put("Authorization", "Bearer " + offer.token());
        return Files.writeString(file, codec.write(config)).toString();
    }

    private static void createPrivate(Path file) throws IOException {
        try {
            Files.createFile(
                    file,
                    PosixFilePermissions.asFileAttribute(
                            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE)));
        } catch (UnsupportedOperationException noPosix) {
            Files.createFile(file);
        }
    }

    /** Values never become options ({@code --flag=value}); prompts and tools go over the control channel (HS-09). */
    private List<String> flags(String nativeSession, boolean resume, String toolServers) {
        var flags = new ArrayList<>(List.of(
                "-p",
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--verbose",
                "--replay-user-messages",
                "--include-partial-messages",
                (resume ? "--resume=" : "--session-id=") + nativeSession,
                "--tools=" + String.join(",", agent.builtinTools()),
                "--mcp-config=" + toolServers,
                "--strict-mcp-config",
                "--allowedTools=mcp__host",
                "--permission-prompt-tool=stdio",
                "--setting-sources=",
                "--disable-slash-commands"));
        agent.model().ifPresent(model -> flags.add("--model=" + model));
        agent.effort().ifPresent(effort -> flags.add("--effort=" + effort));
        return flags;
    }

    private Map<String, String> environment() throws IOException {
        var all = new HashMap<>(EnvironmentAllowList.standard().from(host));
        all.putAll(agent.environment());
        ownConfigDirectory().ifPresent(directory -> all.put("CLAUDE_CONFIG_DIR", directory.toString()));
        agent.inference().ifPresent(pair -> {
            all.put("ANTHROPIC_BASE_URL", pair.url());
            all.put("ANTHROPIC_API_KEY", pair.key());
        });
        all.put("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
        all.put("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        all.put("DISABLE_TELEMETRY", "1");
        all.put("DISABLE_ERROR_REPORTING", "1");
        all.put("DISABLE_AUTOUPDATER", "1");
        return all;
    }

    private Path binary() {
        if (agent.binary().isPresent()) {
            Path named = agent.binary().get();
            if (!Files.isExecutable(named)) {
                throw notFound("there is no executable file " + named + "; name the right one");
            }
            return named.toAbsolutePath();
        }
        String variable = host.getOrDefault("HOLDFAST_CLAUDE", "");
        if (!variable.isEmpty()) {
            if (!Files.isExecutable(Path.of(variable))) {
                throw notFound("HOLDFAST_CLAUDE names " + variable + ", which is no executable file");
            }
            return Path.of(variable).toAbsolutePath();
        }
        for (String folder : host.getOrDefault("PATH", "").split(java.io.File.pathSeparator, -1)) {
            Path candidate = Path.of(folder.isEmpty() ? "." : folder).resolve("claude");
            if (!folder.isEmpty() && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        throw notFound("there is no 'claude' on the PATH; install Claude Code, or name it with HOLDFAST_CLAUDE");
    }

    private static CannotStart notFound(String message) {
        return new CannotStart("not_found", "Claude Code cannot be started: " + message);
    }

    // ---- the record

    /** Answers from the session's file; see {@link AgentRecord}. */
    Knowledge knowledge(KnowledgeQuestion question) {
        if (question.nativeSession().isEmpty()) {
            return Knowledge.nothing();
        }
        try {
            Optional<Path> file = recordFile(question.nativeSession().get());
            if (file.isEmpty()) {
                return Knowledge.nothing();
            }
            return read(file.get()).answer(question);
        } catch (IOException | UncheckedIOException unreadable) {
            return new Knowledge(Knowledge.RecordState.DAMAGED, 0, List.of(), List.of(), new Knowledge.Tail.None());
        }
    }

    /** Bytes that are no UTF-8 spoil their own line only. */
    private AgentRecord read(Path file) throws IOException {
        var decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .onUnmappableCharacter(CodingErrorAction.REPLACE);
        try (var reader = new BufferedReader(new java.io.InputStreamReader(Files.newInputStream(file), decoder))) {
            return AgentRecord.of(new RecordLines(reader), codec);
        }
    }

    private Optional<Path> recordFile(String nativeSession) throws IOException {
        Path projects = configDirectory().resolve("projects");
        String folder = folderName(workingDirectory());
        String file = nativeSession.toLowerCase(Locale.ROOT) + ".jsonl";
        if (folder.length() <= FOLDER_NAME_MAX) {
            Path exact = projects.resolve(folder).resolve(file);
            return Files.isRegularFile(exact) ? Optional.of(exact) : Optional.empty();
        }
        if (!Files.isDirectory(projects)) {
            return Optional.empty();
        }
        String start = folder.substring(0, FOLDER_NAME_MAX) + "-";
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(
                projects, candidate -> candidate.getFileName().toString().startsWith(start))) {
            for (Path candidate : folders) {
                if (Files.isRegularFile(candidate.resolve(file))) {
                    return Optional.of(candidate.resolve(file));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * What the agent calls the folder of a working directory: everything but ASCII letters and digits is a dash, two of
     * them for a character outside the basic plane.
     */
    static String folderName(Path workingDirectory) {
        var name = new StringBuilder(workingDirectory.toString());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!kept) {
                name.setCharAt(i, '-');
            }
        }
        return name.toString();
    }
}
