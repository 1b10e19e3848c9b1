package dev.holdfast;

/** The truthful answer to a steering message (TN-09). */
public enum SteerAnswer {
    /** The agent acknowledged it into the context of the running turn. */
    LANDED,
    /** It is durable and had not landed when the answer was given: it lands later, or gets a turn of its own. */
    QUEUED,
    /** It was not accepted; nothing was stored. */
    REFUSED
}
