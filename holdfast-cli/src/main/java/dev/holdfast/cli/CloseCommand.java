package dev.holdfast.cli;

import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code holdfast close}. */
@Command(
        name = "close",
        sortOptions = false,
        description = "Ends the session at once and for good; what waits ends as closed.")
final class CloseCommand extends OrderCommand {
    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            required = true,
            description =
                    "Why; senders who come later are told. token-budget and usd-budget pause the session instead.")
    private String reason = "";

    CloseCommand() {
        super("close");
    }

    @Override
    Map<String, ?> members() {
        return Map.of("reason", reason);
    }

    @Override
    String effect() {
        return "is closed for good; what had not run ends as closed";
    }
}
