package dev.holdfast.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code holdfast cancel}. */
@Command(
        name = "cancel",
        sortOptions = false,
        description = "Cancels a turn or a message; with neither named, the open turn, else the message next to run.")
final class CancelCommand extends OrderCommand {
    @Option(names = "--turn", paramLabel = "N", description = "That turn; nothing happens if it is over.")
    private Optional<Long> turn = Optional.empty();

    @Option(names = "--message", paramLabel = "N", description = "That message; nothing happens if it has ended.")
    private Optional<Long> message = Optional.empty();

    CancelCommand() {
        super("cancel");
    }

    @Override
    Map<String, ?> members() {
        var members = new LinkedHashMap<String, Object>();
        turn.ifPresent(n -> members.put("turn", n));
        message.ifPresent(n -> members.put("message", n));
        return members;
    }

    @Override
    String effect() {
        if (turn.isPresent()) {
            return "cancels turn " + turn.get() + " unless it is over; its event says which";
        }
        return message.isPresent()
                ? "cancels message " + message.get() + " unless it has ended; its event says which"
                : "cancels its open turn, or the message next to run when none is open";
    }
}
