package dev.holdfast.process;

import java.util.Objects;

/** A child could not be started; nothing of it is left behind. The message names what was wrong and what to do. */
public final class SpawnFailed extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    SpawnFailed(Reason reason, String message) {
        super(message);
        this.reason = Objects.requireNonNull(reason);
    }

    SpawnFailed(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason);
    }

    /** Which of the known ways it was. */
    public Reason reason() {
        return reason;
    }

    /** The ways a start can fail. */
    public enum Reason {
        /** There is no such program. */
        NOT_FOUND(false),
        /** The program exists but is not an executable file. */
        NOT_EXECUTABLE(false),
        /** The working directory is missing or is no directory. */
        WORKING_DIRECTORY(false),
        /** An argument, a variable or all of them together exceed what the system takes (HS-09). */
        ARGUMENT_TOO_LONG(false),
        /** An argument or variable cannot be expressed in the JVM's native encoding. */
        NOT_ENCODABLE(false),
        /** The system is out of processes, threads, descriptors or memory. */
        NO_RESOURCES(true),
        /** The child's file in the run directory could not be written (HS-21). */
        RUN_FILE(true),
        /** A child with the same marker is not gone yet; the two could not be told apart (HS-21). */
        MARKER_IN_USE(true),
        /** The start did not come back in time; should it come later, the child is ended at once. */
        TIMED_OUT(true),
        /** The calling thread was interrupted; should the start come later, the child is ended at once. */
        INTERRUPTED(true),
        /** The spawner is closed. */
        CLOSED(false),
        /** Anything else the system said. */
        OTHER(false);

        private final boolean passing;

        Reason(boolean passing) {
            this.passing = passing;
        }

        /** Whether the same start may succeed later without a change. */
        public boolean passing() {
            return passing;
        }
    }
}
