package dev.holdfast.model;

import dev.holdfast.Beat;
import dev.holdfast.Turn;
import dev.holdfast.TurnEvent;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** One answer of the model, put together from its events; its words go to the turn as they come. Used by one thread. */
final class ModelAnswer {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Turn turn;
    private final Map<Integer, Block> blocks = new TreeMap<>();
    private String stop = "";
    private long inputTokens;
    private long cacheRead;
    private long cacheCreation;
    private boolean begun;
    private boolean failed;

    /** A call of a tool; {@code broken} when its input is no JSON object. */
    record Call(String id, String name, String input, boolean broken) {}

    private static final class Block {
        private final ObjectNode begin;
        private final StringBuilder text = new StringBuilder();
        private final StringBuilder signature = new StringBuilder();

        Block(ObjectNode begin) {
            this.begin = begin;
        }

        String type() {
            return begin.path("type").asString("");
        }
    }

    ModelAnswer(Turn turn) {
        this.turn = turn;
    }

    /** One that never came. */
    static ModelAnswer failure(Turn turn) {
        var answer = new ModelAnswer(turn);
        answer.failed = true;
        return answer;
    }

    boolean failed() {
        return failed;
    }

    /** Whether something of it was said already, so that asking again would say it twice. */
    boolean begun() {
        return begun;
    }

    String stop() {
        return stop;
    }

    void take(JsonNode event) {
        int index = event.path("index").intValue(0);
        switch (event.path("type").asString("")) {
            case "message_start" -> {
                var usage = event.path("message").path("usage");
                inputTokens = usage.path("input_tokens").longValue(0);
                cacheRead = usage.path("cache_read_input_tokens").longValue(0);
                cacheCreation = usage.path("cache_creation_input_tokens").longValue(0);
            }
            case "content_block_start" -> {
                var block = new Block(event.path("content_block").asObject());
                blocks.put(index, block);
                say(block, block.begin.path("text").asString(""));
            }
            case "content_block_delta" -> delta(blocks.get(index), event.path("delta"));
            case "message_delta" -> {
                stop = event.path("delta").path("stop_reason").asString("");
                var out = event.path("usage").path("output_tokens").longValue(0);
                turn.emit(new TurnEvent.Used(
                        new Usage(inputTokens, out, cacheRead, cacheCreation, OptionalLong.empty())));
            }
            default -> {} // pings, ends of blocks, and whatever is added later
        }
    }

    private void delta(@Nullable Block block, JsonNode delta) {
        if (block == null) {
            return;
        }
        switch (delta.path("type").asString("")) {
            case "text_delta" -> say(block, delta.path("text").asString(""));
            case "input_json_delta" ->
                block.text.append(delta.path("partial_json").asString(""));
            case "thinking_delta" -> block.text.append(delta.path("thinking").asString(""));
            case "signature_delta" ->
                block.signature.append(delta.path("signature").asString(""));
            default -> {}
        }
    }

    private void say(Block block, String words) {
        if (!words.isEmpty() && block.type().equals("text")) {
            block.text.append(words);
            begun = true;
            turn.emit(new TurnEvent.Status(Beat.ASSEMBLING));
            turn.emit(new TurnEvent.Text(words));
        }
    }

    List<Call> calls() {
        var calls = new ArrayList<Call>();
        for (Block block : blocks.values()) {
            if (block.type().equals("tool_use")) {
                var input = block.text.isEmpty() ? "{}" : block.text.toString();
                calls.add(new Call(
                        block.begin.path("id").asString(""),
                        block.begin.path("name").asString(""),
                        input,
                        !object(input)));
            }
        }
        return calls;
    }

    private static boolean object(String input) {
        try {
            return JSON.readTree(input).isObject();
        } catch (JacksonException e) {
            return false;
        }
    }

    /** As it is sent back in the next request. */
    ObjectNode message() {
        var message = JSON.createObjectNode().put("role", "assistant");
        var content = message.putArray("content");
        for (Block block : blocks.values()) {
            var copy = block.begin.deepCopy();
            switch (block.type()) {
                case "text" -> {
                    if (block.text.toString().isBlank()) {
                        continue; // which the API would refuse
                    }
                    copy.put("text", block.text.toString());
                }
                case "tool_use" -> {
                    var input = block.text.toString();
                    copy.set("input", object(input) ? JSON.readTree(input) : JSON.createObjectNode());
                }
                case "thinking" ->
                    copy.put("thinking", block.text.toString()).put("signature", block.signature.toString());
                default -> {}
            }
            content.add(copy);
        }
        if (content.isEmpty()) {
            content.addObject().put("type", "text").put("text", "(no words)");
        }
        return message;
    }
}
