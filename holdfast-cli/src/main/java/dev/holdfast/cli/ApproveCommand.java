package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code holdfast approve}: a person's yes or no to a call of a tool. */
@Command(
        name = "approve",
        sortOptions = false,
        description = "Says yes or no to a call of a tool that a session asks about.")
final class ApproveCommand extends SessionCommand {
    private static final Set<String> WORDS = Set.of("yes", "no");

    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Parameters(
            index = "1..*",
            arity = "1..2",
            paramLabel = "[ID] yes|no",
            description = "The question's id, which may be left out when one call is asked about; and the answer.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private List<String> words;

    @Override
    int act(Reach reach) {
        String name = name(session);
        String word = words.getLast().toLowerCase(Locale.ROOT);
        if (!WORDS.contains(word) || words.size() > 2) {
            throw new CommandFailed(Exit.USAGE, "usage", "say yes or no: holdfast approve " + name + " [ID] yes|no");
        }
        String question = words.size() == 2 ? words.getFirst() : only(reach, name);
        var members = Map.of("question", question, "text", word, "surface", "cli");
        var answer = ask(reach, Call.post(members, "sessions", name, "answers"));
        var done = answer.path("done").asString("");
        tell(
                answer,
                done.isEmpty()
                        ? "The answer is stored as number "
                                + answer.path("number").asLong() + " of session " + name + "."
                        : "Session " + name + ": " + done + ".",
                done.isEmpty() ? later(answer, name, "it is given") : "");
        return done.startsWith("no such question") ? Exit.SESSION : Exit.OK;
    }

    /** The one call that is asked about. */
    private static String only(Reach reach, String name) {
        var open = new ArrayList<String>();
        for (JsonNode question :
                ask(reach, Call.get("sessions", name, "questions")).path("questions")) {
            if (question.has("tool")) {
                open.add(question.path("id").asString());
            }
        }
        if (open.size() == 1) {
            return open.getFirst();
        }
        throw new CommandFailed(
                Exit.SESSION,
                "no_such_question",
                open.isEmpty()
                        ? "session " + name + " asks about no call"
                        : "session " + name + " asks about " + open.size() + " calls: name one of "
                                + String.join(", ", open));
    }
}
