package dev.holdfast.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast finish}. */
@Command(
        name = "finish",
        sortOptions = false,
        description = "Takes nothing new; what waits still runs, then the session is closed for good.")
final class FinishCommand extends OrderCommand {
    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            required = true,
            description = "Why; senders who come later are told.")
    private String reason = "";

    FinishCommand() {
        super("finish");
    }

    @Override
    Map<String, ?> members() {
        return Map.of("reason", reason);
    }

    @Override
    String effect() {
        return "takes nothing new; what waits still runs, then it is closed";
    }

    @Override
    String next(String name, ObjectNode answer) {
        String later = later(answer, name, "what waits runs, and then the session is closed,");
        return later.isEmpty() ? "It takes nothing new; it is closed once what waits has run." : later;
    }
}
