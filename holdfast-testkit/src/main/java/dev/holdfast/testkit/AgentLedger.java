package dev.holdfast.testkit;

/** The money and tokens of one process, by a price list of its own. Used by the turn thread; read by others. */
final class AgentLedger {
    static final long INPUT_PER_CALL = 10;
    static final long OUTPUT_PER_CALL = 5;
    private static final double INPUT_PRICE = 3e-6;
    private static final double OUTPUT_PRICE = 15e-6;

    private final AgentProfile profile;
    private long inputTokens;
    private long outputTokens;
    private double before;
    private int results;

    AgentLedger(AgentProfile profile) {
        this.profile = profile;
    }

    /** What earlier processes spent on this session. */
    synchronized void carry(double cost) {
        before = cost;
    }

    /** After {@code /clear} the newer version counts from zero. */
    synchronized void startOver() {
        if (profile.has(AgentQuirk.COST_CARRIED)) {
            before = 0;
            inputTokens = 0;
            outputTokens = 0;
        }
    }

    synchronized void oneCall() {
        inputTokens += INPUT_PER_CALL;
        outputTokens += OUTPUT_PER_CALL;
    }

    /** A call that was cut off behind its first token. */
    synchronized void partOfACall() {
        inputTokens += INPUT_PER_CALL;
        outputTokens += 1;
    }

    synchronized double spentHere() {
        return inputTokens * INPUT_PRICE + outputTokens * OUTPUT_PRICE;
    }

    synchronized double total() {
        return before + spentHere();
    }

    synchronized int nextResult() {
        return results++;
    }

    synchronized Json modelUsage(String model) {
        Json.Obj all = Json.object();
        if (inputTokens == 0) {
            return all;
        }
        return all.with(
                model,
                Json.object()
                        .with("inputTokens", inputTokens)
                        .with("outputTokens", outputTokens)
                        .with("cacheReadInputTokens", 0)
                        .with("cacheCreationInputTokens", 0)
                        .with("webSearchRequests", 0)
                        .with("costUSD", spentHere())
                        .with("contextWindow", 200_000)
                        .with("maxOutputTokens", 32_000));
    }
}
