package dev.holdfast.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
}
