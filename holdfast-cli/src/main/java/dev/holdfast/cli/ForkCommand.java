package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.LinkedHashMap;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast fork}. */
@Command(
        name = "fork",
        sortOptions = false,
        description = "Copies a conversation into a new session, which goes its own way from there.")
final class ForkCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session to copy; it is not touched.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Parameters(index = "1", paramLabel = "NEW", description = "The new session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String fork;

    @Option(names = "--through", paramLabel = "N", description = "Up to turn N, instead of the last.")
    private Optional<Long> through = Optional.empty();

    @Override
    int act(Reach reach) {
        String name = name(session);
        var fields = new LinkedHashMap<String, Object>();
        fields.put("name", name(fork));
        through.ifPresent(turn -> fields.put("through", turn));
        var answer = ask(reach, Call.post(fields, "sessions", name, "fork"));
        tell(
                answer,
                "Session " + fork + " begins with " + answer.path("turns").asLong() + " turns of session " + name
                        + ".");
        return Exit.OK;
    }
}
