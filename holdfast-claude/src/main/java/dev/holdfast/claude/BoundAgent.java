package dev.holdfast.claude;

import dev.holdfast.Binding;
import dev.holdfast.Tool;
import dev.holdfast.ToolSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An agent description as a binding: what a process keeps from its start to its end (HS-03). Immutable, thread-safe. */
final class BoundAgent {
    private final ClaudeCodeAgent agent;
    private final Binding binding;
    private final Map<String, ToolSpec> specs = new LinkedHashMap<>();
    private final Map<String, Tool> tools = new LinkedHashMap<>();
    private final List<String> onlyDescribed = new ArrayList<>();

    /** @throws IllegalArgumentException for a tool of another kind, and for a name used twice */
    BoundAgent(ClaudeCodeAgent agent) {
        this.agent = agent;
        this.binding = agent.binding();
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
        var found = new ArrayList<>(binding.differences(live.binding));
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
}
