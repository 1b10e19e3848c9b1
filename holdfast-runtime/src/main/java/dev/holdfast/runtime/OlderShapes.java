package dev.holdfast.runtime;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Brings what older versions wrote into the present shape: what it did not record was nothing, or is not known. */
final class OlderShapes {
    private OlderShapes() {}

    static JsonNode event(String type, JsonNode body) {
        if (!(body instanceof ObjectNode event)) {
            return body;
        }
        switch (type) {
            case "QuestionAsked" -> event.putNull("call");
            case "ContinuationOpened" -> event.putArray("asked");
            case "CallStarted" -> call(event);
            case "CallEnded" -> {
                call(event.put("inputDigest", "").put("key", ""));
                event.put("outcome", event.path("error").booleanValue(false) ? "ERROR" : "OK")
                        .putNull("millis");
            }
            default -> {}
        }
        return event;
    }

    private static void call(ObjectNode event) {
        event.put("builtIn", false)
                .putObject("facts")
                .put("message", 0)
                .put("author", "")
                .put("ruling", "NONE")
                .put("rule", "");
    }

    static JsonNode state(int version, JsonNode body) {
        if (body instanceof ObjectNode state) {
            if (version < 2) {
                state.putObject("binding");
            }
            state.putArray("approvals");
            state.putArray("started");
            for (JsonNode question : state.path("questions")) {
                if (question instanceof ObjectNode open) {
                    open.put("text", "").putNull("call");
                }
            }
        }
        return body;
    }
}
