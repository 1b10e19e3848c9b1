package dev.holdfast.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools taken over from real servers: a program, and one over HTTP. */
class RemoteToolsTest {
    private static final RemoteOptions OPTIONS = RemoteOptions.standard().hintsTrusted(true);

    @TempDir
    Path directory;

    private final List<String> progress = new CopyOnWriteArrayList<>();

    private RemoteServer program() {
        var path = String.join(
                File.pathSeparator,
                "target/classes",
                "target/test-classes",
                System.getProperty("jdk.module.path", ""),
                System.getProperty("java.class.path", ""));
        return new RemoteServer.Program(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        path,
                        StdioServerMain.class.getName(),
                        log().toString()),
                Map.of("SECRET", "canary-7"));
    }

    private Path log() {
        return directory.resolve("log");
    }

    private List<String> told() throws IOException {
        return Files.readAllLines(log());
    }

    private static Tool tool(RemoteTools tools, String name) {
        return tools.tools().stream()
                .filter(tool -> tool.spec().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private ToolAnswer call(RemoteTools tools, String name, String input) throws Exception {
        return tool(tools, name)
                .call(new ToolCall(
                        new SessionName("s"),
                        1,
                        1,
                        Optional.empty(),
                        "c",
                        "k",
                        input,
                        () -> false,
                        (done, total, note) -> progress.add(done + "/" + total.orElse(0) + " " + note)));
    }

    @Test
    @Tag("TL-10")
    void tools_ofAProgram_areTakenOverWithSchemasAndHints() {
        try (var tools = RemoteTools.connect(program(), OPTIONS.prefix("small_"))) {
            assertThat(tools.tools())
                    .extracting(tool -> tool.spec().name())
                    .containsExactly(
                            "small_echo",
                            "small_weather_at",
                            "small_picture",
                            "small_fail",
                            "small_refuse",
                            "small_hang",
                            "small_die",
                            "small_die_reading");
            assertThat(tools.tools())
                    .extracting(Tool::effects)
                    .startsWith(ToolEffects.READ, ToolEffects.WRITE, ToolEffects.DESTRUCTIVE);
            assertThat(tools.tools()).extracting(Tool::idempotent).startsWith(false, true, false);
            assertThat(tool(tools, "small_echo").spec().inputSchema()).contains("\"required\":[\"text\"]");
            assertThat(tool(tools, "small_echo").spec().description()).isEqualTo("says it again");
        }
        try (var tools = RemoteTools.connect(program())) {
            assertThat(tools.tools()).extracting(Tool::effects).containsOnly(ToolEffects.DESTRUCTIVE);
            assertThat(tools.tools()).extracting(Tool::idempotent).containsOnly(false);
        }
    }

    @Test
    @Tag("TL-10")
    void results_textDataImageAndError_becomeAnswers() throws Exception {
        try (var tools = RemoteTools.connect(program())) {
            assertThat(call(tools, "echo", "{\"text\":\"Zürich \ud83d\ude80\"}"))
                    .isEqualTo(ToolAnswer.text("Zürich \ud83d\ude80"));
            assertThat(call(tools, "weather_at", "{}"))
                    .isEqualTo(new ToolAnswer(
                            List.of(new ToolAnswer.Text("cold")), Optional.of("{\"degrees\":-3}"), false));
            var picture = call(tools, "picture", "{}");
            assertThat(picture.blocks().getFirst()).isEqualTo(new ToolAnswer.Image("image/png", "AAAA"));
            assertThat(picture.text()).contains("an image that cannot be shown", "file:///x");
            assertThat(call(tools, "fail", "{}")).isEqualTo(ToolAnswer.error("it is broken"));
            assertThat(call(tools, "refuse", "{}"))
                    .isEqualTo(ToolAnswer.error("the MCP server refused the call: no such order"));
        }
    }

    @Test
    void program_started_seesNothingOfOurEnvironmentButWhereItIs() throws Exception {
        try (var tools = RemoteTools.connect(program())) {
            assertThat(List.of(told().getFirst()
                            .replaceAll("started with \\[|]", "")
                            .split(", ")))
                    .contains("SECRET")
                    .isSubsetOf("HOME", "LOGNAME", "PATH", "SECRET", "SHELL", "TERM", "USER");
            assertThat(tools.toString() + program()).doesNotContain("canary-7");
        }
    }

    @Test
    @Tag("TL-06")
    @Tag("TL-10")
    void call_interrupted_isCancelledAtTheServerAndItsProgressWasTold() throws Exception {
        try (var tools = RemoteTools.connect(program());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<ToolAnswer> running = threads.submit(() -> call(tools, "hang", "{}"));
            Awaitility.await().until(() -> progress.contains("1.0/2.0 half"));
            running.cancel(true);
            Awaitility.await().until(() -> told().stream().anyMatch(line -> line.startsWith("cancelled ")));
            assertThat(call(tools, "echo", "{\"text\":\"on\"}").text()).isEqualTo("on");
        }
    }

    @Test
    @Tag("TL-07")
    void program_thatDiesInACall_isStartedAgainAndOnlyAReadingCallIsSentAgain() throws Exception {
        try (var tools = RemoteTools.connect(program(), OPTIONS)) {
            assertThat(call(tools, "die", "{}").text()).contains("may have happened");
            assertThat(call(tools, "die_reading", "{}").text()).isEqualTo("alive again");
            assertThat(told().stream().filter(line -> line.startsWith("called die ")))
                    .hasSize(1);
            assertThat(told().stream().filter(line -> line.startsWith("started")))
                    .hasSize(3);
        }
    }

    @Test
    void header_withALineBreak_isRefusedWithoutItsValue() {
        assertThatThrownBy(() -> new RemoteServer.Http(
                        URI.create("http://127.0.0.1:9/mcp"), Map.of("Authorization", "canary-7\n")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Authorization")
                .hasMessageNotContaining("canary-7");
    }

    @Test
    void connect_toNobody_failsInTime() {
        long begun = System.nanoTime();
        assertThatThrownBy(() -> RemoteTools.connect(
                        RemoteServer.at(URI.create("http://127.0.0.1:9/mcp")),
                        OPTIONS.connecting(Duration.ofSeconds(2))))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("http://127.0.0.1:9/mcp")
                .hasMessageContaining("cannot be reached");
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(30));
        assertThatThrownBy(() -> RemoteTools.connect(RemoteServer.program("/nowhere/at-all")))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("/nowhere/at-all");
    }

    @Test
    @Tag("TL-10")
    void tools_overHttp_areCalledWithTheirHeaders() throws Exception {
        var echo = new ToolSpec("echo", "again", "{\"type\":\"object\"}", ToolEffects.READ);
        try (var server = ToolServer.open();
                var offer = server.offer(new SessionName("far"), List.of(echo), new ServerCalls())) {
            var there =
                    new RemoteServer.Http(URI.create(offer.url()), Map.of("Authorization", "Bearer " + offer.token()));
            assertThat(there.toString()).doesNotContain(offer.token());
            try (var tools = RemoteTools.connect(there, OPTIONS)) {
                assertThat(call(tools, "echo", "{\"a\":1}")).isEqualTo(ToolAnswer.text("echo {\"a\":1}"));
                assertThat(tool(tools, "echo").effects()).isEqualTo(ToolEffects.READ);
            }
        }
    }

    @Test
    void serverOverHttp_thatGoesAwayInACall_isAnErrorAndNoWait() throws Exception {
        var hang = new ToolSpec("hang", "hangs", "{\"type\":\"object\"}");
        var calls = new ServerCalls();
        var server = ToolServer.open();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var offer = server.offer(new SessionName("far"), List.of(hang), calls);
            var there =
                    new RemoteServer.Http(URI.create(offer.url()), Map.of("Authorization", "Bearer " + offer.token()));
            try (var tools = RemoteTools.connect(there, OPTIONS.connecting(Duration.ofSeconds(1)))) {
                Future<ToolAnswer> running = threads.submit(() -> call(tools, "hang", "{}"));
                Awaitility.await().until(() -> !calls.asked.isEmpty());
                server.close();
                var answer = running.get(30, TimeUnit.SECONDS);
                assertThat(answer.error()).isTrue();
                assertThat(call(tools, "hang", "{}").text()).contains("nothing was done");
            }
        } finally {
            server.close();
        }
    }
}
