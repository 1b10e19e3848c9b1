package dev.holdfast;

/** Which of take and withdraw won (MB-21). */
public sealed interface Withdrawal {
    /** It was taken out before its turn; it ends as {@link Outcome#WITHDRAWN}. */
    record Withdrawn(long number) implements Withdrawal {}

    /** It is in a turn, or has ended, or is of a kind without words: nothing was changed. */
    record TooLate(long number, String why) implements Withdrawal {}

    /** There is no such message. */
    record Unknown(long number) implements Withdrawal {}
}
