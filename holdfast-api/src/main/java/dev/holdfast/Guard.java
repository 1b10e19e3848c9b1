package dev.holdfast;

/**
 * Decides about every call of a tool before it runs, the host's tools and the agent's own (TL-03). Thread-safe: calls of
 * several sessions are judged at the same time, each on a thread of its own, which may block. A guard that throws, answers
 * null or is late denies; then its thread is interrupted.
 */
@FunctionalInterface
public interface Guard {
    Verdict judge(GuardedCall call) throws Exception;
}
