package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A real child process that speaks Claude Code's stream-json, keeps its session record, and thinks with a scripted
 * model: for tests without an account, a model or the network. By default it is as bad as the worst known version.
 *
 * <p>It takes the flags of the real command line. What it says is decided by directives in the messages, and by a
 * scenario file:
 *
 * <pre>
 * [[say TEXT]]            says so, instead of the default answer "echo: MESSAGE (TOOL RESULTS)"
 * [[tool NAME {json}]]    calls a tool, then goes on behind it; [[tool+ NAME {json}]] joins the same model message
 * [[sleep MS]]            waits, until interrupted
 * [[error STATUS [N]]]    the model's API fails, for good or N times
 * [[spend]]               one more model call's worth of money
 * [[crash]] [[crash KILL]] [[crash at init|before-landing|landing|tool-call|fold|before-result|result|idle]]
 * [[exit N]] [[no-result-exit N]] [[hang]] [[stop]] [[busy MS]]
 * [[ignore-term]] [[ignore-interrupt]] [[ignore-eof]] [[never-read]] [[close-stdout]]
 * [[garbage]] [[half]] [[bad-utf8]] [[unknown-frame]] [[line BYTES]] [[trickle TEXT]] [[stderr TEXT]]
 * [[flood stdout|stderr BYTES]]
 * [[duplicate-result]] [[no-result]] [[late-result MS]] [[result-then-hang]] [[agent-turn]] [[background]]
 * [[grandchild SECONDS]]  a child that keeps the pipes open; [[escape SECONDS]] one in a session of its own
 * [[gate NAME]]           waits for a test to open the gate, or for an interrupt
 * [[compact]]             replaces the conversation by a summary, as an agent does when it grows too long
 * [[allocate MB]]         keeps so much memory; give it a larger heap first
 * [[flush]]               writes the record out now
 * [[full]]                the context is nearly full: before its next turn the agent compacts it by itself
 * [[once KEY DIRECTIVE]]  the first time only, over all processes of one configuration directory
 * </pre>
 *
 * <p>Immutable; each method gives a changed copy. Starting the process is left to the caller.
 *
 * @param profile which version it plays
 * @param modelLog where it writes down what the model was shown, one JSON object a call; read it with
 *     {@link Conversation#allIn}
 * @param scenario a file of rules, see {@link #scenario(Path)}
 * @param gates a directory for {@code [[gate NAME]]}, see {@link #gate}
 * @param heapMegabytes the limit of its heap, at least 8
 */
public record ScriptedAgent(
        AgentProfile profile,
        Optional<Path> modelLog,
        Optional<Path> scenario,
        Optional<Path> gates,
        int heapMegabytes) {

    /** A description; nothing is started. */
    public ScriptedAgent {
        if (heapMegabytes < 8) {
            throw new IllegalArgumentException("A heap of " + heapMegabytes + " MB is too small; give 8 or more");
        }
    }

    /**
     * An agent of some version.
     *
     * @param profile which one
     * @return its description
     */
    public static ScriptedAgent of(AgentProfile profile) {
        return new ScriptedAgent(profile, Optional.empty(), Optional.empty(), Optional.empty(), 24);
    }

    /** The default: like 2.1.197, and a little worse. */
    public static ScriptedAgent worst() {
        return of(AgentProfile.v197());
    }

    /**
     * The same, writing down what the model is shown.
     *
     * @param file appended to; its directory must exist
     * @return a changed copy
     */
    public ScriptedAgent modelLog(Path file) {
        return new ScriptedAgent(profile, Optional.of(file.toAbsolutePath()), scenario, gates, heapMegabytes);
    }

    /**
     * The same with a scenario: a file with lines such as {@code start: [[sleep 500]]}, {@code turn 2: [[crash]]},
     * {@code contains refund: [[tool mcp__host__refund {}]]}, {@code any: [[say ok]]}, {@code interrupt: [[ignore]]}.
     *
     * @param file read when the process starts
     * @return a changed copy
     */
    public ScriptedAgent scenario(Path file) {
        return new ScriptedAgent(profile, modelLog, Optional.of(file.toAbsolutePath()), gates, heapMegabytes);
    }

    /**
     * The same with a place for its gates.
     *
     * @param directory must exist
     * @return a changed copy
     */
    public ScriptedAgent gates(Path directory) {
        return new ScriptedAgent(profile, modelLog, scenario, Optional.of(directory.toAbsolutePath()), heapMegabytes);
    }

    /**
     * The gate at which the agent waits for {@code [[gate NAME]]}, until it is opened or interrupted.
     *
     * @param name one word
     * @return the gate in the directory given to {@link #gates(Path)}
     */
    public Gate gate(String name) {
        return new Gate.Shared(
                gates.orElseThrow(() -> new IllegalStateException("Give a directory with gates(Path) first")), name);
    }

    /**
     * The same with another heap, for tests with long lines.
     *
     * @param megabytes at least 8
     * @return a changed copy
     */
    public ScriptedAgent heapMegabytes(int megabytes) {
        return new ScriptedAgent(profile, modelLog, scenario, gates, megabytes);
    }

    /**
     * The command that starts it; the flags of the real command line go behind it.
     *
     * @return program and arguments, mutable copy
     */
    public List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heapMegabytes + "m");
        command.add("-Xss256k");
        command.add("-XX:+UseSerialGC");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("-Xshare:auto");
        command.add("-XX:-UsePerfData");
        command.add("-Dholdfast.profile=" + profile.encode());
        modelLog.ifPresent(file -> command.add("-Dholdfast.model.log=" + file));
        scenario.ifPresent(file -> command.add("-Dholdfast.scenario=" + file));
        gates.ifPresent(directory -> command.add("-Dholdfast.gates=" + directory));
        command.add("-cp");
        command.add(home().toString());
        command.add(ScriptedAgentMain.class.getName());
        return command;
    }

    /**
     * Writes an executable file that becomes this agent, to be given where the path of a real one is asked for.
     *
     * @param file created or replaced
     * @return the same file, absolute
     */
    public Path writeExecutable(Path file) {
        StringBuilder script = new StringBuilder("#!/bin/sh\nexec");
        for (String word : command()) {
            script.append(" '").append(word.replace("'", "'\\''")).append('\'');
        }
        script.append(" \"$@\"\n");
        try {
            Files.writeString(file, script, StandardCharsets.UTF_8);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the executable " + file, e);
        }
        return file.toAbsolutePath();
    }

    private static Path home() {
        CodeSource source = ScriptedAgent.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null) {
            throw new IllegalStateException("The testkit's classes are in no directory and no jar; put the jar there");
        }
        try {
            URI location = source.getLocation().toURI();
            return Path.of(location);
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IllegalStateException(
                    "The testkit's classes are at " + source.getLocation() + ", which no child process can load", e);
        }
    }
}
