package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ScriptedMessagesApiTest {
    record Answer(int statusCode, String body) {}

    private ScriptedMessagesApi api = ScriptedMessagesApi.start();

    @AfterEach
    void close() {
        api.close();
    }

    private static String body(String text, boolean stream) {
        return Json.object()
                .with("model", "m")
                .with("max_tokens", 32_000)
                .with("stream", stream)
                .with("metadata", Json.object().with("user_id", "{\"session_id\":\"s1\"}"))
                .with(
                        "messages",
                        Json.array()
                                .add(Json.object()
                                        .with("role", "user")
                                        .with("content", Json.array().add(AgentMemory.text(text)))))
                .write();
    }

    private HttpURLConnection open(String path, String method) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(api.url() + path).toURL().openConnection();
        connection.setRequestMethod(method);
        return connection;
    }

    private Answer post(String path, String body) throws IOException {
        HttpURLConnection connection = open(path, "POST");
        connection.setDoOutput(true);
        connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        int status = connection.getResponseCode();
        try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return new Answer(status, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    private CompletableFuture<Answer> postLater(String body) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return post("/v1/messages", body);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private Answer ask(String text) throws IOException {
        return post("/v1/messages?beta=true", body(text, true));
    }

    @Test
    void head_ofTheRoot_isFine() throws IOException {
        assertThat(open("/", "HEAD").getResponseCode()).isEqualTo(200);
    }

    @Test
    void message_asStream_isAnsweredInOrder() throws IOException {
        String answer = ask("hello").body();
        assertThat(answer.lines().filter(line -> line.startsWith("event:")))
                .containsExactly(
                        "event: message_start",
                        "event: content_block_start",
                        "event: content_block_delta",
                        "event: content_block_delta",
                        "event: content_block_stop",
                        "event: message_delta",
                        "event: message_stop");
        assertThat(api.lastConversation().orElseThrow().userTexts()).containsExactly("hello");
        assertThat(api.requests().getFirst().sessionId()).isEqualTo("s1");
    }

    @Test
    void message_withoutStream_isOneBody() throws IOException {
        Json answer = Json.read(post("/v1/messages", body("hello", false)).body());
        assertThat(answer.at("content").list().getFirst().text("text", "")).isEqualTo("echo: hello");
        assertThat(answer.text("stop_reason", "")).isEqualTo("end_turn");
    }

    @Test
    void tool_inTheWords_isCalled() throws IOException {
        assertThat(ask("[[tool n {\"a\":1}]]").body())
                .contains("\"type\":\"tool_use\"", "\"stop_reason\":\"tool_use\"", "{\\\"a\\\":1}");
    }

    @Test
    void error_soManyTimes_thenAnswers() throws IOException {
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(529);
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(529);
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(200);
    }

    @Test
    void countTokensAndSummary_areNoSteps() throws IOException {
        assertThat(post("/v1/messages/count_tokens", body("x", false)).body()).isEqualTo("{\"input_tokens\":10}");
        assertThat(ask("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.")
                        .body())
                .contains("The use", "r said");
        assertThat(api.requests()).isEmpty();
        assertThat(api.allRequests()).hasSize(2);
    }

    @Test
    void gate_behindASay_holdsTheMiddle() throws InterruptedException {
        CompletableFuture<Answer> answer = postLater(body("[[say a]] [[gate g]] [[say b]]", true));
        assertThat(api.gate("g").awaitReached(Duration.ofSeconds(10))).isTrue();
        assertThat(answer).isNotDone();
        api.gate("g").open();
        assertThat(answer.join().body()).contains("message_stop");
    }

    @Test
    void broken_inTheMiddle_endsTheStream() {
        CompletableFuture<Answer> answer = postLater(body("[[say a]] [[break]]", true));
        assertThat(answer).failsWithin(Duration.ofSeconds(10));
    }

    @Test
    void script_ofTheTest_decides() throws IOException {
        api.close();
        api = ScriptedMessagesApi.start(request -> request.conversation().count("weather") > 0
                ? Optional.of(ModelReply.tool("mcp__host__echo", "{\"text\":\"sun\"}"))
                : Optional.of(ModelReply.error(401)));
        assertThat(ask("the weather").body()).contains("mcp__host__echo");
        assertThat(ask("something else").statusCode()).isEqualTo(401);
    }
}
