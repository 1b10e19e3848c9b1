package dev.holdfast.server;

/** Ends the handling of a call; what it answers is its problem. */
final class CallRefused extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient Problem problem;

    CallRefused(Problem problem) {
        super(problem.detail(), null, false, false);
        this.problem = problem;
    }

    Problem problem() {
        return problem;
    }
}
