package dev.holdfast;

import java.util.OptionalLong;

/**
 * What one turn used. Tokens are counts for this turn; {@code costMicros} is this turn's cost in millionths of a US
 * dollar, a delta of the agent's cumulative counter, absent when unknown and never 0 for unknown (TN-06).
 */
public record Usage(
        long inputTokens, long outputTokens, long cacheReadTokens, long cacheCreationTokens, OptionalLong costMicros) {
    public static Usage unknown() {
        return new Usage(0, 0, 0, 0, OptionalLong.empty());
    }
}
