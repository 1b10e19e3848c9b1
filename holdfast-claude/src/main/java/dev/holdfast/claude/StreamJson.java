package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Line;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.JsonRecyclerPools;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The agent's language: one JSON object per line. Reading is tolerant (an unknown type, subtype or field passes through
 * in {@link Frame#raw}), writing is strict: every line is one object, and a user line's content is always an array whose
 * last block is the host's own, since the agent reads commands and names of files out of the last block, and only there
 * (HS-15). Immutable, thread-safe.
 */
final class StreamJson {
    /**
     * Deeper nesting than any frame has; a deeper line is skipped like one that is no JSON. Well below the 500 levels that
     * the library writes, since what was read is shown and sent back inside lines of ours.
     */
    static final int DEPTH_MAX = 400;

    /** Follows a host's block in which the agent could find something to parse, so that this one is the last. */
    private static final String END_NOTE = "(end)";

    static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final JsonMapper mapper;

    /** @param lineLimit the longest line in characters, and so the longest string in one (HS-10) */
    StreamJson(int lineLimit) {
        var constraints = StreamReadConstraints.builder()
                .maxNestingDepth(DEPTH_MAX)
                .maxStringLength(lineLimit)
                .maxNameLength(Math.min(lineLimit, 1 << 20))
                .maxNumberLength(1_000)
                .build();
        mapper = JsonMapper.builder(JsonFactory.builder()
                        .streamReadConstraints(constraints)
                        .recyclerPool(JsonRecyclerPools.threadLocalPool())
                        .build())
                .build();
    }

    /** The object in this line; empty when there is none. */
    Optional<JsonNode> tree(String line) {
        if (!line.stripLeading().startsWith("{")) {
            return Optional.empty();
        }
        try {
            JsonNode node = mapper.readTree(line);
            return node.isObject() ? Optional.of(node) : Optional.empty();
        } catch (JacksonException notJson) {
            return Optional.empty();
        }
    }

    /** The frame in this line; empty when the line is not a JSON object. */
    Optional<Frame> read(String line) {
        return tree(line).map(StreamJson::frame);
    }

    static Frame frame(JsonNode raw) {
        String type = text(raw, "type");
        return switch (type) {
            case "system" -> system(raw);
            case "stream_event" -> partial(raw);
            case "assistant" -> assistant(raw);
            case "user" -> user(raw);
            case "result" -> result(raw);
            case "control_request" ->
                new Frame.ControlRequest(
                        raw, text(raw, "request_id"), text(raw.path("request"), "subtype"), raw.path("request"));
            case "control_response" -> response(raw);
            case "control_cancel_request" -> new Frame.ControlCancel(raw, text(raw, "request_id"));
            default -> new Frame.Other(raw, type);
        };
    }

    private static Frame system(JsonNode raw) {
        String subtype = text(raw, "subtype");
        return switch (subtype) {
            case "init" ->
                new Frame.Init(
                        raw,
                        text(raw, "session_id"),
                        text(raw, "claude_code_version"),
                        texts(raw.path("tools")),
                        names(raw.path("mcp_servers")),
                        texts(raw.path("skills")),
                        foreignPlugins(raw.path("plugins")));
            case "session_state_changed" -> new Frame.State(raw, text(raw, "state"));
            default -> new Frame.Notice(raw, subtype);
        };
    }

    /** Plugins that are part of the agent say so by path; all others came from a user or a workspace. */
    private static List<String> foreignPlugins(JsonNode plugins) {
        var names = new ArrayList<String>();
        for (JsonNode plugin : plugins) {
            if (!text(plugin, "path").equals("builtin")) {
                names.add(text(plugin, "name"));
            }
        }
        return List.copyOf(names);
    }

    private static Frame partial(JsonNode raw) {
        JsonNode event = raw.path("event");
        boolean words = text(event, "type").equals("content_block_delta")
                && text(event.path("delta"), "type").equals("text_delta")
                && !sidechain(raw);
        return new Frame.Partial(raw, words ? text(event.path("delta"), "text") : "");
    }

    private static Frame assistant(JsonNode raw) {
        JsonNode content = raw.path("message").path("content");
        return new Frame.Assistant(
                raw, text(raw, "uuid"), textBlocks(content), toolUses(content), text(raw, "error"), sidechain(raw));
    }

    private static Frame user(JsonNode raw) {
        return new Frame.User(
                raw,
                text(raw, "uuid"),
                raw.path("isReplay").booleanValue(false),
                toolResults(raw.path("message").path("content")),
                sidechain(raw));
    }

    private static Frame result(JsonNode raw) {
        JsonNode origin = raw.path("origin").path("kind");
        return new Frame.Result(
                raw,
                text(raw, "uuid"),
                text(raw, "subtype"),
                raw.path("is_error").booleanValue(false),
                text(raw, "terminal_reason"),
                text(raw, "result"),
                texts(raw.path("errors")),
                raw.path("num_turns").longValue(-1),
                origin.isString() ? Optional.of(origin.stringValue()) : Optional.empty());
    }

    private static Frame response(JsonNode raw) {
        JsonNode response = raw.path("response");
        return new Frame.ControlResponse(
                raw,
                text(response, "request_id"),
                text(response, "subtype").equals("success"),
                response.path("response"),
                text(response, "error"));
    }

    private static boolean sidechain(JsonNode raw) {
        return raw.path("parent_tool_use_id").isString();
    }

    /** The words of a message's content, whether it is one string or blocks. */
    static String textBlocks(JsonNode content) {
        if (content.isString()) {
            return content.stringValue();
        }
        var words = new StringBuilder();
        for (JsonNode block : content) {
            if (text(block, "type").equals("text")) {
                words.append(text(block, "text"));
            }
        }
        return words.toString();
    }

    static List<String> toolUses(JsonNode content) {
        return idsOf(content, "tool_use", "id");
    }

    static List<String> toolResults(JsonNode content) {
        return idsOf(content, "tool_result", "tool_use_id");
    }

    private static List<String> idsOf(JsonNode content, String type, String idName) {
        if (!content.isArray()) {
            return List.of();
        }
        var ids = new ArrayList<String>();
        for (JsonNode block : content) {
            if (text(block, "type").equals(type)) {
                ids.add(text(block, idName));
            }
        }
        return ids;
    }

    /** The named string; empty when it is missing or no string. */
    static String text(JsonNode node, String name) {
        JsonNode value = node.path(name);
        return value.isString() ? value.stringValue() : "";
    }

    static List<String> texts(JsonNode array) {
        var all = new ArrayList<String>();
        for (JsonNode each : array) {
            if (each.isString()) {
                all.add(each.stringValue());
            }
        }
        return List.copyOf(all);
    }

    private static List<String> names(JsonNode array) {
        var all = new ArrayList<String>();
        for (JsonNode each : array) {
            all.add(text(each, "name"));
        }
        return List.copyOf(all);
    }

    /** The line for a message: the senders' words, one block each, then the host's block. */
    String userLine(Line line) {
        return userLine(line.id(), line.texts(), line.hostNote(), true);
    }

    /** A line that starts no turn: it makes the agent show its tool list, and its text stands before the next message. */
    String probeLine(DeliveryId id, List<String> texts, String note) {
        return userLine(id, texts, note, false);
    }

    /** Written field by field: it is on the way of every turn. */
    private String userLine(DeliveryId id, List<String> texts, String note, boolean query) {
        var line = new StringWriter();
        try (JsonGenerator out = mapper.createGenerator(line)) {
            out.writeStartObject();
            out.writeStringProperty("type", "user");
            out.writeStringProperty("uuid", id.toString());
            out.writeNullProperty("parent_tool_use_id");
            out.writeStringProperty("session_id", "");
            out.writeObjectPropertyStart("message");
            out.writeStringProperty("role", "user");
            out.writeArrayPropertyStart("content");
            texts.forEach(text -> writeText(out, text));
            writeText(out, note);
            if (couldBeParsed(note)) {
                writeText(out, END_NOTE);
            }
            out.writeEndArray();
            out.writeEndObject();
            if (!query) {
                out.writeBooleanProperty("shouldQuery", false);
            }
            out.writeEndObject();
        }
        return line.toString();
    }

    private static void writeText(JsonGenerator out, String text) {
        out.writeStartObject();
        out.writeStringProperty("type", "text");
        out.writeStringProperty("text", text);
        out.writeEndObject();
    }

    /** The agent looks into the last block: for a command at its beginning, for names of files behind an @ anywhere. */
    private static boolean couldBeParsed(String note) {
        String start = note.strip();
        return note.indexOf('@') >= 0 || start.isEmpty() || "/!#".indexOf(start.charAt(0)) >= 0;
    }

    static void addText(ArrayNode content, String text) {
        content.addObject().put("type", "text").put("text", text);
    }

    String controlRequest(String id, ObjectNode request) {
        ObjectNode line = NODES.objectNode();
        line.put("type", "control_request").put("request_id", id).set("request", request);
        return write(line);
    }

    String controlSuccess(String id, ObjectNode response) {
        ObjectNode line = NODES.objectNode();
        line.put("type", "control_response");
        line.putObject("response")
                .put("subtype", "success")
                .put("request_id", id)
                .set("response", response);
        return write(line);
    }

    String controlError(String id, String error) {
        ObjectNode line = NODES.objectNode();
        line.put("type", "control_response");
        line.putObject("response").put("subtype", "error").put("request_id", id).put("error", error);
        return write(line);
    }

    /** An object as one line, without its terminator. */
    String write(JsonNode object) {
        return mapper.writeValueAsString(object);
    }
}
