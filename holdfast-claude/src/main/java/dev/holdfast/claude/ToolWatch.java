package dev.holdfast.claude;

import dev.holdfast.Report;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/**
 * Reads from the frames of a verified agent what became of its own tools: each use from the block that makes it to the block
 * with its result. Not thread-safe: its owner calls it under its lock.
 */
final class ToolWatch {
    private static final int USES_MAX = 1_024;

    private record Use(String tool, String input) {}

    private final StreamJson codec;
    private final Set<String> tools;
    private final Consumer<Report> reports;
    private final Map<String, Use> uses = new LinkedHashMap<>();

    /** @param tools the agent's own that are bound */
    ToolWatch(StreamJson codec, Set<String> tools, Consumer<Report> reports) {
        this.codec = codec;
        this.tools = tools;
        this.reports = reports;
    }

    void frame(Frame frame) {
        if (tools.isEmpty()) {
            return;
        }
        JsonNode content = frame.raw().path("message").path("content");
        if (frame instanceof Frame.Assistant) {
            content.forEach(this::begun);
        } else if (frame instanceof Frame.User user && !user.replay()) {
            content.forEach(this::ended);
        }
    }

    private void begun(JsonNode block) {
        String tool = StreamJson.text(block, "name");
        if (!StreamJson.text(block, "type").equals("tool_use") || !tools.contains(tool)) {
            return;
        }
        JsonNode input = block.path("input");
        uses.put(StreamJson.text(block, "id"), new Use(tool, input.isObject() ? codec.write(input) : "{}"));
        if (uses.size() > USES_MAX) {
            uses.remove(uses.keySet().iterator().next());
        }
    }

    private void ended(JsonNode block) {
        if (!StreamJson.text(block, "type").equals("tool_result")) {
            return;
        }
        String id = StreamJson.text(block, "tool_use_id");
        Use use = uses.remove(id);
        if (use != null) {
            boolean error = block.path("is_error").booleanValue(false);
            reports.accept(new Report.ToolUsed(
                    id, use.tool(), use.input(), error, StreamJson.textBlocks(block.path("content"))));
        }
    }
}
