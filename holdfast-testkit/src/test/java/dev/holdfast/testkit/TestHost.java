package dev.holdfast.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * The smallest host that can hold an agent process: writes lines, keeps every frame, answers the agent's requests. For
 * the scripted agent and the real command line alike.
 */
final class TestHost implements AutoCloseable {
    static final List<String> FLAGS = List.of(
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--replay-user-messages",
            "--tools=",
            "--mcp-config={\"mcpServers\":{\"host\":{\"type\":\"sdk\",\"name\":\"host\"}}}",
            "--strict-mcp-config",
            "--setting-sources=",
            "--permission-prompt-tool=stdio",
            "--allowedTools=mcp__host__echo,mcp__host__slow",
            "--system-prompt=You are a test.",
            "--model=claude-sonnet-4-5");
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** How the host answers one request of the agent; null leaves it unanswered. */
    interface Answers extends BiFunction<TestHost, Json, Json> {}

    private final Process process;
    private final List<Json> frames = new ArrayList<>();
    private final List<String> noise = new ArrayList<>();
    private final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
    private final Map<String, String> names = new LinkedHashMap<>();
    private final Answers answers;
    private boolean ended;
    private int controls;

    private TestHost(Process process, Answers answers) {
        this.process = process;
        this.answers = answers;
        Thread.ofPlatform().daemon().start(this::readFrames);
        Thread.ofPlatform().daemon().start(this::readErrors);
    }

    /**
     * @param command program and flags
     * @param home the agent's home; its working directory is {@code home/work}
     * @param variables all of its environment besides HOME and PATH
     */
    static TestHost start(List<String> command, Path home, Map<String, String> variables, Answers answers) {
        try {
            Path work = Files.createDirectories(home.resolve("work"));
            ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
            builder.environment().clear();
            builder.environment().put("HOME", home.toString());
            builder.environment().put("PATH", "/usr/bin:/bin");
            builder.environment().put("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
            builder.environment().putAll(variables);
            return new TestHost(builder.start(), answers);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start " + command, e);
        }
    }

    private void readFrames() {
        try (InputStream in = process.getInputStream()) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                for (int at = 0; at < read; at++) {
                    if (buffer[at] == '\n') {
                        accept(line.toString(StandardCharsets.UTF_8));
                        line.reset();
                    } else {
                        line.write(buffer[at]);
                    }
                }
            }
            if (line.size() > 0) {
                accept(line.toString(StandardCharsets.UTF_8));
            }
        } catch (IOException gone) {
            // The process was killed while we were reading.
        }
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    private void readErrors() {
        try (InputStream in = process.getErrorStream()) {
            byte[] buffer = new byte[8192];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                synchronized (stderr) {
                    stderr.write(buffer, 0, read);
                }
            }
        } catch (IOException gone) {
            // The process was killed while we were reading.
        }
    }

    private void accept(String line) {
        Json frame;
        try {
            frame = Json.read(line);
        } catch (Json.Malformed noFrame) {
            synchronized (this) {
                noise.add(line);
                notifyAll();
            }
            return;
        }
        synchronized (this) {
            frames.add(frame);
            notifyAll();
        }
        if (frame.text("type", "").equals("control_request")) {
            Thread.ofVirtual().start(() -> answer(frame));
        }
    }

    private void answer(Json frame) {
        Json response = answers.apply(this, frame.at("request"));
        if (response != null) {
            Json.Obj body = Json.object()
                    .with("subtype", "success")
                    .with("request_id", frame.text("request_id", ""))
                    .with("response", response);
            write(Json.object().with("type", "control_response").with("response", body));
        }
    }

    /** Serves two tools, echo and slow, and allows what it is asked. */
    static Json serve(TestHost host, Json request) {
        if (request.text("subtype", "").equals("can_use_tool")) {
            return Json.object().with("behavior", "allow").with("updatedInput", request.at("input"));
        }
        Json message = request.at("message");
        return switch (message.text("method", "")) {
            case "initialize" ->
                rpc(
                        message,
                        Json.object()
                                .with("protocolVersion", "2025-11-25")
                                .with("capabilities", Json.object().with("tools", Json.object()))
                                .with(
                                        "serverInfo",
                                        Json.object().with("name", "host").with("version", "1")));
            case "tools/list" -> rpc(message, Json.object().with("tools", tools()));
            case "tools/call" ->
                rpc(message, text("result of " + message.at("params").text("name", "")));
            default ->
                Json.object()
                        .with(
                                "mcp_response",
                                Json.object().with("jsonrpc", "2.0").with("result", Json.object()));
        };
    }

    static Json text(String text) {
        return Json.object().with("content", Json.array().add(AgentMemory.text(text)));
    }

    static Json rpc(Json message, Json result) {
        return Json.object()
                .with(
                        "mcp_response",
                        Json.object()
                                .with("jsonrpc", "2.0")
                                .with("id", message.at("id"))
                                .with("result", result));
    }

    static boolean isCall(Json request) {
        return request.at("message").text("method", "").equals("tools/call");
    }

    private static Json tools() {
        Json.Arr tools = Json.array();
        for (String name : List.of("echo", "slow")) {
            Json text = Json.object().with("type", "string");
            tools.add(Json.object()
                    .with("name", name)
                    .with("description", "d")
                    .with(
                            "inputSchema",
                            Json.object()
                                    .with("type", "object")
                                    .with("properties", Json.object().with("text", text))));
        }
        return tools;
    }

    void write(Json line) {
        writeRaw(line.write() + "\n");
    }

    void writeRaw(String text) {
        try {
            synchronized (process) {
                OutputStream out = process.getOutputStream();
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException gone) {
            // The agent has closed its side; the frames will tell.
        }
    }

    /** Sends a message as blocks with the host's own behind it, under a name that labels its uuid. */
    String say(String name, String text) {
        return send(name, UUID.randomUUID().toString(), withHostBlock(text), Json.object());
    }

    static Json withHostBlock(String text) {
        return Json.array().add(AgentMemory.text(text)).add(AgentMemory.text("(host)"));
    }

    String bare(String name, String text) {
        return send(name, UUID.randomUUID().toString(), new Json.Str(text), Json.object());
    }

    String probe(String name, String text) {
        return send(
                name,
                UUID.randomUUID().toString(),
                withHostBlock(text),
                Json.object().with("shouldQuery", false));
    }

    String send(String name, String uuid, Json content, Json.Obj extra) {
        synchronized (this) {
            names.put(uuid, name);
        }
        Json.Obj line = Json.object()
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", content))
                .with("parent_tool_use_id", Json.Nil.NIL)
                .with("session_id", "")
                .with("uuid", uuid);
        extra.members().forEach(line::with);
        write(line);
        return uuid;
    }

    /** Sends a control request and gives its id. */
    String control(Json.Obj request) {
        String id = "c" + controls++;
        write(Json.object()
                .with("type", "control_request")
                .with("request_id", id)
                .with("request", request));
        return id;
    }

    String initialize() {
        return control(Json.object().with("subtype", "initialize"));
    }

    String interrupt() {
        return control(Json.object().with("subtype", "interrupt"));
    }

    Json awaitAnswer(String id) {
        return await(
                        "the answer to " + id,
                        frame -> frame.text("type", "").equals("control_response")
                                && frame.at("response").text("request_id", "").equals(id))
                .at("response");
    }

    Json await(String what, Predicate<Json> wanted) {
        return await(what, 0, wanted);
    }

    /** The first frame from an index on that fits; fails when none comes. */
    synchronized Json await(String what, int from, Predicate<Json> wanted) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        int at = from;
        while (true) {
            for (; at < frames.size(); at++) {
                if (wanted.test(frames.get(at))) {
                    return frames.get(at);
                }
            }
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (ended || left <= 0) {
                throw new AssertionError("No " + what + (ended ? ", the agent has ended" : " within " + LIMIT) + "\n"
                        + String.join("\n", labels()) + "\nstderr: " + errors());
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted while waiting for " + what, e);
            }
        }
    }

    synchronized int mark() {
        return frames.size();
    }

    Json awaitResult(int from) {
        return await("result", from, frame -> frame.text("type", "").equals("result"));
    }

    void awaitIdle(int from) {
        await("idle", from, frame -> frame.text("state", "").equals("idle"));
    }

    void awaitReplay(String uuid) {
        await(
                "replay",
                frame -> frame.isTrue("isReplay") && frame.text("uuid", "").equals(uuid));
    }

    Json awaitCall(int from) {
        return await("tool call", from, frame -> isCall(frame.at("request")));
    }

    /** Sends a message and waits for the end of its turn. */
    Json ask(String name, String text) {
        int from = mark();
        say(name, text);
        Json result = awaitResult(from);
        awaitIdle(from);
        return result;
    }

    synchronized List<Json> frames(int from) {
        return List.copyOf(frames.subList(from, frames.size()));
    }

    synchronized List<String> noise() {
        return List.copyOf(noise);
    }

    String errors() {
        synchronized (stderr) {
            return stderr.toString(StandardCharsets.UTF_8);
        }
    }

    Process process() {
        return process;
    }

    void closeInput() {
        try {
            synchronized (process) {
                process.getOutputStream().close();
            }
        } catch (IOException gone) {
            // Closed already.
        }
    }

    int awaitExit() {
        try {
            if (!process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("The agent does not end\n" + String.join("\n", labels()));
            }
            synchronized (this) {
                while (!ended) {
                    wait(LIMIT.toMillis());
                }
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while waiting for the end", e);
        }
    }

    int end() {
        closeInput();
        return awaitExit();
    }

    void kill() {
        process.toHandle().destroyForcibly();
        awaitExit();
    }

    void terminate() {
        process.toHandle().destroy();
    }

    @Override
    public void close() {
        process.toHandle().destroyForcibly();
    }

    /** All frames in short. */
    List<String> labels() {
        return FrameLabels.of(frames(0), names);
    }

    /** The frames from an index on in short, echoes of our own answers left out. */
    List<String> labels(int from) {
        return FrameLabels.of(frames(from), names);
    }

    synchronized void name(String uuid, String name) {
        names.put(uuid, name);
    }

    synchronized Map<String, String> names() {
        return Map.copyOf(names);
    }
}
