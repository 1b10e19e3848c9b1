package dev.holdfast.process;

import java.time.Duration;

/**
 * One step on the way to a child's end, told to {@link ChildListener#step} (HS-07, P4).
 *
 * @param kind what was done or seen
 * @param processes how many processes it concerned
 * @param sinceStart time since the child was started
 */
public record StopStep(Kind kind, int processes, Duration sinceStart) {

    /** What was done or seen. */
    public enum Kind {
        /** The child's stdin is closed as soon as the lines already queued are out. */
        INPUT_CLOSED,
        /** The child was sent TERM. */
        TERMINATED,
        /** The child was sent CONT, so that a stopped one can act on TERM. */
        CONTINUED,
        /** The child was sent KILL. */
        KILLED,
        /** The child has exited. */
        EXITED,
        /** Processes it left behind were sent TERM and CONT. */
        LEFTOVERS_TERMINATED,
        /** Processes it left behind were sent KILL. */
        LEFTOVERS_KILLED,
        /** The child and everything it had started were seen dead. */
        TREE_DEAD,
        /** Something is still alive after KILL and its wait. */
        SURVIVED
    }
}
