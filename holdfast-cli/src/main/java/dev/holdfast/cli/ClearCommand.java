package dev.holdfast.cli;

import picocli.CommandLine.Command;

/** {@code holdfast clear}. */
@Command(
        name = "clear",
        sortOptions = false,
        description = "Drops the agent's memory in its place in the queue; the transcript is kept and marked.")
final class ClearCommand extends OrderCommand {
    ClearCommand() {
        super("clear");
    }

    @Override
    String effect() {
        return "drops the agent's memory in its place in the queue; the transcript is kept";
    }
}
