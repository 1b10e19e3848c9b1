package dev.holdfast.server;

import dev.holdfast.SessionEvent;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The one event in which an order ends (IN-22), read as anyone may read it, and what it says in words. */
final class Ending {
    private static final JsonMapper EVENTS = JsonMapper.builder().build();

    private Ending() {}

    /** What came of the order of that number, when this is its event. */
    static Optional<String> of(SessionEvent event, long number) {
        return switch (event.type()) {
            case "ArrivalDone" ->
                about(event, number).map(body -> body.path("what").asString());
            case "InterruptAsked" ->
                about(event, number).map(body -> "turn " + body.path("turn").asLong() + " is being ended");
            case "FinishAsked" -> about(event, number).map(body -> "finishing");
            case "QuestionAnswered" -> about(event, number).map(body -> "answered");
            default -> Optional.empty();
        };
    }

    private static Optional<JsonNode> about(SessionEvent event, long number) {
        try {
            return Optional.of(EVENTS.readTree(event.body()))
                    .filter(body -> body.path("number").asLong() == number);
        } catch (JacksonException unreadable) {
            return Optional.empty();
        }
    }
}
