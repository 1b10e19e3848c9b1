package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code holdfast dead-letters}. */
@Command(
        name = "dead-letters",
        sortOptions = false,
        description = "Lists the messages that were set aside because agents died of them, or sends one again.")
final class DeadLettersCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(
            names = "--resend",
            paramLabel = "N",
            description = "Sends the words of message N again, as a new message of its author.")
    private Optional<Long> resend = Optional.empty();

    @Override
    int act(Reach reach) {
        String name = name(session);
        return resend.isPresent() ? resend(reach, name, resend.get()) : list(reach, name);
    }

    private int resend(Reach reach, String name, long number) {
        var call = Call.post(Map.of(), "sessions", name, "dead-letters", Long.toString(number), "resend");
        var answer = ask(reach, call);
        tell(
                answer,
                "The words of message " + number + " are sent again as message "
                        + answer.path("message").asLong() + " of session " + name + ".",
                later(answer, name, "it gets its turn"));
        return Exit.OK;
    }

    private int list(Reach reach, String name) {
        var answer = ask(reach, Call.get("sessions", name, "dead-letters"));
        var letters = answer.path("dead_letters");
        if (globals().json()) {
            tell(answer);
            return Exit.OK;
        }
        var screen = globals().screen();
        if (letters.isEmpty()) {
            screen.line(Screen.Style.PLAIN, "Session " + name + " has set no message aside.");
            return Exit.OK;
        }
        for (JsonNode letter : letters) {
            screen.line("message " + letter.path("message").asLong() + "  "
                    + TerminalText.line(letter.path("detail").asString(), 120));
        }
        screen.line(Screen.Style.DIM, "Send one again with: holdfast dead-letters " + name + " --resend N");
        return Exit.OK;
    }
}
