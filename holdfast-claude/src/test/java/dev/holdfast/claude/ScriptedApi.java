package dev.holdfast.claude;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A Messages API on loopback that says what a test wants and keeps what the model would have seen. */
final class ScriptedApi implements AutoCloseable {
    /** What the model does with a request. */
    sealed interface Turn {
        /** @param rest awaited before the second half; at most 20 s */
        record Say(String text, CountDownLatch rest) implements Turn {
            Say(String text) {
                this(text, new CountDownLatch(0));
            }
        }

        record Use(String tool, String input) implements Turn {}

        record Fail(int status, String type, String message) implements Turn {}
    }

    private final JsonMapper mapper = new JsonMapper();
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<JsonNode> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger count = new AtomicInteger();
    private volatile Function<JsonNode, Turn> script;

    ScriptedApi(Function<JsonNode, Turn> script) throws IOException {
        this.script = script;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void script(Function<JsonNode, Turn> next) {
        script = next;
    }

    /** The requests for an answer, in order. */
    List<JsonNode> requests() {
        return List.copyOf(requests);
    }

    /** Everything the model saw in the newest request, as one text. */
    String lastConversation() {
        return requests.getLast().path("messages").toString();
    }

    static String lastWords(JsonNode request) {
        JsonNode messages = request.path("messages");
        return messages.get(messages.size() - 1).toString();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (!exchange.getRequestMethod().equals("POST") || !path.endsWith("/messages")) {
                exchange.sendResponseHeaders(exchange.getRequestMethod().equals("HEAD") ? 200 : 404, -1);
                return;
            }
            JsonNode request = mapper.readTree(body);
            requests.add(request);
            Turn turn = script.apply(request);
            if (turn instanceof Turn.Fail fail) {
                fail(exchange, fail);
            } else {
                stream(exchange, request, turn);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void fail(HttpExchange exchange, Turn.Fail fail) throws IOException {
        ObjectNode error = mapper.createObjectNode().put("type", "error");
        error.putObject("error").put("type", fail.type()).put("message", fail.message());
        byte[] bytes = error.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", "application/json");
        exchange.getResponseHeaders().set("x-should-retry", "false");
        exchange.sendResponseHeaders(fail.status(), bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private void stream(HttpExchange exchange, JsonNode request, Turn turn) throws IOException, InterruptedException {
        exchange.getResponseHeaders().set("content-type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        int number = count.incrementAndGet();
        ObjectNode start = event("message_start");
        start.putObject("message")
                .put("id", "msg_" + number)
                .put("type", "message")
                .put("role", "assistant")
                .put("model", request.path("model").stringValue(""))
                .putNull("stop_reason")
                .putNull("stop_sequence")
                .put("x", 1)
                .withArray("content");
        ((ObjectNode) start.path("message"))
                .putObject("usage")
                .put("input_tokens", 10)
                .put("output_tokens", 1);
        send(out, start);
        ObjectNode block = event("content_block_start").put("index", 0);
        if (turn instanceof Turn.Use use) {
            block.putObject("content_block")
                    .put("type", "tool_use")
                    .put("id", "toolu_" + number)
                    .put("name", use.tool())
                    .putObject("input");
            send(out, block);
            ObjectNode delta = event("content_block_delta").put("index", 0);
            delta.putObject("delta").put("type", "input_json_delta").put("partial_json", use.input());
            send(out, delta);
        } else if (turn instanceof Turn.Say say) {
            block.putObject("content_block").put("type", "text").put("text", "");
            send(out, block);
            int half = say.text().length() / 2;
            text(out, say.text().substring(0, half));
            if (!say.rest().await(20, TimeUnit.SECONDS)) {
                return;
            }
            text(out, say.text().substring(half));
        }
        send(out, event("content_block_stop").put("index", 0));
        ObjectNode end = event("message_delta");
        end.putObject("delta")
                .put("stop_reason", turn instanceof Turn.Use ? "tool_use" : "end_turn")
                .putNull("stop_sequence");
        end.putObject("usage").put("output_tokens", 5);
        send(out, end);
        send(out, event("message_stop"));
    }

    private void text(OutputStream out, String text) throws IOException {
        ObjectNode delta = event("content_block_delta").put("index", 0);
        delta.putObject("delta").put("type", "text_delta").put("text", text);
        send(out, delta);
    }

    private ObjectNode event(String type) {
        return mapper.createObjectNode().put("type", type);
    }

    private static void send(OutputStream out, ObjectNode event) throws IOException {
        String type = event.path("type").stringValue();
        out.write(("event: " + type + "\ndata: " + event + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
