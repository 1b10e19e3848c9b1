package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.SteerAnswer;
import dev.holdfast.ToolAnswer;
import dev.holdfast.claude.HeldResult.Attempts;
import dev.holdfast.claude.HeldResult.Ending;
import dev.holdfast.claude.TurnRequest.OnOtherBinding;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Held sessions with the real programs that {@code dev/fetch-cli} fetched, against a scripted model. */
@Tag("slow")
@Timeout(120)
class RealHeldIT {
    @TempDir
    Path home;

    private ScriptedApi api;
    private HeldSessions sessions;
    private final List<HeldEvent> events = new CopyOnWriteArrayList<>();

    static Stream<String> binaries() {
        return RealAgentIT.binaries();
    }

    @BeforeEach
    void needsThePrograms() throws Exception {
        Assumptions.assumeTrue(
                binaries().allMatch(path -> Files.isExecutable(Path.of(path))),
                "npm is unreachable: dev/fetch-cli fetched no real program");
        api = new ScriptedApi(request -> new ScriptedApi.Turn.Say("fine"));
        sessions = HeldSessions.open(HeldOptions.in(home.resolve("held"))
                .environment(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin"))
                .listener((handle, event) -> events.add(event)));
    }

    @AfterEach
    void close() {
        if (sessions != null) {
            sessions.close();
        }
        if (api != null) {
            api.close();
        }
    }

    private ClaudeCodeAgent agent(String binary) {
        return ClaudeCode.agent()
                .binary(Path.of(binary))
                .model("claude-sonnet-4-5")
                .systemPrompt("PROMPT-MARK")
                .inference(api.url(), "sk-fake")
                .tools(HeldRig.ECHO);
    }

    private static TurnRequest say(String text) {
        return TurnRequest.of(text)
                .executor((tool, call) -> ToolAnswer.text("ECHO " + call.input()))
                .deadline(Duration.ofSeconds(60));
    }

    private long starts() {
        return events.stream().filter(HeldEvent.Started.class::isInstance).count();
    }

    /** Starts a turn and waits until it has begun to answer. */
    private HeldTurn answering(SessionHandle handle, ClaudeCodeAgent agent) {
        int from = events.size();
        HeldTurn turn = sessions.start(handle, agent, say("be slow"));
        Awaitility.await().until(() -> events.stream().skip(from).anyMatch(HeldEvent.Text.class::isInstance));
        return turn;
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("HS-01")
    @Tag("HS-03")
    @Tag("HS-05")
    @Tag("TN-06")
    @Tag("TN-07")
    void conversation_overEverything_isOne(String binary) throws Exception {
        var agent = agent(binary);
        SessionHandle handle = sessions.handle();
        api.script(request -> new ScriptedApi.Turn.Say("first answer"));
        HeldResult first = sessions.run(handle, agent, say("/clear ONE @x"));
        assertThat(first.text()).isEqualTo("first answer");
        assertThat(first.stopReason()).contains("end_turn");
        assertThat(first.costMicros()).isPresent();
        assertThat(first.usage()).isPresent();
        assertThat(first.models()).isNotEmpty();
        assertThat(first.attempts()).isEqualTo(Attempts.NONE);
        assertThat(first.raw().at("num_turns")).contains("1");
        assertThat(api.requests().getLast().path("system").toString()).contains("PROMPT-MARK");

        api.script(request -> ScriptedApi.lastWords(request).contains("tool_result")
                ? new ScriptedApi.Turn.Say("used")
                : new ScriptedApi.Turn.Use("mcp__host__echo", "{\"text\":\"hi\"}"));
        HeldResult second = sessions.run(handle, agent, say("use it"));
        assertThat(second.text()).isEqualTo("used");
        assertThat(second.attempts()).isEqualTo(Attempts.ALL_REACHED);
        assertThat(second.toolUses()).hasSize(1);
        assertThat(second.toolResults())
                .singleElement()
                .satisfies(given -> assertThat(given.text()).contains("ECHO"));
        assertThat(second.requestId()).isNotEqualTo(first.requestId());
        assertThat(second.agentSession()).isEqualTo(first.agentSession());
        assertThat(second.costMicros().orElseThrow())
                .isLessThanOrEqualTo(3 * first.costMicros().orElseThrow());

        api.script(request -> ScriptedApi.lastWords(request).contains("tool_result")
                ? new ScriptedApi.Turn.Say("I could not")
                : new ScriptedApi.Turn.Use("Bash", "{\"command\":\"true\",\"description\":\"d\"}"));
        HeldResult refused = sessions.run(handle, agent, say("use what you do not have"));
        assertThat(refused.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(refused.attempts()).isEqualTo(Attempts.SOME_REFUSED);
        assertThat(starts()).isEqualTo(1);

        assertThatThrownBy(() -> sessions.run(handle, agent.systemPrompt("OTHER"), say("x")))
                .isInstanceOf(HeldFailure.BindingMismatch.class)
                .hasMessageContaining("system prompt");
        api.script(request -> new ScriptedApi.Turn.Say("changed"));
        HeldResult changed =
                sessions.run(handle, agent.systemPrompt("OTHER"), say("TWO").onOtherBinding(OnOtherBinding.RECYCLE));
        assertThat(changed.text()).isEqualTo("changed");
        assertThat(api.requests().getLast().path("system").toString()).contains("OTHER");
        assertThat(api.lastConversation()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
        assertThat(starts()).isEqualTo(2);
        assertThat(events)
                .filteredOn(HeldEvent.Ready.class::isInstance)
                .last()
                .satisfies(
                        event -> assertThat(((HeldEvent.Ready) event).memory()).isEqualTo(HeldEvent.Memory.RESUMED));
        assertThat(changed.costMicros().orElseThrow())
                .isLessThan(2 * first.costMicros().orElseThrow());
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("TN-05")
    @Tag("HS-18")
    void interrupt_inTheAnswer_leavesTheSessionWorking(String binary) throws Exception {
        SessionHandle handle = sessions.handle();
        var agent = agent(binary);
        sessions.run(handle, agent, say("warm up"));
        api.script(request -> new ScriptedApi.Turn.Say("a long answer", new CountDownLatch(1)));
        Awaitility.await().until(() -> events.getLast() instanceof HeldEvent.StateChanged);
        HeldTurn turn = answering(handle, agent);
        assertThat(turn.interrupt()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .stillQueued())
                .isEmpty();
        assertThat(turn.await().ending()).isEqualTo(Ending.CANCELLED);
        api.script(request -> new ScriptedApi.Turn.Say("after"));
        assertThat(sessions.run(handle, agent, say("go on")).text()).isEqualTo("after");
        assertThat(starts()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("TN-09")
    void steer_inATool_landsOrFollows(String binary) throws Exception {
        SessionHandle handle = sessions.handle();
        var agent = agent(binary);
        sessions.run(handle, agent, say("warm up"));
        api.script(request -> ScriptedApi.lastWords(request).contains("tool_result")
                ? new ScriptedApi.Turn.Say("used")
                : new ScriptedApi.Turn.Use("mcp__host__echo", "{}"));
        var steers = new CopyOnWriteArrayList<HeldTurn.Steering>();
        var turns = new CopyOnWriteArrayList<HeldTurn>();
        var go = new CountDownLatch(1);
        turns.add(sessions.start(handle, agent, say("use it").executor((tool, call) -> {
            assertThat(go.await(20, TimeUnit.SECONDS)).isTrue();
            return ToolAnswer.text("ok");
        })));
        Awaitility.await().until(() -> events.stream().anyMatch(HeldEvent.ToolCalled.class::isInstance));
        steers.add(turns.getFirst().steer("AND THIS"));
        go.countDown();
        assertThat(turns.getFirst().await().ending()).isEqualTo(Ending.ANSWERED);
        var steer = steers.getFirst();
        assertThat(steer.result()
                        .toCompletableFuture()
                        .get(30, TimeUnit.SECONDS)
                        .ending())
                .isEqualTo(Ending.ANSWERED);
        assertThat(steer.answer().toCompletableFuture().get(1, TimeUnit.SECONDS))
                .isIn(SteerAnswer.LANDED, SteerAnswer.QUEUED);
        assertThat(api.lastConversation()).containsOnlyOnce("AND THIS");
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("HS-18")
    void control_verbs_areAnswered(String binary) throws Exception {
        SessionHandle handle = sessions.handle();
        var agent = agent(binary);
        sessions.run(handle, agent, say("warm up"));
        HeldControl control = sessions.control(handle);
        assertThat(control.mcpStatus().toCompletableFuture().get(20, TimeUnit.SECONDS))
                .singleElement()
                .satisfies(server -> {
                    assertThat(server.name()).isEqualTo("host");
                    assertThat(server.status()).isEqualTo("connected");
                });
        assertThat(control.permissionMode("plan")
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .at("mode"))
                .contains("plan");
        var usage = control.contextUsage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(usage.tokens()).isPresent();
        assertThat(usage.maxTokens()).isPresent();
        assertThat(control.cancelQueued("00000000-0000-4000-8000-000000000000")
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .isFalse();
        control.model("claude-opus-4-1").toCompletableFuture().get(20, TimeUnit.SECONDS);
        sessions.run(handle, agent, say("on the other model"));
        assertThat(api.requests().getLast().path("model").stringValue("")).contains("opus");
        assertThatThrownBy(() ->
                        control.request("unheard_of").toCompletableFuture().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(HeldFailure.ControlFailed.class);
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("HS-13")
    @Tag("HS-05")
    void death_inTheTurn_isTypedAndTheConversationGoesOn(String binary) throws Exception {
        SessionHandle handle = sessions.handle();
        var agent = agent(binary);
        sessions.run(handle, agent, say("REMEMBER"));
        api.script(request -> new ScriptedApi.Turn.Say("a long answer", new CountDownLatch(1)));
        Awaitility.await().until(() -> events.getLast() instanceof HeldEvent.StateChanged);
        HeldTurn turn = answering(handle, agent);
        events.stream()
                .filter(HeldEvent.Started.class::isInstance)
                .map(event -> ((HeldEvent.Started) event).pid())
                .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        assertThatThrownBy(turn::await)
                .isInstanceOfSatisfying(
                        HeldFailure.DiedInTurn.class,
                        died -> assertThat(died.landed()).isTrue());
        api.script(request -> new ScriptedApi.Turn.Say("after"));
        assertThat(sessions.run(handle, agent, say("go on")).text()).isEqualTo("after");
        assertThat(api.lastConversation()).contains("REMEMBER");
    }

    @ParameterizedTest
    @MethodSource("binaries")
    @Tag("HS-19")
    void spare_serves(String binary) throws Exception {
        sessions.close();
        var agent = agent(binary).effort("low");
        sessions = HeldSessions.open(HeldOptions.in(home.resolve("held"))
                .environment(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin"))
                .listener((handle, event) -> events.add(event))
                .spares(agent, 1));
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> sessions.sparesReady() == 1);
        SessionHandle handle = sessions.handle();
        assertThat(sessions.run(handle, agent, say("ONE")).text()).isEqualTo("fine");
        assertThat(starts()).isZero();
        sessions.close(handle).toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertThat(sessions.run(handle, agent, say("TWO")).text()).isEqualTo("fine");
        assertThat(api.lastConversation()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
    }
}
