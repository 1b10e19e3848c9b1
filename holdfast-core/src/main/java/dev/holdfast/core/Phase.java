package dev.holdfast.core;

/** Whether a session lets turns start. */
public enum Phase {
    /** Messages are accepted and run. */
    OPEN,
    /** Messages are accepted and wait until a person resumes the session; the reason is recorded. */
    PARKED,
    /** Over: nothing is accepted, nothing runs. */
    CLOSED;

    /** What changes a phase. */
    public enum Trigger {
        PARK,
        RESUME,
        CLOSE
    }

    public static final Transitions<Phase, Trigger> TABLE = Transitions.<Phase, Trigger>named("Session phase")
            .add(OPEN, Trigger.PARK, PARKED)
            .add(PARKED, Trigger.RESUME, OPEN)
            .add(OPEN, Trigger.CLOSE, CLOSED)
            .add(PARKED, Trigger.CLOSE, CLOSED);
}
