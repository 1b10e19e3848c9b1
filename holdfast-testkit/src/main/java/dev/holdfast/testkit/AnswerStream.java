package dev.holdfast.testkit;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * One answer of the scripted Messages API: server-sent events as they happen, or one JSON body at the end for a
 * request that wanted no stream. Used by one thread.
 */
final class AnswerStream {
    /** A promised length that no answer reaches, so that closing the exchange cuts the connection. */
    private static final long NEVER_WRITTEN = 1L << 40;

    private final HttpExchange exchange;
    private final boolean streamed;
    private final String model;
    private final String messageId;
    private final Json.Arr content = Json.array();
    private final StringBuilder text = new StringBuilder();
    private boolean breaks;
    private boolean begun;
    private boolean textOpen;
    private boolean calls;
    private int index;

    AnswerStream(HttpExchange exchange, boolean streamed, String model, String messageId) {
        this.exchange = exchange;
        this.streamed = streamed;
        this.model = model;
        this.messageId = messageId;
    }

    /** Before the first word: this answer will be cut off instead of ending in good order. */
    void willBreak() {
        breaks = true;
    }

    private void begin() throws IOException {
        if (begun) {
            return;
        }
        begun = true;
        if (streamed) {
            exchange.getResponseHeaders().set("content-type", "text/event-stream");
            exchange.sendResponseHeaders(200, breaks ? NEVER_WRITTEN : 0);
            event("message_start", Json.object().with("message", message(Json.Nil.NIL)));
        }
    }

    private Json message(Json stopReason) {
        return Json.object()
                .with("id", messageId)
                .with("type", "message")
                .with("role", "assistant")
                .with("model", model)
                .with("content", streamed ? Json.array() : content)
                .with("stop_reason", stopReason)
                .with("stop_sequence", Json.Nil.NIL)
                .with(
                        "usage",
                        Json.object()
                                .with("input_tokens", 10)
                                .with("output_tokens", streamed ? 1 : 5)
                                .with("cache_creation_input_tokens", 0)
                                .with("cache_read_input_tokens", 0));
    }

    private void event(String type, Json.Obj data) throws IOException {
        if (!streamed) {
            return;
        }
        Json.Obj named = Json.object().with("type", type);
        data.members().forEach(named::with);
        OutputStream out = exchange.getResponseBody();
        out.write(("event: " + type + "\ndata: " + named.write() + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    void say(String words) throws IOException {
        begin();
        if (!textOpen) {
            textOpen = true;
            event("content_block_start", at().with("content_block", AgentMemory.text("")));
        }
        event(
                "content_block_delta",
                at().with("delta", Json.object().with("type", "text_delta").with("text", words)));
        text.append(words);
    }

    void call(String id, String tool, String inputJson) throws IOException {
        begin();
        closeText();
        calls = true;
        Json.Obj block = Json.object()
                .with("type", "tool_use")
                .with("id", id)
                .with("name", tool)
                .with("input", Json.object());
        event("content_block_start", at().with("content_block", block));
        Json delta = Json.object().with("type", "input_json_delta").with("partial_json", inputJson);
        event("content_block_delta", at().with("delta", delta));
        event("content_block_stop", at());
        index++;
        content.add(Json.object()
                .with("type", "tool_use")
                .with("id", id)
                .with("name", tool)
                .with("input", Json.read(inputJson)));
    }

    private Json.Obj at() {
        return Json.object().with("index", index);
    }

    private void closeText() throws IOException {
        if (textOpen) {
            textOpen = false;
            event("content_block_stop", at());
            index++;
            content.add(AgentMemory.text(text.toString()));
            text.setLength(0);
        }
    }

    void finish() throws IOException {
        begin();
        closeText();
        String reason = calls ? "tool_use" : "end_turn";
        if (streamed) {
            Json delta = Json.object().with("stop_reason", reason).with("stop_sequence", Json.Nil.NIL);
            Json usage = Json.object().with("output_tokens", 5);
            event("message_delta", Json.object().with("delta", delta).with("usage", usage));
            event("message_stop", Json.object());
            exchange.getResponseBody().close();
        } else {
            body(exchange, 200, message(new Json.Str(reason)));
        }
    }

    void fail(int status) throws IOException {
        Json error = Json.object().with("type", type(status)).with("message", "scripted error");
        body(exchange, status, Json.object().with("type", "error").with("error", error));
    }

    static void body(HttpExchange exchange, int status, Json json) throws IOException {
        byte[] bytes = json.write().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.getResponseBody().close();
    }

    private static String type(int status) {
        return switch (status) {
            case 400 -> "invalid_request_error";
            case 401 -> "authentication_error";
            case 402 -> "billing_error";
            case 403 -> "permission_error";
            case 404 -> "not_found_error";
            case 413 -> "request_too_large";
            case 429 -> "rate_limit_error";
            case 529 -> "overloaded_error";
            default -> "api_error";
        };
    }
}
