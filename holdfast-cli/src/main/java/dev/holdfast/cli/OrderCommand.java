package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

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

    /** What the session does once it acts on the order, as the end of a sentence that begins with the session. */
    abstract String effect();

    /** What to do next; empty for nothing. */
    String next(String name, ObjectNode answer) {
        return "";
    }

    @Override
    int act(Reach reach) {
        String name = name(session);
        var answer = ask(reach, Call.post(members(), "sessions", name, verb));
        String number = answer.path("number").asString();
        tell(
                answer,
                answer.has("done")
                        ? "Session " + name + ": " + answer.path("done").asString() + "."
                        : "Stored as number " + number + ": session " + name + " " + effect() + ".",
                answer.has("done") ? next(name, answer) : later(answer, name, "that is done"));
        return Exit.OK;
    }
}
