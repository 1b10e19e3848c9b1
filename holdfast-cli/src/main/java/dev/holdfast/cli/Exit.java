package dev.holdfast.cli;

/** The exit codes of the command; {@code holdfast --help} lists them. */
final class Exit {
    static final int OK = 0;
    /** The turn ended, but not with an answer; or a promise of the demo failed. */
    static final int TURN_FAILED = 1;

    static final int USAGE = 2;
    static final int STORE = 3;
    static final int AGENT_UNAVAILABLE = 4;
    /** The session does not exist, is parked, full or closed. */
    static final int SESSION = 5;
    /** A defect of Holdfast; its trace is in the log. */
    static final int UNEXPECTED = 70;
    /** Ended by Ctrl-C, as shells count it. */
    static final int INTERRUPTED = 130;
    /** Ended by SIGTERM, as shells count it. */
    static final int TERMINATED = 143;

    private Exit() {}
}
