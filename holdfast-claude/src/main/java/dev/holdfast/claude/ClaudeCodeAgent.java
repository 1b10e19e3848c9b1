package dev.holdfast.claude;

import dev.holdfast.Agent;
import dev.holdfast.Binding;
import dev.holdfast.Harness;
import dev.holdfast.ToolRelay;
import dev.holdfast.process.EnvironmentAllowList;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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

    /** The settings while they change; a copy for each change. */
    private static final class Draft {
        private String harnessName = "claude";
        private Optional<Path> binary = Optional.empty();
        private Optional<String> model = Optional.empty();
        private Optional<String> effort = Optional.empty();
        private Optional<String> systemPrompt = Optional.empty();
        private List<Object> tools = List.of();
        private List<String> builtinTools = List.of();
        private Optional<Path> workingDirectory = Optional.empty();
        private Optional<Path> configDirectory = Optional.empty();
        private Map<String, String> environment = Map.of();
        private Optional<Inference> inference = Optional.empty();
        private Deadlines deadlines = Deadlines.standard();
        private HookBook hooks = HookBook.empty();
        private Optional<ToolRelay> relay = Optional.empty();

        Draft copy() {
            var copy = new Draft();
            copy.harnessName = harnessName;
            copy.binary = binary;
            copy.model = model;
            copy.effort = effort;
            copy.systemPrompt = systemPrompt;
            copy.tools = tools;
            copy.builtinTools = builtinTools;
            copy.workingDirectory = workingDirectory;
            copy.configDirectory = configDirectory;
            copy.environment = environment;
            copy.inference = inference;
            copy.deadlines = deadlines;
            copy.hooks = hooks;
            copy.relay = relay;
            return copy;
        }
    }

    private final Draft settings;
    private final ClaudeHarness harness;
    private final AtomicReference<@Nullable BoundAgent> bound = new AtomicReference<>();

    private ClaudeCodeAgent(Draft settings) {
        this.settings = settings;
        this.harness = new ClaudeHarness(this);
    }

    static ClaudeCodeAgent plain() {
        return new ClaudeCodeAgent(new Draft());
    }

    private ClaudeCodeAgent with(Consumer<Draft> change) {
        Draft copy = settings.copy();
        change.accept(copy);
        return new ClaudeCodeAgent(copy);
    }

    @Override
    public Harness harness() {
        return harness;
    }

    @Override
    public List<Object> tools() {
        return settings.tools;
    }

    /** Everything said here but the program's own state and the code of hooks; of the inference key only that it is one. */
    @Override
    public Binding binding() {
        var binding = Binding.none()
                .shown("binary", settings.binary)
                .shown("model", settings.model)
                .shown("effort", settings.effort)
                .words("system prompt", settings.systemPrompt)
                .shown("working directory", settings.workingDirectory)
                .shown("config directory", settings.configDirectory)
                .shown("inference address", settings.inference.map(Inference::url))
                .secret("inference key", settings.inference.map(Inference::key))
                .shown("built-in tools", settings.builtinTools)
                .shown("deadlines", settings.deadlines)
                .shown("tools over HTTP", settings.relay.isPresent())
                .and(settings.hooks.binding());
        for (var variable : settings.environment.entrySet()) {
            binding = binding.secret("environment " + variable.getKey(), Optional.of(variable.getValue()));
        }
        return binding;
    }

    /** The harness's name for listings; {@code claude} unless changed. */
    public ClaudeCodeAgent harnessName(String name) {
        requireText("the harness name", name);
        return with(draft -> draft.harnessName = name);
    }

    /** The program; without it {@code HOLDFAST_CLAUDE} names it, else it is looked for on the PATH. */
    public ClaudeCodeAgent binary(Path binary) {
        return with(draft -> draft.binary = Optional.of(binary));
    }

    /** The model's name or alias; the agent's own choice without it. */
    public ClaudeCodeAgent model(String model) {
        requireText("the model", model);
        return with(draft -> draft.model = Optional.of(model));
    }

    /** How hard the model thinks, in the agent's word, such as {@code high}; the agent's own choice without it. */
    public ClaudeCodeAgent effort(String effort) {
        requireText("the effort", effort);
        return with(draft -> draft.effort = Optional.of(effort));
    }

    /** Replaces the agent's own system prompt; it does not appear on the command line. */
    public ClaudeCodeAgent systemPrompt(String prompt) {
        requireText("the system prompt", prompt);
        return with(draft -> draft.systemPrompt = Optional.of(prompt));
    }

    /**
     * Host tools: {@code Tool} objects, or objects with {@code @AgentTool} methods. Replaces those given before. Held
     * sessions take {@code Tool} objects, and {@code ToolSpec}s whose calls the turn's executor runs.
     */
    public ClaudeCodeAgent tools(Object... tools) {
        List<Object> all = List.of(tools);
        return with(draft -> draft.tools = all);
    }

    /**
     * Tools of the agent's own, by their names, such as {@code Read}. Without this it has none. It may use them freely, unless
     * a {@link #hook} keeps it from that or a held session has a {@link PermissionAsk}. Replaces those named before.
     */
    public ClaudeCodeAgent builtinTools(String... names) {
        for (String name : names) {
            if (!BUILTIN.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "built-in tool '" + name + "' is no tool name: use letters, digits and '_', such as Read");
            }
        }
        List<String> distinct = Stream.of(names).distinct().toList();
        return with(draft -> draft.builtinTools = distinct);
    }

    /** Where the agent works; a private directory per session without it. It must exist when a session starts. */
    public ClaudeCodeAgent workingDirectory(Path directory) {
        return with(draft -> draft.workingDirectory = Optional.of(directory));
    }

    /**
     * Where the agent keeps its configuration and records. Without it: a private directory per session where
     * {@link #inference} is given, else the directory of the agent's own login (HS-20).
     */
    public ClaudeCodeAgent configDirectory(Path directory) {
        return with(draft -> draft.configDirectory = Optional.of(directory.toAbsolutePath()));
    }

    /**
     * One more variable for the agent, which otherwise sees only the allow-list of HS-09.
     *
     * @throws IllegalArgumentException for a name that is none, and for one that never passes, such as NODE_OPTIONS
     */
    public ClaudeCodeAgent environment(String name, String value) {
        if (!VARIABLE.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "environment variable '" + name + "' is no variable name: use letters, digits and '_'");
        }
        EnvironmentAllowList.standard().with(name);
        var more = new LinkedHashMap<>(settings.environment);
        more.put(name, Objects.requireNonNull(value, "value"));
        return with(draft -> draft.environment = Map.copyOf(more));
    }

    /**
     * The inference address and its key, always as a pair (BX-03).
     *
     * @throws IllegalArgumentException when one of them is empty
     */
    public ClaudeCodeAgent inference(String url, String key) {
        requireText("the inference URL", url);
        requireText("the inference key", key);
        return with(draft -> draft.inference = Optional.of(new Inference(url, key)));
    }

    /**
     * Brings the host tools to the agent over HTTP on this machine instead of over its own channel, under a token of each
     * process (TL-02). They pass the same door. For agents that cannot call in process, and for looking at the traffic.
     */
    public ClaudeCodeAgent toolsOverHttp(ToolRelay relay) {
        Objects.requireNonNull(relay, "relay");
        return with(draft -> draft.relay = Optional.of(relay));
    }

    /** How long sessions wait for their agents. */
    public ClaudeCodeAgent deadlines(Deadlines deadlines) {
        Objects.requireNonNull(deadlines, "deadlines");
        return with(draft -> draft.deadlines = deadlines);
    }

    /** Asks this hook at each such event, besides those given before; see {@link HookRule#on}. */
    public ClaudeCodeAgent hook(HookEvent event, AgentHook hook) {
        return hook(HookRule.on(event), hook);
    }

    /**
     * Asks this hook at such events of some tools, besides those given before.
     *
     * @param matcher as in {@link HookRule#matcher}
     */
    public ClaudeCodeAgent hook(HookEvent event, String matcher, AgentHook hook) {
        return hook(HookRule.on(event).matcher(matcher), hook);
    }

    /**
     * Asks this hook under a rule, besides those given before. Rules are part of the binding of a process (HS-03), the
     * code is not: a turn is asked the hooks that it brings.
     */
    public ClaudeCodeAgent hook(HookRule rule, AgentHook hook) {
        HookBook more = settings.hooks.with(rule, Objects.requireNonNull(hook, "hook"));
        return with(draft -> draft.hooks = more);
    }

    private static void requireText(String what, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " is empty; leave the call out for the default");
        }
    }

    /** As a binding of a held process; made once. */
    BoundAgent bound() {
        BoundAgent made = bound.get();
        if (made == null) {
            made = new BoundAgent(this);
            bound.compareAndSet(null, made);
        }
        return made;
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

    Optional<String> effort() {
        return settings.effort;
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

    Optional<ToolRelay> relay() {
        return settings.relay;
    }

    HookBook hooks() {
        return settings.hooks;
    }
}
