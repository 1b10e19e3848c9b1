package dev.holdfast;

/**
 * The committed end of a message's turn.
 *
 * @param number the message's number in its session
 * @param turn the turn that settled it; 0 when it never had one
 * @param text the agent's final words, empty when there are none
 * @param detail why, when the outcome is not {@link Outcome#ANSWERED}; else empty
 */
public record Reply(long number, long turn, Outcome outcome, String text, String detail, Usage usage) {}
