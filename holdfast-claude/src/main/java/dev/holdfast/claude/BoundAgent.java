package dev.holdfast.claude;

import dev.holdfast.Tool;
import dev.holdfast.ToolSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An agent description as a binding: what a process keeps from its start to its end (HS-03). Immutable, thread-safe. */
final class BoundAgent {
    private static final int SHOWN_MAX = 60;

    private final ClaudeCodeAgent agent;
    private final Map<String, ToolSpec> specs = new LinkedHashMap<>();
    private final Map<String, Tool> tools = new LinkedHashMap<>();
    private final List<String> onlyDescribed = new ArrayList<>();

    /** @throws IllegalArgumentException for a tool of another kind, and for a name used twice */
    BoundAgent(ClaudeCodeAgent agent) {
        this.agent = agent;
        for (Object bound : agent.tools()) {
            ToolSpec spec = switch (bound) {
                case Tool tool -> tool.spec().effects(tool.effects());
                case ToolSpec described -> described;
                default ->
                    throw new IllegalArgumentException("held sessions take tools that are a Tool or a ToolSpec;"
                            + " an object of " + bound.getClass().getName()
                            + " is neither. dev.holdfast.runtime.Tools.of makes Tool objects of its methods");
            };
            if (specs.putIfAbsent(spec.name(), spec) != null) {
                throw new IllegalArgumentException("two tools are named '" + spec.name() + "': rename one of them");
            }
            if (bound instanceof Tool tool) {
                tools.put(spec.name(), tool);
            } else {
                onlyDescribed.add(spec.name());
            }
        }
    }

    ClaudeCodeAgent agent() {
        return agent;
    }

    List<ToolSpec> specs() {
        return List.copyOf(specs.values());
    }

    Optional<Tool> tool(String name) {
        return Optional.ofNullable(tools.get(name));
    }

    /** Names of the tools that need an executor. */
    List<String> onlyDescribed() {
        return onlyDescribed;
    }

    /** Every difference of this binding to the one a process was started with; empty when there is none. */
    List<String> differences(BoundAgent live) {
        if (this == live) {
            return List.of();
        }
        var found = new ArrayList<String>();
        ClaudeCodeAgent then = live.agent;
        compare(found, "binary", then.binary(), agent.binary());
        compare(found, "model", then.model(), agent.model());
        compare(found, "effort", then.effort(), agent.effort());
        if (!then.systemPrompt().equals(agent.systemPrompt())) {
            found.add("system prompt: another text"); // its words belong neither in a log nor in a message
        }
        compare(found, "working directory", then.workingDirectory(), agent.workingDirectory());
        compare(found, "config directory", then.configDirectory(), agent.configDirectory());
        if (!then.inference().equals(agent.inference())) {
            found.add("inference: "
                    + (then.inference()
                                    .map(Object::toString)
                                    .equals(agent.inference().map(Object::toString))
                            ? "another key"
                            : shown(then.inference()) + " is now " + shown(agent.inference())));
        }
        if (!then.environment().equals(agent.environment())) {
            var names = new ArrayList<>(then.environment().keySet());
            names.addAll(agent.environment().keySet());
            names.removeIf(name -> Optional.ofNullable(then.environment().get(name))
                    .equals(Optional.ofNullable(agent.environment().get(name))));
            found.add("environment: " + names.stream().distinct().sorted().toList());
        }
        if (!List.copyOf(then.builtinTools()).equals(agent.builtinTools())) {
            found.add("built-in tools: " + then.builtinTools() + " are now " + agent.builtinTools());
        }
        if (!then.relay().equals(agent.relay())) {
            found.add(
                    "tools: " + (agent.relay().isPresent() ? "over HTTP now" : "no longer over the same HTTP server"));
        }
        if (!then.deadlines().equals(agent.deadlines())) {
            found.add("deadlines: " + then.deadlines() + " are now " + agent.deadlines());
        }
        found.addAll(agent.hooks().differences(then.hooks()));
        compareTools(found, live);
        return List.copyOf(found);
    }

    private void compareTools(List<String> found, BoundAgent live) {
        live.specs.keySet().stream()
                .filter(name -> !specs.containsKey(name))
                .forEach(name -> found.add("tool '" + name + "' is gone"));
        for (ToolSpec spec : specs.values()) {
            ToolSpec then = live.specs.get(spec.name());
            if (then == null) {
                found.add("tool '" + spec.name() + "' is new");
                continue;
            }
            if (!then.description().equals(spec.description())) {
                found.add("description of tool '" + spec.name() + "'");
            }
            if (then.effects() != spec.effects()) {
                found.add("effects of tool '" + spec.name() + "'");
            }
            if (!sameJson(then.inputSchema(), spec.inputSchema())) {
                found.add("input schema of tool '" + spec.name() + "'");
            }
        }
    }

    /** The order of names and the spaces between them mean nothing. */
    private static boolean sameJson(String one, String other) {
        if (one.equals(other)) {
            return true;
        }
        var codec = new StreamJson(Math.max(one.length(), other.length()) + 1);
        var first = codec.tree(one);
        return first.isPresent() && first.equals(codec.tree(other));
    }

    private static void compare(List<String> found, String what, Optional<?> then, Optional<?> now) {
        if (!then.equals(now)) {
            found.add(what + ": " + shown(then) + " is now " + shown(now));
        }
    }

    private static String shown(Optional<?> value) {
        String text = value.map(each -> "'" + each + "'").orElse("the default");
        return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…'";
    }
}
