package dev.holdfast.core;

/** Whether a session lets turns start. */
public enum Phase {
    /** Messages are accepted and run. */
    OPEN,
    /** Messages are accepted; none is taken until the session is resumed. An open turn may end (MB-08). */
    PAUSED,
    /** As PAUSED, on the way there: the open turn has until a deadline to end (MB-09). */
    DRAINING,
    /** Messages are accepted and wait until a person resumes the session; nothing runs, the reason is recorded. */
    PARKED,
    /** Over: nothing is accepted, nothing runs. */
    CLOSED;

    /** What changes a phase. */
    public enum Trigger {
        PARK,
        PAUSE,
        DRAIN,
        DRAINED,
        RESUME,
        CLOSE
    }

    public static final Transitions<Phase, Trigger> TABLE = Transitions.<Phase, Trigger>named("Session phase")
            .add(OPEN, Trigger.PARK, PARKED)
            .add(OPEN, Trigger.PAUSE, PAUSED)
            .add(OPEN, Trigger.DRAIN, DRAINING)
            .add(OPEN, Trigger.CLOSE, CLOSED)
            .add(PAUSED, Trigger.PARK, PARKED)
            .add(PAUSED, Trigger.DRAIN, DRAINING)
            .add(PAUSED, Trigger.RESUME, OPEN)
            .add(PAUSED, Trigger.CLOSE, CLOSED)
            .add(DRAINING, Trigger.DRAINED, PAUSED)
            .add(DRAINING, Trigger.PARK, PARKED)
            .add(DRAINING, Trigger.PAUSE, PAUSED)
            .add(DRAINING, Trigger.RESUME, OPEN)
            .add(DRAINING, Trigger.CLOSE, CLOSED)
            .add(PARKED, Trigger.RESUME, OPEN)
            .add(PARKED, Trigger.CLOSE, CLOSED);

    /** No process may run, whatever is open. */
    boolean forbidsProcesses() {
        return this == PARKED || this == CLOSED;
    }
}
