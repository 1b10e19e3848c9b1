package dev.holdfast.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast pause}. */
@Command(
        name = "pause",
        sortOptions = false,
        description = "Lets no further turn begin; an open one ends, and mail is accepted.")
final class PauseCommand extends OrderCommand {
    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            required = false,
            description = "Why; who looks at the session reads it. Default: paused by hand.")
    private String reason = "paused by hand";

    PauseCommand() {
        super("pause");
    }

    @Override
    Map<String, ?> members() {
        return Map.of("reason", reason);
    }

    @Override
    String effect() {
        return "begins no further turn; mail is accepted and waits";
    }

    @Override
    String next(String name, ObjectNode answer) {
        return answer.path("done").asString().equals("pausing")
                ? "Mail is accepted and waits. It goes on with: holdfast resume " + name
                : "";
    }
}
