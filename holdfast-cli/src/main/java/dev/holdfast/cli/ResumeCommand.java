package dev.holdfast.cli;

import picocli.CommandLine.Command;

/** {@code holdfast resume}. */
@Command(name = "resume", sortOptions = false, description = "Takes a paused, drained or parked session up again.")
final class ResumeCommand extends OrderCommand {
    ResumeCommand() {
        super("resume");
    }

    @Override
    String effect() {
        return "goes on with what waits";
    }
}
