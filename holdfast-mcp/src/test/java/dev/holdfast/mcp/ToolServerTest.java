package dev.holdfast.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.SessionName;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolRelay;
import dev.holdfast.ToolSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The tool server over real sockets: who is let in, what is answered, and that nothing else is. */
class ToolServerTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final List<ToolSpec> TOOLS = List.of(
            new ToolSpec("echo", "says it again", "{\"type\":\"object\"}", ToolEffects.READ),
            new ToolSpec("slow", "answers late", "{\"type\":\"object\"}"),
            new ToolSpec("slower", "answers later", "{\"type\":\"object\"}"));

    private final ServerCalls calls = new ServerCalls();
    private final ToolServer server =
            ToolServer.open(new ToolServerLimits(64, 10_000, 2, Duration.ofSeconds(2), Duration.ofMillis(100)));
    private final ToolRelay.Offer offer = server.offer(new SessionName("one"), TOOLS, calls);
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        server.close();
        client.close();
    }

    private HttpRequest.Builder request(ToolRelay.Offer to) {
        return HttpRequest.newBuilder(URI.create(to.url()))
                .timeout(Duration.ofSeconds(20))
                .header("Content-Type", "application/json")
                .header("Authorization", "Bearer " + to.token());
    }

    private HttpResponse<String> post(String body) throws Exception {
        return client.send(
                request(offer).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static String rpc(Object id, String method, String params) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + params + "}";
    }

    private JsonNode ask(String body) throws Exception {
        var response = post(body);
        assertThat(response.statusCode()).isEqualTo(200);
        return JSON.readTree(response.body());
    }

    private CompletableFuture<HttpResponse<String>> stream(String body) {
        return client.sendAsync(
                request(offer)
                        .header("Accept", "application/json, text/event-stream")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** A request byte by byte, for headers that a proper client does not let one set. */
    private String raw(String request) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            OutputStream out = socket.getOutputStream();
            out.write(request.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private String head(String method, String path, String host, String token, String more, int length) {
        return method + " " + path + " HTTP/1.1\r\nHost: " + host.replace("PORT", "" + server.port())
                + "\r\nAuthorization: Bearer " + token.replace("TOKEN", offer.token()) + "\r\n"
                + more.replace(";", "\r\n") + "Content-Length: " + length + "\r\n\r\n";
    }

    @Test
    @Tag("TL-02")
    void tools_listedAndCalled_comeThroughTheDoor() throws Exception {
        var greeting = ask(rpc(0, "initialize", "{\"protocolVersion\":\"2025-06-18\"}"));
        assertThat(greeting.at("/result/protocolVersion").asString()).isEqualTo("2025-06-18");
        var listed = ask(rpc(1, "tools/list", "{}"));
        assertThat(listed.at("/result/tools/0/name").asString()).isEqualTo("echo");
        assertThat(listed.at("/result/tools/0/annotations/readOnlyHint").asBoolean())
                .isTrue();
        assertThat(listed.at("/result/tools/1/annotations/readOnlyHint").asBoolean())
                .isFalse();
        var answer = ask(rpc(
                2,
                "tools/call",
                "{\"name\":\"echo\",\"arguments\":{\"a\":\"ü\"},\"_meta\":{\"claudecode/toolUseId\":\"toolu_1\"}}"));
        assertThat(answer.at("/result/content/0/text").asString()).isEqualTo("echo {\"a\":\"ü\"}");
        assertThat(calls.asked).containsExactly("one toolu_1 echo {\"a\":\"ü\"}");
        assertThat(ask(rpc(3, "tools/call", "{\"name\":\"rm\"}"))
                        .at("/result/isError")
                        .asBoolean())
                .isTrue();
        assertThat(ask(rpc(4, "resources/list", "{}")).at("/error/code").asInt())
                .isEqualTo(-32_601);
        assertThat(calls.asked).hasSize(1);
    }

    @Test
    @Tag("TL-10")
    void answer_withImageAndData_isWrittenAsMcpHasIt() throws Exception {
        var answer = new ToolAnswer(
                List.of(new ToolAnswer.Text("t"), new ToolAnswer.Image("image/png", "AAAA")),
                Optional.of("{\"a\":1}"),
                false);
        calls.open.put("slow", CompletableFuture.completedFuture(answer));
        var result = ask(rpc(1, "tools/call", "{\"name\":\"slow\"}")).path("result");
        assertThat(result.toString())
                .isEqualTo("{\"content\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\",\"data\":\"AAAA\","
                        + "\"mimeType\":\"image/png\"}],\"structuredContent\":{\"a\":1}}");
    }

    @Test
    @Tag("TL-09")
    @Tag("TL-10")
    void calls_inParallel_areAnsweredInAnyOrderWithTheirProgress() throws Exception {
        var slow = stream(rpc(7, "tools/call", "{\"name\":\"slow\",\"_meta\":{\"progressToken\":\"p\"}}"));
        var slower = stream(rpc(8, "tools/call", "{\"name\":\"slower\"}"));
        Awaitility.await().until(() -> calls.progress.size() == 2);
        calls.progress.get("slow").accept(new ToolProgress("c", "slow", 1, OptionalDouble.of(4), "a quarter\nline"));
        calls.progress.get("slower").accept(new ToolProgress("c", "slower", 1, OptionalDouble.empty(), "unasked"));
        calls.open.get("slower").complete(ToolAnswer.text("second"));
        assertThat(slower.get(20, TimeUnit.SECONDS).body())
                .contains("\"id\":8", "second")
                .doesNotContain("unasked");
        calls.open.get("slow").complete(ToolAnswer.text("first"));
        var body = slow.get(20, TimeUnit.SECONDS).body();
        assertThat(body)
                .contains(
                        "\"method\":\"notifications/progress\"",
                        "\"progressToken\":\"p\"",
                        "\"total\":4.0",
                        "a quarter\\nline")
                .contains("\"id\":7", "first");
        assertThat(calls.withdrawn).isEmpty();
    }

    @Test
    @Tag("TL-06")
    void call_cancelledOrLeft_isWithdrawn() throws Exception {
        var slow = stream(rpc(7, "tools/call", "{\"name\":\"slow\",\"_meta\":{\"claudecode/toolUseId\":\"a\"}}"));
        Awaitility.await().until(() -> calls.asked.size() == 1);
        assertThat(post("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}")
                        .statusCode())
                .isEqualTo(202);
        slow.get(20, TimeUnit.SECONDS);
        assertThat(calls.withdrawn).containsExactly("one a");

        var body = rpc(9, "tools/call", "{\"name\":\"slower\",\"_meta\":{\"claudecode/toolUseId\":\"b\"}}");
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                    .write((head(
                                            "POST",
                                            URI.create(offer.url()).getPath(),
                                            "127.0.0.1:PORT",
                                            "TOKEN",
                                            "Content-Type: application/json;Accept: text/event-stream;",
                                            body.length())
                                    + body)
                            .getBytes(StandardCharsets.ISO_8859_1));
            Awaitility.await().until(() -> calls.asked.size() == 2);
        }
        Awaitility.await().until(() -> calls.withdrawn.contains("one b"));
    }

    @Test
    void calls_moreThanAllowed_areRefused() throws Exception {
        var unused = stream(rpc(1, "tools/call", "{\"name\":\"slow\"}"));
        var unused2 = stream(rpc(2, "tools/call", "{\"name\":\"slower\"}"));
        Awaitility.await().until(() -> calls.asked.size() == 2);
        assertThat(ask(rpc(3, "tools/call", "{\"name\":\"echo\"}"))
                        .path("error")
                        .toString())
                .contains("too many");
        assertThat(calls.asked).hasSize(2);
    }

    // ---- who is let in --------------------------------------------------------------------------------------------

    @ParameterizedTest
    @Tag("TL-02")
    @CsvSource(delimiter = '|', textBlock = """
            POST   | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKEN | '' | 200
            POST   | /sessions/1/mcp   | localhost:PORT       | TOKEN | '' | 200
            POST   | /sessions/1/mcp   | evil.example:PORT    | TOKEN | '' | 421
            POST   | /sessions/1/mcp   | 127.0.0.1            | TOKEN | '' | 421
            POST   | /sessions/1/mcp   | 127.0.0.1.evil:PORT  | TOKEN | '' | 421
            POST   | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKEN | 'Origin: http://evil.example;' | 403
            POST   | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKEN | 'Origin: null;' | 403
            POST   | /sessions/1/mcp   | 127.0.0.1:PORT       | 00000000000000000000000000000000 | '' | 401
            POST   | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKENx | '' | 401
            POST   | /sessions/2/mcp   | 127.0.0.1:PORT       | TOKEN | '' | 401
            POST   | /sessions/9/mcp   | 127.0.0.1:PORT       | 00000000000000000000000000000000 | '' | 401
            POST   | /                 | 127.0.0.1:PORT       | TOKEN | '' | 401
            GET    | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKEN | '' | 405
            GET    | /sessions/1/mcp   | 127.0.0.1:PORT       | x     | '' | 401
            GET    | /sessions/1/mcp   | evil.example:PORT    | TOKEN | '' | 421
            PUT    | /sessions/1/mcp   | 127.0.0.1:PORT       | TOKEN | '' | 405
            DELETE | /sessions/1/mcp   | 127.0.0.1:PORT       | x     | '' | 401
            OPTIONS | /sessions/1/mcp  | 127.0.0.1:PORT       | x     | 'Origin: http://evil.example;' | 403
            """)
    void request_isLetInByHostOriginAndTokenOnly(
            String method, String path, String host, String token, String more, int status) throws Exception {
        server.offer(new SessionName("two"), TOOLS, calls);
        var body = method.equals("POST") ? rpc(2, "tools/call", "{\"name\":\"echo\"}") : "";
        var answer = raw(head(
                        method,
                        path,
                        host,
                        token,
                        "Content-Type: application/json;Connection: close;" + more,
                        body.length())
                + body);
        assertThat(answer).startsWith("HTTP/1.1 " + status);
        assertThat(calls.asked).hasSize(status == 200 ? 1 : 0);
        if (status != 200) {
            assertThat(answer.substring(answer.indexOf("\r\n\r\n"))).isBlank();
        }
    }

    @Test
    @Tag("TL-02")
    void request_withoutAToken_getsNothing() throws Exception {
        var body = rpc(1, "tools/list", "{}");
        var naked = HttpRequest.newBuilder(URI.create(offer.url()))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        var response = client.send(naked, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.body()).isEmpty();
        assertThat(offer.token()).matches("[0-9a-f]{32}");
        assertThat(offer.toString()).doesNotContain(offer.token());
    }

    @Test
    @Tag("TL-02")
    void offer_closed_losesItsTokenAndItsCalls() throws Exception {
        var slow = stream(rpc(7, "tools/call", "{\"name\":\"slow\",\"_meta\":{\"claudecode/toolUseId\":\"a\"}}"));
        Awaitility.await().until(() -> calls.asked.size() == 1);
        offer.close();
        offer.close();
        assertThat(slow.get(20, TimeUnit.SECONDS).body()).contains("the session is over");
        assertThat(calls.withdrawn).containsExactly("one a");
        assertThat(post(rpc(8, "tools/list", "{}")).statusCode()).isEqualTo(401);
        var next = server.offer(new SessionName("one"), TOOLS, calls);
        assertThat(next.token()).isNotEqualTo(offer.token());
        server.close();
        assertThatThrownBy(() -> server.offer(new SessionName("one"), TOOLS, calls))
                .isInstanceOf(HoldfastException.class);
    }

    // ---- limits ---------------------------------------------------------------------------------------------------

    @Test
    void body_atTheLimitIsTakenAndAboveItIsRefused() throws Exception {
        var around = rpc(1, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"a\":\"\"}}")
                .length();
        for (int over : new int[] {0, 1}) {
            var text = "x".repeat(10_000 - around + over);
            var response = post(rpc(1, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"a\":\"" + text + "\"}}"));
            assertThat(response.statusCode()).isEqualTo(over == 0 ? 200 : 413);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {                                                    | 400
            []                                                   | 400
            "x"                                                  | 400
            {"jsonrpc":"2.0","id":{},"method":"ping"}            | 400
            {"jsonrpc":"2.0","id":1,"result":{}}                 | 400
            {"jsonrpc":"2.0","method":"notifications/whatever"}  | 202
            """)
    void body_thatIsNoRequest_isRefusedWithoutWords(String body, int status) throws Exception {
        var response = post(body);
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).isEmpty();
        assertThat(post("[".repeat(9_000)).statusCode()).isEqualTo(400);
    }

    @Test
    void otherContentTypesVersionsAndClients_areRefused() throws Exception {
        var body = rpc(1, "ping", "{}");
        var types = List.of("text/plain", "application/x-www-form-urlencoded");
        for (String type : types) {
            var form = request(offer).setHeader("Content-Type", type).POST(HttpRequest.BodyPublishers.ofString(body));
            assertThat(client.send(form.build(), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(415);
        }
        var version = request(offer)
                .header("MCP-Protocol-Version", "1999-01-01")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        assertThat(client.send(version.build(), HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(400);
        var stranger = request(offer).header("Mcp-Session-Id", "none").POST(HttpRequest.BodyPublishers.ofString(body));
        assertThat(client.send(stranger.build(), HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    void headers_thatNeverEnd_areCutOff() throws Exception {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write("POST / HTTP/1.1\r\nHost: ".getBytes(StandardCharsets.ISO_8859_1));
            assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(1_000);
        }
        assertThat(ask(rpc(1, "ping", "{}")).path("result").isObject()).isTrue();
    }

    @Test
    void server_listensOnTheLoopbackAddressOnly() {
        assertThat(offer.url()).isEqualTo("http://127.0.0.1:" + server.port() + "/sessions/1/mcp");
    }
}
