package dev.holdfast;

/** The store cannot do what was asked. Nothing was overwritten; what was acknowledged before is kept. */
public final class JournalException extends HoldfastException {
    private static final long serialVersionUID = 1;
    private final Problem problem;

    public JournalException(Problem problem, String message) {
        super(message);
        this.problem = problem;
    }

    public JournalException(Problem problem, String message, Throwable cause) {
        super(message, cause);
        this.problem = problem;
    }

    public Problem problem() {
        return problem;
    }

    /** What is wrong, for programs. */
    public enum Problem {
        /** The disk is full. */
        FULL_DISK,
        /** The directory or the file cannot be written. */
        READ_ONLY,
        /** What is stored is not what was written, or part of it is missing (LV-09). */
        DAMAGED,
        /** Written by a newer version. */
        NEWER_FORMAT,
        /** Another process owns the directory (LV-07). */
        IN_USE,
        /** There is no store there. */
        NOT_FOUND,
        /** A session that was never opened. */
        UNKNOWN_SESSION,
        /** Another live node owns the session (IN-18). */
        OWNED,
        /** The store was closed, or stopped after a failed write. */
        STOPPED,
        /** An error of the disk or the database that has no name of its own. */
        FAILED
    }
}
