package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code holdfast answer}. */
@Command(name = "answer", sortOptions = false, description = "Answers a question that a session asked.")
final class AnswerCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Parameters(index = "1", paramLabel = "QUESTION", description = "The question's id; its event names it.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String question;

    @Parameters(index = "2..*", arity = "1..*", paramLabel = "TEXT", description = "The answer.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String[] text;

    @Override
    int act(Reach reach) {
        String name = name(session);
        var members = Map.of("question", question, "text", String.join(" ", text), "surface", "cli");
        var answer = ask(reach, Call.post(members, "sessions", name, "answers"));
        tell(
                answer,
                answer.has("done")
                        ? "Session " + name + ": " + answer.path("done").asString() + "."
                        : "The answer is stored as number "
                                + answer.path("number").asLong() + " of session " + name + ".",
                answer.has("done") ? "" : later(answer, name, "it is given"));
        return Exit.OK;
    }
}
