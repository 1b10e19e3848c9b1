package dev.holdfast;

import java.util.List;

/** What a session runs on: a harness, and the host tools bound to it at start (HS-03). Immutable. */
public interface Agent {
    Harness harness();

    /** Tools of the host: {@link Tool} objects, or objects with {@link AgentTool} methods. */
    List<Object> tools();

    /** What each turn is given besides; for a {@link TurnHarness} only. */
    default TurnSettings turnSettings() {
        return TurnSettings.standard();
    }

    /**
     * What else a process of this agent keeps from its start to its end: model, prompt, directories and the like. The
     * harness's name and the tools with their schemas are compared besides, and need not be in it.
     */
    default Binding binding() {
        return Binding.none();
    }
}
