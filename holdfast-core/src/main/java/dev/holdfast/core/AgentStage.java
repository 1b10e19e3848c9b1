package dev.holdfast.core;

/** Where this owner's current incarnation of the agent stands. Lives in {@link Live}: a new owner begins at DOWN. */
public enum AgentStage {
    /** No process, none wanted or none yet. */
    DOWN,
    /** Wanted; waits for a slot. */
    PLANNED,
    /** Older processes are seen dead and the agent's record is read. */
    ASKING,
    /** The process starts and its tool list is checked. */
    STARTING,
    /** It takes lines. */
    READY,
    /** It is being ended. */
    STOPPING;

    /** What moves an incarnation. */
    public enum Trigger {
        PLAN,
        ABANDON,
        SLOT_GRANTED,
        KNOWN,
        VERIFIED,
        STOP,
        ENDED
    }

    public static final Transitions<AgentStage, Trigger> TABLE = Transitions.<AgentStage, Trigger>named(
                    "Agent incarnation")
            .add(DOWN, Trigger.PLAN, PLANNED)
            .add(PLANNED, Trigger.SLOT_GRANTED, ASKING)
            .add(PLANNED, Trigger.ABANDON, DOWN)
            .add(ASKING, Trigger.KNOWN, STARTING)
            .add(ASKING, Trigger.STOP, STOPPING)
            .add(ASKING, Trigger.ENDED, DOWN)
            .add(STARTING, Trigger.VERIFIED, READY)
            .add(STARTING, Trigger.STOP, STOPPING)
            .add(STARTING, Trigger.ENDED, DOWN)
            .add(READY, Trigger.STOP, STOPPING)
            .add(READY, Trigger.ENDED, DOWN)
            .add(STOPPING, Trigger.ENDED, DOWN);
}
