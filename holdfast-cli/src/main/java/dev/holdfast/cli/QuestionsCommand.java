package dev.holdfast.cli;

import dev.holdfast.server.Call;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code holdfast questions}. */
@Command(
        name = "questions",
        sortOptions = false,
        description = "Lists the questions of a session that wait for an answer: its own, and about calls of tools.")
final class QuestionsCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Override
    int act(Reach reach) {
        String name = name(session);
        var answer = ask(reach, Call.get("sessions", name, "questions"));
        if (globals().json()) {
            tell(answer);
            return Exit.OK;
        }
        var screen = globals().screen();
        var questions = answer.path("questions");
        if (questions.isEmpty()) {
            screen.line(Screen.Style.PLAIN, "Session " + name + " asks nothing.");
            return Exit.OK;
        }
        boolean calls = false;
        for (JsonNode question : questions) {
            calls |= question.has("tool");
            screen.line(screen.styled(Screen.Style.BOLD, question.path("id").asString()) + "  until "
                    + screen.styled(Screen.Style.DIM, question.path("deadline").asString()));
            screen.line("  " + screen.setIn(2, question.path("text").asString()));
        }
        screen.line(
                Screen.Style.DIM,
                calls
                        ? "Answer with: holdfast approve " + name + " ID yes, or no"
                        : "Answer with: holdfast answer " + name + " ID TEXT");
        return Exit.OK;
    }
}
