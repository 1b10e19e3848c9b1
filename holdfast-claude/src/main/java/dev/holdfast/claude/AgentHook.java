package dev.holdfast.claude;

/**
 * The host's own code at a point in the agent's work. Thread-safe: tools that run in parallel ask in parallel. Each call
 * runs on a thread of its own, where it may wait, and which is interrupted when the answer is no longer wanted (HS-12).
 */
@FunctionalInterface
public interface AgentHook {
    /** Answers, never with null. What an exception means is said by {@link HookRule#guards}. */
    HookAnswer on(HookCall call) throws Exception;
}
