package dev.holdfast.core;

/**
 * A call about which a person is asked.
 *
 * @param turn 0 in a turn the agent started by itself
 * @param key its idempotency key, by which the same call is known again after a crash
 * @param builtIn the agent runs it, not the host
 * @param facts with the rule that asks
 */
public record AskedCall(
        long turn, String callId, String tool, String inputDigest, String key, boolean builtIn, CallFacts facts) {}
