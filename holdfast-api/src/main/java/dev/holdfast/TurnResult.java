package dev.holdfast;

import java.util.List;

/**
 * What an agent said of a turn's end.
 *
 * @param ending decided by the error flag and the terminal reason, never by subtype or exit code (TN-02)
 * @param text the final words, empty when there are none
 * @param reason the agent's terminal reason or error text, for people; empty when there is nothing to say
 * @param lines the lines this result is for, when the agent tells; else empty
 * @param answerId id of the last assistant entry, as the agent's record names it; empty when there is none
 * @param requestId id of this result, unique per turn; empty when read from the record
 * @param fatal true when no further turn can succeed before a person acts (login, billing, quota)
 */
public record TurnResult(
        Ending ending,
        String text,
        String reason,
        Usage usage,
        List<DeliveryId> lines,
        String answerId,
        String requestId,
        boolean fatal) {
    public TurnResult {
        lines = List.copyOf(lines);
    }

    /** How a turn can end, seen from the agent. */
    public enum Ending {
        ANSWERED,
        FAILED,
        INTERRUPTED,
        TURN_LIMIT
    }
}
