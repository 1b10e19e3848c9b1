package dev.holdfast.claude;

import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;

/**
 * Turns an agent's cumulative cost counter into the cost of one turn (TN-06). The counter's first value, taken before
 * any turn, is the baseline: some versions carry the counter over a resume and some begin at zero. A counter that falls
 * has begun again at zero. Unknown is absent, never 0. Not thread-safe.
 */
final class CostMeter {
    private static final double MICROS = 1_000_000;

    /** No counter of dollars stands higher; one that does, or below zero, says nothing. */
    private static final double MOST = 1e12;

    private OptionalLong last = OptionalLong.empty();

    /** Takes a reading that belongs to no turn. */
    void baseline(JsonNode totalCostUsd) {
        last = micros(totalCostUsd);
    }

    /** The cost since the last reading; absent when either reading is missing. */
    OptionalLong turn(JsonNode totalCostUsd) {
        OptionalLong now = micros(totalCostUsd);
        OptionalLong before = last;
        last = now;
        if (now.isEmpty() || before.isEmpty()) {
            return OptionalLong.empty();
        }
        boolean begunAgain = now.getAsLong() < before.getAsLong();
        return OptionalLong.of(begunAgain ? now.getAsLong() : now.getAsLong() - before.getAsLong());
    }

    private static OptionalLong micros(JsonNode usd) {
        double amount = usd.isNumber() ? usd.doubleValue(Double.NaN) : Double.NaN;
        boolean possible = amount >= 0 && amount <= MOST;
        return possible ? OptionalLong.of(Math.round(amount * MICROS)) : OptionalLong.empty();
    }
}
