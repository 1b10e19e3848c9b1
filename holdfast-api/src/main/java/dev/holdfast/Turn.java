package dev.holdfast;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** One turn, as a {@link TurnHarness} sees it (HN-02). Thread-safe. What is done with it after its end is recorded and has no effect. */
public interface Turn {
    /** Which turn it is. */
    TurnIds ids();

    /**
     * The conversation so far, oldest first, bounded to the newest 100,000 characters unless the host says otherwise, with
     * the cut said in a message of the host's own (HN-05). A turn that was not answered ends with a message of the host's
     * own as well, which says so. The last ones are {@link #asked}. Immutable.
     */
    List<TurnMessage> messages();

    /** What this turn is to answer, never empty: for a thinker that remembers the rest (HN-05). Immutable. */
    List<TurnMessage> asked();

    /** How many messages the transcript has, those that {@link #messages} leaves out included (HN-04). */
    int length();

    /** The host's tools, through the one door. */
    TurnTools tools();

    /** Skills bound to the agent, in order; may be empty. */
    List<Skill> skills();

    /** Where the thinker may read and write files; absent when it has no place for that. */
    Optional<Path> workspace();

    /** What the thinker wants to find again in its next turn. */
    TurnMemory state();

    /** What was given for this turn. */
    TurnOptions options();

    /** Fires when nobody wants the answer any more. */
    TurnCancel cancel();

    /** Whether a person may be asked while it runs. */
    boolean interactive();

    /** What the host's developer tells the thinker of its task; may be empty. */
    String brief();

    /**
     * Takes messages that come while the turn runs (TN-09). A later handler replaces an earlier one. Without one, or with one
     * that answers false or throws, a message waits for a turn of its own.
     */
    void onSteer(SteerHandler handler);

    /** Says something; never throws and never blocks. */
    void emit(TurnEvent event);

    /** Takes a message into the running turn. Called on a thread of the host; must be quick. */
    @FunctionalInterface
    interface SteerHandler {
        /** Whether it has landed: the model will see it in this turn, before its answer. Never true without that. */
        boolean land(TurnMessage message);
    }
}
