package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * One request that the {@link ScriptedMessagesApi} received.
 *
 * @param kind what the agent wanted with it
 * @param model the model it asked for, empty when none was named
 * @param sessionId the agent's own session id, empty when it did not say
 * @param streamed whether it wanted the answer as a stream
 * @param tools the names of the tools the model may call
 * @param conversation what the model was shown
 * @param body the whole body as text
 */
public record ModelRequest(
        Kind kind,
        String model,
        String sessionId,
        boolean streamed,
        List<String> tools,
        Conversation conversation,
        String body) {
    private static final String SUMMARY = "CRITICAL: Respond with TEXT ONLY";

    /** One request; the list is copied. */
    public ModelRequest {
        tools = List.copyOf(tools);
    }

    /** What an agent asks a model for. */
    public enum Kind {
        /** A step of a turn. Only these count when a test asks what the model was shown. */
        MAIN,
        /** A summary of the conversation, for a compaction. */
        SUMMARY,
        /** A title, a check of a model's name, a count of tokens: nothing that belongs to the conversation. */
        SIDE
    }

    static ModelRequest of(String path, String body) {
        Json json = Json.read(body);
        Conversation conversation = Conversation.of(json);
        List<String> tools = new ArrayList<>();
        for (Json tool : json.at("tools").list()) {
            tools.add(tool.text("name", ""));
        }
        return new ModelRequest(
                kind(path, json, conversation, tools),
                json.text("model", ""),
                session(json),
                json.isTrue("stream"),
                tools,
                conversation,
                body);
    }

    private static Kind kind(String path, Json json, Conversation conversation, List<String> tools) {
        if (path.contains("count_tokens")) {
            return Kind.SIDE;
        }
        List<String> words = conversation.userTexts();
        if (!words.isEmpty() && words.getLast().contains(SUMMARY)) {
            return Kind.SUMMARY;
        }
        boolean small = json.number("max_tokens", Long.MAX_VALUE) <= 1_024;
        boolean cheap = json.text("model", "").contains("haiku") && tools.isEmpty();
        return small || cheap ? Kind.SIDE : Kind.MAIN;
    }

    /** The session id stands in a JSON text within the body's metadata. */
    private static String session(Json json) {
        String user = json.at("metadata").text("user_id", "");
        if (!user.startsWith("{")) {
            return "";
        }
        try {
            return Json.read(user).text("session_id", "");
        } catch (Json.Malformed otherFormat) {
            return "";
        }
    }
}
