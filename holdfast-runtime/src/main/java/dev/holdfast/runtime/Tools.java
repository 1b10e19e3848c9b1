package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.AgentTool;
import dev.holdfast.Binding;
import dev.holdfast.Tool;
import dev.holdfast.ToolSpec;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes {@link Tool}s of the objects a user binds: those that are tools, and those with {@link AgentTool} methods. Every
 * one checks its input against its schema before it runs (TL-05).
 */
public final class Tools {
    private static final JsonMapper SORTED = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private Tools() {}

    /**
     * The tools of these objects, for whoever takes {@link Tool}s only, such as held sessions. The runtime does the same
     * with what an agent is bound to.
     *
     * @throws IllegalArgumentException for an object without tools, a method whose parameters cannot be described, a schema
     *     that is none, or a name used twice; the message names it
     */
    public static List<Tool> of(Object... sources) {
        return List.copyOf(of(List.of(sources)).values());
    }

    /** Every tool by its name, in the order bound; methods of one object in the order of their names. */
    static Map<String, Tool> of(List<Object> sources) {
        var tools = new LinkedHashMap<String, Tool>();
        for (Object source : sources) {
            switch (source) {
                case CheckedTool checked -> add(tools, checked);
                case MethodTool method -> add(tools, method);
                case Tool tool -> add(tools, new CheckedTool(tool));
                default -> addMethods(tools, source);
            }
        }
        return tools;
    }

    /** What is bound with an agent: its own parts, its harness and what it is told of the tools (HS-03). */
    static Binding binding(Agent agent, Map<String, Tool> tools) {
        var binding = Binding.none().shown("harness", agent.harness().name()).and(agent.binding());
        for (Tool tool : tools.values()) {
            var spec = tool.spec();
            binding = binding.tool(new ToolSpec(spec.name(), spec.description(), canonical(spec), tool.effects()));
        }
        return binding;
    }

    /** The order of names and the spaces between them mean nothing. */
    private static String canonical(ToolSpec spec) {
        try {
            return SORTED.writeValueAsString(SORTED.readValue(spec.inputSchema(), Object.class));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "the input schema of tool '" + spec.name() + "' is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static void addMethods(Map<String, Tool> tools, Object source) {
        var methods = Stream.of(source.getClass().getMethods())
                .filter(m -> m.isAnnotationPresent(AgentTool.class))
                .sorted(Comparator.comparing(Method::getName)
                        .thenComparing(m -> List.of(m.getParameterTypes()).toString()))
                .toList();
        if (methods.isEmpty()) {
            throw new IllegalArgumentException(
                    source.getClass().getName() + " is no Tool and has no public method marked with @AgentTool");
        }
        methods.forEach(method -> add(tools, new MethodTool(source, method)));
    }

    private static void add(Map<String, Tool> tools, Tool tool) {
        if (tools.putIfAbsent(tool.spec().name(), tool) != null) {
            throw new IllegalArgumentException(
                    "two tools are named '" + tool.spec().name() + "': rename one of them");
        }
    }
}
