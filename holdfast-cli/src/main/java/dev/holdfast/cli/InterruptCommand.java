package dev.holdfast.cli;

import picocli.CommandLine.Command;

/** {@code holdfast interrupt}. */
@Command(
        name = "interrupt",
        sortOptions = false,
        description = "Interrupts the open turn, or the message next to run when none is open.")
final class InterruptCommand extends OrderCommand {
    InterruptCommand() {
        super("interrupt");
    }

    @Override
    String effect() {
        return "interrupts its open turn, or the message next to run when none is open";
    }
}
