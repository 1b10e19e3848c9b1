package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A scripted agent with a directory of its own: it answers at once, without a wait before the turn. */
record AgentHome(Path directory, ScriptedAgent script) {
    private static final String NOWHERE = "http://127.0.0.1:9";
    private static final String KEY = "sk-fake";

    static AgentHome in(Path directory) throws IOException {
        Files.createDirectories(directory.resolve("home"));
        var profile = AgentProfile.v332().pickUpDelay(Duration.ZERO);
        return new AgentHome(directory, ScriptedAgent.of(profile).heapMegabytes(128));
    }

    Path home() {
        return directory.resolve("home");
    }

    ClaudeCodeAgent agent() {
        return ClaudeCode.agent()
                .binary(script.writeExecutable(directory.resolve("agent")))
                .inference(NOWHERE, KEY)
                .environment("HOME", home().toString());
    }

    /** The same agent without Holdfast, with the flags and variables that make it write the same frames. */
    ProcessBuilder raw() {
        List<String> command = script.command();
        command.addAll(List.of(
                "-p",
                "--input-format=stream-json",
                "--output-format=stream-json",
                "--verbose",
                "--replay-user-messages",
                "--include-partial-messages",
                "--tools="));
        var builder = new ProcessBuilder(command)
                .directory(home().toFile())
                .redirectError(directory.resolve("stderr").toFile());
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of(
                        "HOME",
                        home().toString(),
                        "PATH",
                        "/usr/bin:/bin",
                        "ANTHROPIC_BASE_URL",
                        NOWHERE,
                        "ANTHROPIC_API_KEY",
                        KEY,
                        "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
                        "1"));
        return builder;
    }
}
