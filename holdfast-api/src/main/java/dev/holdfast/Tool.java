package dev.holdfast;

/**
 * A tool of the host, called by the agent through the one door (TL-02). Implementations must be thread-safe: parallel
 * calls come from several threads.
 */
public interface Tool {
    ToolSpec spec();

    /** Side effects unless said otherwise: the safe assumption after a crash. */
    default ToolEffects effects() {
        return ToolEffects.WRITE;
    }

    /** True when a second run with the same {@link ToolCall#idempotencyKey()} does no harm. */
    default boolean idempotent() {
        return false;
    }

    /** Runs the call on a thread of its own. An exception becomes an error answer with its message. */
    ToolAnswer call(ToolCall call) throws Exception;
}
