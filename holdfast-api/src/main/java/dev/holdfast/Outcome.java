package dev.holdfast;

/** How an accepted message ended: the terminal record of P2. Each message gets exactly one. */
public enum Outcome {
    /** The agent answered. */
    ANSWERED,
    /** The turn ended as an error of the agent or of the model behind it. */
    FAILED,
    /** The turn was interrupted on request. */
    CANCELLED,
    /** The agent stopped at its limit of steps (MB-15). */
    TURN_LIMIT,
    /** The message was taken out of the queue before its turn (MB-21). */
    WITHDRAWN,
    /** Set aside because the agent or the host died repeatedly in its turn (MB-20). */
    DEAD_LETTER,
    /** The session was closed first. */
    CLOSED
}
