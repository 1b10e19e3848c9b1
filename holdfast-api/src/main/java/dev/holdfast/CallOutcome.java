package dev.holdfast;

/** How a call ended. */
public enum CallOutcome {
    /** With an answer. */
    OK,
    /** With an error. */
    ERROR,
    /** It was not run: see its {@link CallRuling}. */
    DENIED,
    /** It was not run: its turn was over, or the agent did not want it any more, before that was decided. */
    ABANDONED,
    /** It was begun, and its turn was over, or the agent did not want it any more, before it ended: it may have happened. */
    CANCELLED,
    /** It was begun, and the agent or the host died before it ended: it may have happened. */
    LOST
}
