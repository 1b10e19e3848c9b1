package dev.holdfast.cli;

import picocli.CommandLine.Command;

/** {@code holdfast reset}. */
@Command(
        name = "reset",
        sortOptions = false,
        description = "Interrupts the turn and drops the agent's memory; the transcript is kept and marked.")
final class ResetCommand extends OrderCommand {
    ResetCommand() {
        super("reset");
    }

    @Override
    String effect() {
        return "interrupts its open turn and drops the agent's memory; the transcript is kept";
    }
}
