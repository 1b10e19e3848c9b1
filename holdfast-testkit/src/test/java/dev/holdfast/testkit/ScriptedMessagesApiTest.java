package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ScriptedMessagesApiTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private ScriptedMessagesApi api = ScriptedMessagesApi.start();

    @AfterEach
    void close() {
        api.close();
        client.close();
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

    private HttpRequest request(String path, String body) {
        URI uri = URI.create(api.url() + path);
        return HttpRequest.newBuilder(uri)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
        return client.send(request(path, body), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> ask(String text) throws IOException, InterruptedException {
        return post("/v1/messages?beta=true", body(text, true));
    }

    @Test
    void head_ofTheRoot_isFine() throws IOException, InterruptedException {
        HttpRequest head = HttpRequest.newBuilder(api.url())
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build();
        assertThat(client.send(head, HttpResponse.BodyHandlers.discarding()).statusCode())
                .isEqualTo(200);
    }

    @Test
    void message_asStream_isAnsweredInOrder() throws IOException, InterruptedException {
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
    void message_withoutStream_isOneBody() throws IOException, InterruptedException {
        Json answer = Json.read(post("/v1/messages", body("hello", false)).body());
        assertThat(answer.at("content").list().getFirst().text("text", "")).isEqualTo("echo: hello");
        assertThat(answer.text("stop_reason", "")).isEqualTo("end_turn");
    }

    @Test
    void tool_inTheWords_isCalled() throws IOException, InterruptedException {
        assertThat(ask("[[tool n {\"a\":1}]]").body())
                .contains("\"type\":\"tool_use\"", "\"stop_reason\":\"tool_use\"", "{\\\"a\\\":1}");
    }

    @Test
    void error_soManyTimes_thenAnswers() throws IOException, InterruptedException {
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(529);
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(529);
        assertThat(ask("[[error 529 2]] [[say ok]]").statusCode()).isEqualTo(200);
    }

    @Test
    void countTokensAndSummary_areNoSteps() throws IOException, InterruptedException {
        assertThat(post("/v1/messages/count_tokens", body("x", false)).body()).isEqualTo("{\"input_tokens\":10}");
        assertThat(ask("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.")
                        .body())
                .contains("The use", "r said");
        assertThat(api.requests()).isEmpty();
        assertThat(api.allRequests()).hasSize(2);
    }

    @Test
    void gate_behindASay_holdsTheMiddle() throws InterruptedException {
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(
                request("/v1/messages", body("[[say a]] [[gate g]] [[say b]]", true)),
                HttpResponse.BodyHandlers.ofString());
        assertThat(api.gate("g").awaitReached(Duration.ofSeconds(10))).isTrue();
        assertThat(answer).isNotDone();
        api.gate("g").open();
        assertThat(answer.join().body()).contains("message_stop");
    }

    @Test
    void broken_inTheMiddle_endsTheStream() {
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(
                request("/v1/messages", body("[[say a]] [[break]]", true)), HttpResponse.BodyHandlers.ofString());
        assertThat(answer).failsWithin(Duration.ofSeconds(10));
    }

    @Test
    void script_ofTheTest_decides() throws IOException, InterruptedException {
        api.close();
        api = ScriptedMessagesApi.start(request -> request.conversation().count("weather") > 0
                ? Optional.of(ModelReply.tool("mcp__host__echo", "{\"text\":\"sun\"}"))
                : Optional.of(ModelReply.error(401)));
        assertThat(ask("the weather").body()).contains("mcp__host__echo");
        assertThat(ask("something else").statusCode()).isEqualTo(401);
    }
}
