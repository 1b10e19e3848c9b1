package dev.holdfast.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
        return "begins no further turn; mail is accepted and waits, until: holdfast resume";
    }
}
