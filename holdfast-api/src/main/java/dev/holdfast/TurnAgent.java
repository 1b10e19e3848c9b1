package dev.holdfast;

import java.util.List;

/** A {@link TurnHarness} with what is bound to it. Immutable. */
public record TurnAgent(TurnHarness harness, List<Object> tools, TurnSettings turnSettings) implements Agent {
    public TurnAgent {
        tools = List.copyOf(tools);
    }

    /** Without tools, with {@linkplain TurnSettings#standard standard settings}. */
    public static TurnAgent of(TurnHarness harness) {
        return new TurnAgent(harness, List.of(), TurnSettings.standard());
    }

    /** With these tools: {@link Tool} objects, or objects with {@link AgentTool} methods. */
    public TurnAgent tools(Object... tools) {
        return new TurnAgent(harness, List.of(tools), turnSettings);
    }

    @Override
    public Binding binding() {
        return turnSettings.binding();
    }

    public TurnAgent settings(TurnSettings settings) {
        return new TurnAgent(harness, tools, settings);
    }
}
