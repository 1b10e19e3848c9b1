package dev.holdfast.core;

/**
 * A call whose start is recorded and whose end is not.
 *
 * @param turn 0 in a turn the agent started by itself
 * @param builtIn the agent runs it, not the host
 */
public record StartedCall(
        long turn, String callId, String tool, String inputDigest, String key, boolean builtIn, CallFacts facts) {}
