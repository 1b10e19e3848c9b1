package dev.holdfast;

import java.util.Set;

/** Reasons of a close that mean a pause (MB-08). Every other reason, an unknown one and none, is final. */
public final class CloseReason {
    public static final String TOKEN_BUDGET = "token-budget";
    public static final String MONEY_BUDGET = "usd-budget";
    private static final Set<String> RECOVERABLE = Set.of(TOKEN_BUDGET, MONEY_BUDGET);

    private CloseReason() {}

    /** Whether a session closed for this reason is paused: it accepts, gives nothing, and can be resumed. */
    public static boolean recoverable(String reason) {
        return RECOVERABLE.contains(reason);
    }
}
