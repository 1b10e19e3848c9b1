package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Frames and record entries in short, with names for uuids, so that two agents can be compared. */
final class FrameLabels {
    private FrameLabels() {}

    static List<String> of(List<Json> frames, Map<String, String> names) {
        List<String> labels = new ArrayList<>();
        for (Json frame : frames) {
            if (isHandshake(frame)) {
                continue;
            }
            String label = label(frame, names);
            boolean repeatedDelta = !labels.isEmpty()
                    && label.equals("stream content_block_delta")
                    && labels.getLast().equals(label);
            if (!label.isEmpty() && !repeatedDelta) {
                labels.add(label);
            }
        }
        return labels;
    }

    /** How often and between which other frames the handshake comes is a matter of milliseconds. */
    private static boolean isHandshake(Json frame) {
        String method = frame.at("request").at("message").text("method", "");
        return method.equals("initialize") || method.equals("notifications/initialized") || method.equals("tools/list");
    }

    private static String label(Json frame, Map<String, String> names) {
        return switch (frame.text("type", "")) {
            case "system" -> system(frame);
            case "user" -> user(frame, names);
            case "assistant" -> "assistant " + blocks(frame.at("message").at("content"));
            case "result" -> result(frame);
            case "stream_event" -> "stream " + frame.at("event").text("type", "");
            case "control_request" -> request(frame.at("request"));
            case "control_response" -> {
                Json response = frame.at("response");
                String id = response.text("request_id", "");
                boolean ours = id.startsWith("c") && id.length() < 5;
                yield ours ? "answer " + response.text("subtype", "") : "";
            }
            case "command_lifecycle" ->
                "life " + names.getOrDefault(frame.text("command_uuid", ""), "?") + " " + frame.text("state", "");
            default -> frame.text("type", "");
        };
    }

    private static String system(Json frame) {
        return switch (frame.text("subtype", "")) {
            case "session_state_changed" -> frame.text("state", "");
            case "init" -> "init " + frame.at("tools").write();
            case "status" -> "status " + frame.text("status", "none");
            case "background_tasks_changed" -> "";
            default -> "system " + frame.text("subtype", "");
        };
    }

    private static String user(Json frame, Map<String, String> names) {
        String words = blocks(frame.at("message").at("content"));
        if (frame.isTrue("isReplay")) {
            return "replay " + names.getOrDefault(frame.text("uuid", ""), "?") + " " + words;
        }
        return "user " + words;
    }

    private static String blocks(Json content) {
        if (content instanceof Json.Str string) {
            return shortened(string.value());
        }
        List<String> all = new ArrayList<>();
        for (Json block : content.list()) {
            switch (block.text("type", "")) {
                case "text" -> all.add(shortened(block.text("text", "")));
                case "tool_use" ->
                    all.add("call of " + block.text("name", "") + " "
                            + block.at("input").write());
                case "tool_result" ->
                    all.add((block.isTrue("is_error") ? "failure " : "outcome ") + resultText(block.at("content")));
                default -> all.add(block.text("type", ""));
            }
        }
        return all.toString();
    }

    private static String resultText(Json content) {
        if (content instanceof Json.Str string) {
            return shortened(string.value());
        }
        List<String> all = new ArrayList<>();
        for (Json part : content.list()) {
            all.add(shortened(part.text("text", "")));
        }
        return all.toString();
    }

    private static String shortened(String text) {
        String line = text.strip();
        if (line.startsWith("Total cost") || line.startsWith("Estimated cost")) {
            return "COST";
        }
        for (String prefix : List.of("<command-name>", "<local-command", "## Context")) {
            if (line.startsWith(prefix)) {
                return prefix;
            }
        }
        return line.length() > 40 ? line.substring(0, 40) : line;
    }

    private static String result(Json frame) {
        return "result " + frame.text("subtype", "") + (frame.isTrue("is_error") ? " error" : "") + " turns="
                + frame.number("num_turns", -1) + " " + frame.text("terminal_reason", "-") + " denials="
                + frame.at("permission_denials").list().size() + " " + shortened(frame.text("result", "-"));
    }

    private static String request(Json request) {
        String subtype = request.text("subtype", "");
        return subtype.equals("mcp_message")
                ? "asks " + request.at("message").text("method", "")
                : "asks " + subtype + " " + request.text("tool_name", "");
    }

    /** The entries of a record that a reader looks at, each with its nearest ancestor among them. */
    static List<String> ofRecord(List<Json> lines, Map<String, String> names) {
        Map<String, Json> byUuid = new java.util.HashMap<>();
        for (Json line : lines) {
            if (line.at("uuid") instanceof Json.Str uuid) {
                byUuid.put(uuid.value(), line);
            }
        }
        List<String> labels = new ArrayList<>();
        for (Json line : lines) {
            String label = entry(line, names);
            if (label.isEmpty()) {
                continue;
            }
            Json parent = byUuid.getOrDefault(line.text("parentUuid", ""), Json.Nil.NIL);
            while (!parent.isNil() && entry(parent, names).isEmpty()) {
                parent = byUuid.getOrDefault(parent.text("parentUuid", ""), Json.Nil.NIL);
            }
            labels.add(label + (parent.isNil() ? "" : " under " + entry(parent, names)));
        }
        return labels;
    }

    private static String entry(Json line, Map<String, String> names) {
        String name = names.getOrDefault(line.text("uuid", ""), "?");
        Json message = line.at("message");
        return switch (line.text("type", "")) {
            case "user" -> "user " + name + " " + blocks(message.at("content"));
            case "assistant" ->
                "assistant " + blocks(message.at("content")) + " " + message.text("stop_reason", "-")
                        + (line.isTrue("isApiErrorMessage") ? " api-error" : "");
            case "system" -> "system " + line.text("subtype", "");
            case "attachment" -> {
                Json attachment = line.at("attachment");
                yield attachment.text("type", "").equals("queued_command")
                        ? "folded " + names.getOrDefault(attachment.text("source_uuid", ""), "?") + " "
                                + blocks(attachment.at("prompt"))
                        : "";
            }
            default -> "";
        };
    }
}
