package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast drain}. */
@Command(
        name = "drain",
        sortOptions = false,
        description = "Waits until the open turn has ended, then pauses the session; mail is accepted and waits.")
final class DrainCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(
            names = "--within",
            paramLabel = "TIME",
            description = "How long the open turn may take: 15s, 2m, 1h at most. Then the session is paused all the"
                    + " same. Default: 15s.")
    private String within = "15s";

    @Override
    int act(Reach reach) {
        String name = name(session);
        Duration time = duration(within)
                .filter(t -> t.compareTo(Duration.ofHours(1)) <= 0)
                .orElseThrow(() -> new CommandFailed(
                        Exit.USAGE,
                        "usage",
                        "--within '" + TerminalText.line(within, 20) + "' is no time up to an"
                                + " hour: write 15s, 2m or 1h"));
        var call = Call.post(Map.of("seconds", time.toSeconds()), "sessions", name, "drain");
        var answer = ask(reach, call, time.plus(Reach.PATIENCE));
        if (answer.path("pending").asBoolean()) {
            tell(answer, "The drain of session " + name + " is stored.", later(answer, name, "it is acted on"));
            return Exit.OK;
        }
        long queue = answer.path("queue").asLong();
        String waits = queue == 0 ? "nothing waits" : queue == 1 ? "1 message waits" : queue + " messages wait";
        tell(
                answer,
                answer.has("open_turn")
                        ? "Turn " + answer.path("open_turn").asLong() + " of session " + name + " is still open after "
                                + within + "; the session is paused, " + waits + "."
                        : "Session " + name + " is paused: nothing is in flight, " + waits + ".",
                "It goes on with: holdfast resume " + name);
        return answer.has("open_turn") ? Exit.TURN_FAILED : Exit.OK;
    }
}
