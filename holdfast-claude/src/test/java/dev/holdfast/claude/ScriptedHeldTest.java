package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.SteerAnswer;
import dev.holdfast.ToolAnswer;
import dev.holdfast.claude.HeldResult.Attempts;
import dev.holdfast.claude.HeldResult.Ending;
import dev.holdfast.claude.TurnRequest.IfBusy;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.ScriptedAgent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Held sessions over real processes that misbehave in every known way. */
@Tag("slow")
@Timeout(120)
class ScriptedHeldTest {
    enum Version {
        V197,
        V332;

        AgentProfile profile() {
            return this == V197 ? AgentProfile.v197() : AgentProfile.v332();
        }
    }

    @TempDir
    Path home;

    private final List<HeldEvent> events = new CopyOnWriteArrayList<>();
    private HeldSessions sessions;
    private ClaudeCodeAgent agent;

    private void open(AgentProfile profile) {
        open(profile, options());
    }

    private HeldOptions options() {
        return HeldOptions.in(home.resolve("held"))
                .environment(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin"))
                .listener((handle, event) -> events.add(event));
    }

    private void open(AgentProfile profile, HeldOptions options) {
        var script = ScriptedAgent.of(profile).modelLog(home.resolve("model.log"));
        agent = ClaudeCode.agent()
                .binary(script.writeExecutable(home.resolve("claude")))
                .inference("http://127.0.0.1:9", "sk-fake")
                .tools(HeldRig.ECHO);
        sessions = HeldSessions.open(options);
    }

    @AfterEach
    void close() {
        if (sessions != null) {
            sessions.close();
        }
    }

    private static TurnRequest say(String text) {
        return TurnRequest.of(text)
                .executor((tool, call) -> ToolAnswer.text("echo of " + call.input()))
                .deadline(Duration.ofSeconds(60));
    }

    private HeldResult run(SessionHandle handle, String text) throws InterruptedException {
        return sessions.run(handle, agent, say(text));
    }

    private String model() {
        return Conversation.allIn(home.resolve("model.log")).getLast().toString();
    }

    private long pid() {
        return events.stream()
                .filter(HeldEvent.Started.class::isInstance)
                .map(event -> ((HeldEvent.Started) event).pid())
                .reduce((a, b) -> b)
                .orElseThrow();
    }

    private static void awaitDead(long pid) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(15))
                .until(() ->
                        ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }

    private <T extends HeldEvent> List<T> seen(Class<T> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private void awaitEvent(Class<? extends HeldEvent> type) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> !seen(type).isEmpty());
    }

    // ---- turns

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("HS-02")
    @Tag("HS-05")
    @Tag("HS-01")
    void conversation_overCloseAndReopening_isRemembered(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        HeldResult first = run(handle, "[[say hello]] ONE");
        assertThat(first.text()).isEqualTo("hello");
        assertThat(first.costMicros()).isPresent();
        HeldResult second = run(handle, "[[say again]] TWO");
        assertThat(second.costMicros()).isEqualTo(first.costMicros());
        assertThat(second.requestId()).isNotEqualTo(first.requestId());
        assertThat(second.agentSession()).isEqualTo(first.agentSession());
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
        sessions.close(handle).toCompletableFuture().get(30, TimeUnit.SECONDS);
        HeldResult third = run(handle, "[[say third]] THREE");
        assertThat(third.costMicros()).isEqualTo(first.costMicros());
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("TWO").containsOnlyOnce("THREE");
        sessions.close();
        String stored = handle.toString();
        open(version.profile());
        assertThat(run(new SessionHandle(stored), "[[say fourth]] FOUR").text()).isEqualTo("fourth");
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("FOUR");
        assertThat(seen(HeldEvent.Ready.class))
                .extracting(HeldEvent.Ready::memory)
                .containsExactly(HeldEvent.Memory.NEW, HeldEvent.Memory.RESUMED, HeldEvent.Memory.RESUMED);
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("HS-05")
    void memory_lost_isToldAndRetold(Version version) throws Exception {
        open(version.profile(), options().retelling(handle -> Optional.of("EARLIER: they said ONE")));
        SessionHandle handle = sessions.handle();
        run(handle, "[[say hello]] ONE");
        sessions.close(handle).toCompletableFuture().get(30, TimeUnit.SECONDS);
        try (var all = java.nio.file.Files.walk(home)) {
            for (Path file :
                    all.filter(path -> path.toString().endsWith(".jsonl")).toList()) {
                java.nio.file.Files.delete(file);
            }
        }
        assertThat(run(handle, "[[say again]] TWO").text()).isEqualTo("again");
        assertThat(seen(HeldEvent.Ready.class).getLast().memory()).isEqualTo(HeldEvent.Memory.RETOLD);
        assertThat(model()).contains("EARLIER: they said ONE").contains("TWO");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-06")
    @Tag("TN-07")
    void tools_ofATurn_areInItsResult(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        HeldResult result = run(handle, "[[tool mcp__host__echo {\"n\":1}]] go");
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(result.toolUses())
                .singleElement()
                .satisfies(use -> assertThat(use.hostTool()).contains("echo"));
        assertThat(result.toolResults())
                .singleElement()
                .satisfies(given -> assertThat(given.text()).contains("echo of {\"n\":1}"));
        assertThat(result.attempts()).isEqualTo(Attempts.ALL_REACHED);
        assertThat(result.assistantEvents()).isGreaterThanOrEqualTo(2);
        assertThat(run(handle, "[[say plain]]").attempts()).isEqualTo(Attempts.NONE);
        assertThat(run(handle, "[[tool Bash {}]] go").attempts()).isEqualTo(Attempts.SOME_REFUSED);
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-05")
    void cancel_inTheTurn_leavesTheSessionWorking(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        var cancel = new TurnCancel();
        HeldTurn turn = sessions.start(handle, agent, say("[[sleep 30000]]").cancel(cancel));
        Awaitility.await().until(() -> seen(HeldEvent.Landed.class).size() == 2);
        cancel.cancel();
        assertThat(turn.await().ending()).isEqualTo(Ending.CANCELLED);
        assertThat(run(handle, "[[say fine]]").text()).isEqualTo("fine");
        assertThat(seen(HeldEvent.Started.class)).hasSize(1);
        assertThat(cancel.listeners()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-05")
    @Tag("TN-14")
    void cancel_atOnce_neverRunsIntoTheNextTurn(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        for (int i = 0; i < 10; i++) {
            HeldTurn turn = sessions.start(handle, agent, say("[[sleep 5000]] [[say old]]"));
            turn.cancel();
            HeldTurn next =
                    sessions.start(handle, agent, say("[[say new" + i + "]]").ifBusy(IfBusy.QUEUE));
            try {
                assertThat(turn.await().ending()).isEqualTo(Ending.CANCELLED);
            } catch (HeldFailure.Cancelled nothingBegan) {
                assertThat(nothingBegan).hasMessageContaining("cancelled");
            }
            assertThat(next.await().text()).isEqualTo("new" + i);
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-09")
    void steer_whileAToolRuns_lands(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        var steers = new CopyOnWriteArrayList<HeldTurn.Steering>();
        var turns = new CopyOnWriteArrayList<HeldTurn>();
        var request = say("[[tool mcp__host__echo {}]] go").executor((tool, call) -> {
            Awaitility.await().until(() -> !turns.isEmpty());
            steers.add(turns.getFirst().steer("AND THIS"));
            return ToolAnswer.text("done");
        });
        turns.add(sessions.start(handle, agent, request));
        turns.getFirst().await();
        var steer = steers.getFirst();
        // It lands behind the tool when the agent has read it by then, else in a turn of its own: never nowhere.
        HeldResult with = steer.result().toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertThat(with.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(steer.answer().toCompletableFuture().get(1, TimeUnit.SECONDS))
                .isIn(SteerAnswer.LANDED, SteerAnswer.QUEUED);
        assertThat(model()).containsOnlyOnce("AND THIS");
        assertThat(run(handle, "[[say fine]]").text()).isEqualTo("fine");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-09")
    void steer_whileTheAnswerStreams_getsATurnOfItsOwn(Version version) throws Exception {
        open(version.profile());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        HeldTurn turn = sessions.start(handle, agent, say("[[sleep 1000]] [[say first]]"));
        Awaitility.await().until(() -> seen(HeldEvent.Landed.class).size() == 2);
        var steer = turn.steer("[[say second]]");
        assertThat(turn.await().text()).isEqualTo("first");
        assertThat(steer.result()
                        .toCompletableFuture()
                        .get(30, TimeUnit.SECONDS)
                        .text())
                .isEqualTo("second");
        assertThat(run(handle, "[[say fine]]").text()).isEqualTo("fine");
    }

    @Test
    @Tag("TN-03")
    @DisplayName(
            "defect 8 of the older design, with a process: a turn the agent starts by itself settles nothing of ours")
    void agentTurn_isRecordedOnly() throws Exception {
        open(AgentProfile.v332());
        SessionHandle handle = sessions.handle();
        assertThat(run(handle, "[[agent-turn]] [[say mine]]").text()).isEqualTo("mine");
        awaitEvent(HeldEvent.AgentTurn.class);
        assertThat(run(handle, "[[background]] [[say also mine]]").text()).isEqualTo("also mine");
        assertThat(run(handle, "[[say still]]").text()).isEqualTo("still");
    }

    @Test
    @Tag("HS-18")
    void control_verbs_areAnswered() throws Exception {
        open(AgentProfile.v332());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        HeldControl control = sessions.control(handle);
        assertThat(control.mcpStatus().toCompletableFuture().get(10, TimeUnit.SECONDS))
                .extracting(HeldControl.McpServer::name)
                .contains("host");
        assertThat(control.contextUsage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .maxTokens())
                .hasValue(200_000);
        assertThat(control.cancelQueued("no such").toCompletableFuture().get(10, TimeUnit.SECONDS))
                .isFalse();
        control.model("other").toCompletableFuture().get(10, TimeUnit.SECONDS);
        control.permissionMode("plan").toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertThat(run(handle, "[[say fine]]").text()).isEqualTo("fine");
    }

    // ---- the older design's defects that need a process

    @Test
    @Tag("HS-11")
    @DisplayName("defect 1 of the older design: writing to a dead child is a typed error")
    void child_dead_isATypedErrorAndTheNextTurnWorks() throws Exception {
        open(AgentProfile.v197());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say warm]]");
        ProcessHandle.of(pid()).orElseThrow().destroyForcibly();
        try {
            run(handle, "[[say lost]]");
        } catch (HeldFailure.DiedInTurn died) {
            assertThat(died.landed()).isFalse();
        }
        assertThat(run(handle, "[[say back]]").text()).isEqualTo("back");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[[flood stderr 3000000]]",
                "[[trickle 字😀]]",
                "[[line 3000000]]",
                "[[garbage]]",
                "[[unknown-frame]]"
            })
    @Tag("HS-10")
    @Tag("HS-11")
    @DisplayName("defects 2, 3 and 4 of the older design: a flooded stderr, split characters, long and odd lines")
    void output_odd_doesNotDisturbTheTurn(String directive) throws Exception {
        open(AgentProfile.v197());
        SessionHandle handle = sessions.handle();
        assertThat(run(handle, directive + " [[say fine]]").ending()).isEqualTo(Ending.ANSWERED);
        assertThat(run(handle, "[[say 字😀]]").text()).isEqualTo("字😀");
    }

    @Test
    @Tag("HS-07")
    @Tag("HS-08")
    @DisplayName("defect 7 of the older design: the whole tree is ended, by escalation")
    void close_ofADeafAgentWithDescendants_leavesNone() throws Exception {
        open(AgentProfile.v197());
        SessionHandle handle = sessions.handle();
        run(handle, "[[grandchild 600]] [[escape 600]] [[ignore-term]] [[ignore-eof]] [[say deaf]]");
        long pid = pid();
        var family = ProcessHandle.of(pid).orElseThrow().descendants().toList();
        assertThat(family).isNotEmpty();
        sessions.close(handle).toCompletableFuture().get(60, TimeUnit.SECONDS);
        awaitDead(pid);
        family.forEach(member -> awaitDead(member.pid()));
    }

    @Test
    @Tag("TL-01")
    @DisplayName("defect 10 of the older design: the tools are checked before a word reaches the model")
    void tools_wrong_areATypedErrorBeforeAnyWord() {
        open(AgentProfile.v197().extraTools("Bash").hiddenTools("mcp__host__echo"));
        assertThatThrownBy(() -> run(sessions.handle(), "[[say never]]"))
                .isInstanceOfSatisfying(HeldFailure.ToolsMismatch.class, mismatch -> {
                    assertThat(mismatch.missing()).containsExactly("mcp__host__echo");
                    assertThat(mismatch.surplus()).containsExactly("Bash");
                });
        assertThat(home.resolve("model.log")).doesNotExist();
    }

    // ---- deaths and silence

    @ParameterizedTest
    @ValueSource(strings = {"[[exit 3]]", "[[no-result-exit 0]]", "[[close-stdout]]", "[[crash KILL]]", "[[half]]"})
    @Tag("HS-13")
    void death_inTheTurn_isTypedAndTheNextTurnRemembers(String directive) throws Exception {
        open(AgentProfile.v332());
        SessionHandle handle = sessions.handle();
        run(handle, "[[say one]] ONE");
        assertThatThrownBy(() -> run(handle, "[[stderr it hurts]] " + directive))
                .isInstanceOf(HeldFailure.DiedInTurn.class);
        assertThat(run(handle, "[[say two]] TWO").text()).isEqualTo("two");
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
        assertThat(seen(HeldEvent.RestartDelayed.class)).hasSize(1);
    }

    @Test
    @Tag("TN-04")
    void silence_endsTheTurnByName() throws Exception {
        open(AgentProfile.v197());
        agent = agent.deadlines(Deadlines.standard()
                .firstOutput(Duration.ofMillis(800))
                .silence(Duration.ofMillis(800))
                .interrupt(Duration.ofMillis(800)));
        SessionHandle handle = sessions.handle();
        assertThatThrownBy(() -> run(handle, "[[hang]]"))
                .isInstanceOfSatisfying(
                        HeldFailure.TimedOut.class,
                        failure -> assertThat(failure.deadline()).isIn("first_output", "silence"));
    }

    // ---- the pool

    @Test
    @Tag("HS-04")
    @Tag("HS-02")
    void sessions_manyOverFewProcesses_allAnswerAndNoneIsEvictedInATurn() throws Exception {
        open(AgentProfile.v332(), options().processes(2));
        List<HeldTurn> turns = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            turns.add(sessions.start(new SessionHandle("s" + i), agent, say("[[say answer " + i + "]]")));
        }
        for (int i = 0; i < 6; i++) {
            assertThat(turns.get(i).await().text()).isEqualTo("answer " + i);
        }
        assertThat(sessions.processes()).isLessThanOrEqualTo(2);
        assertThat(seen(HeldEvent.Crashed.class)).isEmpty();
        assertThat(seen(HeldEvent.Evicted.class)).hasSizeGreaterThanOrEqualTo(4);
    }

    @Test
    @Tag("HS-19")
    void spare_serves_withoutAStart() throws Exception {
        var script = ScriptedAgent.of(AgentProfile.v332()).modelLog(home.resolve("model.log"));
        agent = ClaudeCode.agent()
                .binary(script.writeExecutable(home.resolve("claude")))
                .inference("http://127.0.0.1:9", "sk-fake");
        sessions = HeldSessions.open(options().spares(agent, 1));
        Awaitility.await().until(() -> sessions.sparesReady() == 1);
        SessionHandle handle = sessions.handle();
        assertThat(run(handle, "[[say warm]] ONE").text()).isEqualTo("warm");
        assertThat(seen(HeldEvent.Started.class)).isEmpty();
        sessions.close(handle).toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertThat(run(handle, "[[say again]] TWO").text()).isEqualTo("again");
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
    }

    @Test
    @Tag("HS-08")
    @Tag("HS-16")
    void close_ofTheWhole_endsEveryProcessAndFailsEveryTurn() throws Exception {
        open(AgentProfile.v332());
        run(new SessionHandle("idle"), "[[say hi]]");
        HeldTurn running = sessions.start(new SessionHandle("busy"), agent, say("[[sleep 60000]]"));
        HeldTurn starting = sessions.start(new SessionHandle("starting"), agent, say("[[say hi]]"));
        Awaitility.await().until(() -> seen(HeldEvent.Landed.class).size() >= 2);
        sessions.close();
        seen(HeldEvent.Started.class).forEach(started -> awaitDead(started.pid()));
        assertThatThrownBy(running::await).isInstanceOf(HeldFailure.Closed.class);
        assertThat(starting.isDone()).isTrue();
        assertThatThrownBy(() -> run(new SessionHandle("idle"), "late")).isInstanceOf(HeldFailure.Closed.class);
        assertThat(ProcessHandle.current()
                        .descendants()
                        .filter(ProcessHandle::isAlive)
                        .toList())
                .isEmpty();
    }
}
