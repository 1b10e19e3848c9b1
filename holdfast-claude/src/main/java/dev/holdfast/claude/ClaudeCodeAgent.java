package dev.holdfast.claude;

import dev.holdfast.Agent;
import dev.holdfast.Harness;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Claude Code as an agent: which program, model, prompt, tools and credentials. Immutable and thread-safe; every method
 * that takes a value returns a changed copy with a harness of its own. Nothing is looked for or started before a session
 * needs it (HN-12).
 */
public final class ClaudeCodeAgent implements Agent {
    private static final Pattern BUILTIN = Pattern.compile("[A-Za-z][A-Za-z0-9_]{0,63}");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,127}");

    /** An inference address and the key for it: both or none (BX-03). */
    record Inference(String url, String key) {
        /** Names the address; the key is a secret. */
        @Override
        public String toString() {
            return "Inference[" + url + "]";
        }
    }

    private record Settings(
            String harnessName,
            Optional<Path> binary,
            Optional<String> model,
            Optional<String> systemPrompt,
            List<Object> tools,
            List<String> builtinTools,
            Optional<Path> workingDirectory,
            Optional<Path> configDirectory,
            Map<String, String> environment,
            Optional<Inference> inference,
            Deadlines deadlines) {}

    private final Settings settings;
    private final ClaudeHarness harness;

    private ClaudeCodeAgent(Settings settings) {
        this.settings = settings;
        this.harness = new ClaudeHarness(this);
    }

    static ClaudeCodeAgent plain() {
        return new ClaudeCodeAgent(new Settings(
                "claude",
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Optional.empty(),
                Deadlines.standard()));
    }

    @Override
    public Harness harness() {
        return harness;
    }

    @Override
    public List<Object> tools() {
        return settings.tools;
    }

    /** The harness's name for listings; {@code claude} unless changed. */
    public ClaudeCodeAgent harnessName(String name) {
        requireText("the harness name", name);
        return changed(name, settings.binary, settings.model, settings.systemPrompt, settings.tools);
    }

    /** The program; without it {@code HOLDFAST_CLAUDE} names it, else it is looked for on the PATH. */
    public ClaudeCodeAgent binary(Path binary) {
        return changed(
                settings.harnessName, Optional.of(binary), settings.model, settings.systemPrompt, settings.tools);
    }

    /** The model's name or alias; the agent's own choice without it. */
    public ClaudeCodeAgent model(String model) {
        requireText("the model", model);
        return changed(
                settings.harnessName, settings.binary, Optional.of(model), settings.systemPrompt, settings.tools);
    }

    /** Replaces the agent's own system prompt; it does not appear on the command line. */
    public ClaudeCodeAgent systemPrompt(String prompt) {
        requireText("the system prompt", prompt);
        return changed(settings.harnessName, settings.binary, settings.model, Optional.of(prompt), settings.tools);
    }

    /** Host tools: {@code Tool} objects, or objects with {@code @AgentTool} methods. Replaces those given before. */
    public ClaudeCodeAgent tools(Object... tools) {
        return changed(settings.harnessName, settings.binary, settings.model, settings.systemPrompt, List.of(tools));
    }

    private ClaudeCodeAgent changed(
            String name, Optional<Path> binary, Optional<String> model, Optional<String> prompt, List<Object> tools) {
        return new ClaudeCodeAgent(new Settings(
                name,
                binary,
                model,
                prompt,
                tools,
                settings.builtinTools,
                settings.workingDirectory,
                settings.configDirectory,
                settings.environment,
                settings.inference,
                settings.deadlines));
    }

    /**
     * Tools of the agent's own that it may use without asking, by their names, such as {@code Read}. Without this it has
     * none. Replaces those named before.
     */
    public ClaudeCodeAgent builtinTools(String... names) {
        for (String name : names) {
            if (!BUILTIN.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "built-in tool '" + name + "' is no tool name: use letters, digits and '_', such as Read");
            }
        }
        return placed(
                List.of(names),
                settings.workingDirectory,
                settings.configDirectory,
                settings.environment,
                settings.inference,
                settings.deadlines);
    }

    /** Where the agent works; a private directory per session without it. It must exist when a session starts. */
    public ClaudeCodeAgent workingDirectory(Path directory) {
        return placed(
                settings.builtinTools,
                Optional.of(directory),
                settings.configDirectory,
                settings.environment,
                settings.inference,
                settings.deadlines);
    }

    /**
     * Where the agent keeps its configuration and records. Without it: a private directory per session where
     * {@link #inference} is given, else the directory of the agent's own login (HS-20).
     */
    public ClaudeCodeAgent configDirectory(Path directory) {
        return placed(
                settings.builtinTools,
                settings.workingDirectory,
                Optional.of(directory.toAbsolutePath()),
                settings.environment,
                settings.inference,
                settings.deadlines);
    }

    /** One more variable for the agent, which otherwise sees only the allow-list of HS-09. */
    public ClaudeCodeAgent environment(String name, String value) {
        if (!VARIABLE.matcher(name).matches()) {
            throw new IllegalArgumentException("environment variable '" + name + "' is no variable name");
        }
        Objects.requireNonNull(value, "value");
        var more = new LinkedHashMap<>(settings.environment);
        more.put(name, value);
        return placed(
                settings.builtinTools,
                settings.workingDirectory,
                settings.configDirectory,
                Map.copyOf(more),
                settings.inference,
                settings.deadlines);
    }

    /**
     * The inference address and its key, always as a pair (BX-03).
     *
     * @throws IllegalArgumentException when one of them is empty
     */
    public ClaudeCodeAgent inference(String url, String key) {
        requireText("the inference URL", url);
        requireText("the inference key", key);
        return placed(
                settings.builtinTools,
                settings.workingDirectory,
                settings.configDirectory,
                settings.environment,
                Optional.of(new Inference(url, key)),
                settings.deadlines);
    }

    /** How long sessions wait for their agents. */
    public ClaudeCodeAgent deadlines(Deadlines deadlines) {
        return placed(
                settings.builtinTools,
                settings.workingDirectory,
                settings.configDirectory,
                settings.environment,
                settings.inference,
                Objects.requireNonNull(deadlines, "deadlines"));
    }

    private ClaudeCodeAgent placed(
            List<String> builtins,
            Optional<Path> work,
            Optional<Path> config,
            Map<String, String> environment,
            Optional<Inference> inference,
            Deadlines deadlines) {
        return new ClaudeCodeAgent(new Settings(
                settings.harnessName,
                settings.binary,
                settings.model,
                settings.systemPrompt,
                settings.tools,
                new ArrayList<>(builtins).stream().distinct().toList(),
                work,
                config,
                environment,
                inference,
                deadlines));
    }

    private static void requireText(String what, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " is empty; leave the call out for the default");
        }
    }

    String harnessName() {
        return settings.harnessName;
    }

    Optional<Path> binary() {
        return settings.binary;
    }

    Optional<String> model() {
        return settings.model;
    }

    Optional<String> systemPrompt() {
        return settings.systemPrompt;
    }

    List<String> builtinTools() {
        return settings.builtinTools;
    }

    Optional<Path> workingDirectory() {
        return settings.workingDirectory;
    }

    Optional<Path> configDirectory() {
        return settings.configDirectory;
    }

    Map<String, String> environment() {
        return settings.environment;
    }

    Optional<Inference> inference() {
        return settings.inference;
    }

    Deadlines deadlines() {
        return settings.deadlines;
    }
}
