package dev.holdfast.core;

/** Where a session's one turn stands, from committed events. */
public enum TurnStage {
    /** No turn is open. */
    NONE,
    /** Opened; its message is told, or will be. */
    OPEN,
    /** The agent died after it had the message; a continuation is told, or will be. */
    CONTINUED,
    /** To be ended: cancelled, or over a deadline. */
    ENDING;

    /** What moves a turn. */
    public enum Trigger {
        OPENED,
        CONTINUED,
        RETURNED,
        END_ASKED,
        SETTLED
    }

    public static final Transitions<TurnStage, Trigger> TABLE = Transitions.<TurnStage, Trigger>named("Turn")
            .add(NONE, Trigger.OPENED, OPEN)
            .add(OPEN, Trigger.CONTINUED, CONTINUED)
            .add(OPEN, Trigger.RETURNED, OPEN)
            .add(OPEN, Trigger.END_ASKED, ENDING)
            .add(OPEN, Trigger.SETTLED, NONE)
            .add(CONTINUED, Trigger.CONTINUED, CONTINUED)
            .add(CONTINUED, Trigger.RETURNED, OPEN)
            .add(CONTINUED, Trigger.END_ASKED, ENDING)
            .add(CONTINUED, Trigger.SETTLED, NONE)
            .add(ENDING, Trigger.SETTLED, NONE);
}
