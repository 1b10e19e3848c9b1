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
}
