package dev.holdfast.testkit;

import dev.holdfast.Agent;
import java.util.List;
import java.util.Optional;

/**
 * A harness with a scripted thinker behind it, for {@link HarnessConformance}. Whatever it is, the thinker obeys the
 * directives {@code say}, {@code tool}, {@code tool+}, {@code gate} and {@code error 400} in the messages it is shown, and
 * answers {@code echo: MESSAGE (TOOL RESULTS)} otherwise.
 */
public interface HarnessStage extends AutoCloseable {
    /** An agent that thinks with it, bound to these tools; called again, one with the same name and memory. */
    Agent agent(Object... tools);

    /** As {@link #agent}, with turn options; absent for a harness that is no {@code TurnHarness}. */
    default Optional<Agent> agentWithOption(String name, String value) {
        return Optional.empty();
    }

    /** What the thinker calls a bound tool. */
    default String tool(String name) {
        return name;
    }

    /** The gate of that name; opened once, it stays open. */
    Gate gate(String name);

    /** Everything the thinker was shown in its newest step, as one text. */
    String shown();

    /** The bound tools it was shown in its newest step, by the names they were bound under; in any order. */
    List<String> tools();

    /** Kills the agent's process; false when there is none. */
    default boolean kill() {
        return false;
    }

    /** A directive that makes the harness itself throw, where there is one (HN-10). */
    default Optional<String> throwing() {
        return Optional.empty();
    }

    /** Whether calls of one step run beside each other; else the second waits for the first. */
    default boolean callsInParallel() {
        return true;
    }

    /** Whether a message can land in a running turn; a harness without that lets it wait for a turn of its own. */
    default boolean landsSteers() {
        return true;
    }

    /** Lets go of everything; opens every gate first. */
    @Override
    void close();
}
