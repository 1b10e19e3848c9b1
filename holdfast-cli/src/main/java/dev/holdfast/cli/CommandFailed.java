package dev.holdfast.cli;

/** What a command cannot do, in one or two lines for a person, with its exit code. */
final class CommandFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int exit;
    private final String problem;

    /** @param problem one word for programs */
    CommandFailed(int exit, String problem, String message) {
        super(message);
        this.exit = exit;
        this.problem = problem;
    }

    int exit() {
        return exit;
    }

    String problem() {
        return problem;
    }
}
