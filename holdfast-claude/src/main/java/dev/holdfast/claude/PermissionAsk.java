package dev.holdfast.claude;

/**
 * Decides whether the agent may use a tool that it asks about. Thread-safe: questions come in parallel. Each runs on a
 * thread of its own, where it may wait for a person, and which is interrupted when the answer is no longer wanted.
 */
@FunctionalInterface
public interface PermissionAsk {
    /** Decides; null and an exception deny. */
    PermissionAnswer decide(SessionHandle handle, PermissionQuestion question) throws Exception;
}
