package dev.holdfast.claude;

import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;

/** Runs calls of tools that were only described to the agent, by a {@code ToolSpec}. Thread-safe: calls come in parallel. */
@FunctionalInterface
public interface ToolExecutor {
    /**
     * Runs one call, on a thread where it may wait. An exception becomes an error answer with its message.
     *
     * @param tool the tool's name, as in its {@code ToolSpec}
     */
    ToolAnswer call(String tool, ToolCall call) throws Exception;
}
