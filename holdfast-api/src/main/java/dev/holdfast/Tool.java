package dev.holdfast;

import java.time.Duration;
import java.util.Optional;

/**
 * A tool of the host, called by the agent through the one door (TL-02). Implementations must be thread-safe: parallel
 * calls come from several threads.
 */
public interface Tool {
    ToolSpec spec();

    /** What {@link #spec} says: side effects unless said otherwise, the safe assumption after a crash. */
    default ToolEffects effects() {
        return spec().effects();
    }

    /** True when a second run with the same {@link ToolCall#idempotencyKey()} does no harm. */
    default boolean idempotent() {
        return false;
    }

    /**
     * How long a call may run (TL-06), longer than zero; the host's own deadline when absent. When it has passed the agent is
     * told so, the tool's thread is interrupted and its late answer is dropped.
     */
    default Optional<Duration> deadline() {
        return Optional.empty();
    }

    /**
     * Runs the call on a thread of its own. The input was found to fit the schema before (TL-05). An exception becomes an
     * error answer with its message.
     */
    ToolAnswer call(ToolCall call) throws Exception;
}
