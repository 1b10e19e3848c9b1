package dev.holdfast.cli;

import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

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

    @Override
    String next(String name, ObjectNode answer) {
        return later(answer, name, "what waits runs");
    }
}
