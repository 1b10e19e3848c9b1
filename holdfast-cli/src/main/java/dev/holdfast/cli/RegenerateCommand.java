package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast regenerate}. */
@Command(
        name = "regenerate",
        sortOptions = false,
        description = "Throws away the last answer, or those from a turn on, and lets the agent answer again.")
final class RegenerateCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(names = "--turn", paramLabel = "N", description = "From turn N on, instead of the last.")
    private Optional<Long> turn = Optional.empty();

    @Option(names = "--delete", description = "Does not answer again: the turns from --turn on are thrown away.")
    private boolean delete;

    @Override
    int act(Reach reach) {
        String name = name(session);
        if (delete) {
            return delete(reach, name);
        }
        Map<String, Object> fields = turn.isPresent() ? Map.of("turn", turn.get()) : Map.of();
        var answer = ask(reach, Call.post(fields, "sessions", name, "regenerate"));
        tell(
                answer,
                "The answer is thrown away and asked for again, as message "
                        + answer.path("message").asLong() + " of session " + name + ".",
                later(answer, name, "it gets its turn"));
        return Exit.OK;
    }

    private int delete(Reach reach, String name) {
        long from = turn.orElseThrow(
                () -> new CommandFailed(Exit.USAGE, "usage", "--delete needs --turn N: the first turn to throw away"));
        var answer = ask(reach, Call.post(Map.of("from", from), "sessions", name, "cut"));
        tell(answer, "Turns from " + from + " on are thrown away in their place.", later(answer, name, "that is done"));
        return Exit.OK;
    }
}
