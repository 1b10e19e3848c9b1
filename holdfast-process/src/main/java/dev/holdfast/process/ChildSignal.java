package dev.holdfast.process;

/** The signals a child can be sent. */
public enum ChildSignal {
    /** Asks it to end; it may save what it has. */
    TERM,
    /** Ends it without a word. Send {@link #TERM} first (HS-22). */
    KILL,
    /** Wakes a stopped one. */
    CONT,
    /** What Ctrl-C sends. */
    INT
}
