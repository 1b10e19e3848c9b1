package dev.holdfast.mcp;

import dev.holdfast.ToolAnswer;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Writes answers as the results of MCP's {@code tools/call}. */
final class Results {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private Results() {}

    static ObjectNode of(ToolAnswer answer) {
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        ArrayNode content = result.putArray("content");
        for (ToolAnswer.Block block : answer.blocks()) {
            switch (block) {
                case ToolAnswer.Text text ->
                    content.addObject().put("type", "text").put("text", text.text());
                case ToolAnswer.Image image ->
                    content.addObject()
                            .put("type", "image")
                            .put("data", image.data())
                            .put("mimeType", image.mimeType());
            }
        }
        answer.structured().flatMap(Results::object).ifPresent(tree -> result.set("structuredContent", tree));
        if (answer.error()) {
            result.put("isError", true);
        }
        return result;
    }

    /** MCP takes objects only; other data is in the text. */
    private static Optional<JsonNode> object(String structured) {
        try {
            return Optional.of(JSON.readTree(structured)).filter(JsonNode::isObject);
        } catch (JacksonException notJson) {
            return Optional.empty();
        }
    }
}
