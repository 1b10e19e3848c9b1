package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import picocli.CommandLine.Parameters;

/** A command that gives a session one order, which is durable when the command returns. */
abstract class OrderCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    private final String verb;

    /** @param verb the last part of the order's route */
    OrderCommand(String verb) {
        this.verb = verb;
    }

    /** What the order says besides its verb. */
    Map<String, ?> members() {
        return Map.of();
    }

    /** What the order does once it is acted on, as the end of a sentence that begins with the session. */
    abstract String effect();

    @Override
    int act(Reach reach) {
        String name = name(session);
        var answer = ask(reach, Call.post(members(), "sessions", name, verb));
        String number = answer.path("number").asString();
        tell(
                answer,
                answer.path("held").asBoolean()
                        ? "Session " + name + " " + effect() + "."
                        : "Stored as number " + number + " of session " + name + ".",
                later(answer, name, "it " + effect()));
        return Exit.OK;
    }
}
