package dev.holdfast.cli;

import dev.holdfast.server.Call;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code holdfast transcript}. */
@Command(
        name = "transcript",
        sortOptions = false,
        description = "Shows what was said in a session, turn by turn. What was thrown away is not in it.")
final class TranscriptCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(names = "--after", paramLabel = "N", description = "Only turns after turn N.")
    private long after;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "100", description = "At most N turns, 1 to 500.")
    private int limit;

    @Override
    int act(Reach reach) {
        String name = name(session);
        var call = Call.get("sessions", name, "transcript")
                .asking("after", Long.toString(after))
                .asking("limit", Integer.toString(limit));
        var answer = ask(reach, call);
        if (globals().json()) {
            tell(answer);
            return Exit.OK;
        }
        var screen = globals().screen();
        for (JsonNode turn : answer.path("turns")) {
            var outcome = turn.path("outcome").asString();
            screen.line(
                    Screen.Style.DIM,
                    "turn " + turn.path("turn").asLong()
                            + (outcome.equals("ANSWERED") ? "" : "  " + outcome.toLowerCase(java.util.Locale.ROOT))
                            + (turn.path("remembered").asBoolean() ? "" : "  (dropped from the agent's memory)"));
            for (JsonNode entry : turn.path("entries")) {
                var who = entry.path("role").asString().equals("agent")
                        ? "agent"
                        : entry.path("author").asString("holdfast");
                screen.line(who + ": " + TerminalText.safe(entry.path("text").asString()));
            }
        }
        if (answer.path("turns").isEmpty()) {
            screen.line(Screen.Style.PLAIN, "The transcript of session " + name + " has no turn there.");
        } else if (answer.has("next")) {
            screen.line(
                    Screen.Style.DIM,
                    "More with: holdfast transcript " + name + " --after "
                            + answer.path("next").asLong());
        }
        return Exit.OK;
    }
}
