package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each fault that a test can ask the scripted agent for, over a real process. */
class ScriptedAgentFaultsTest {
    private final List<Contender> opened = new ArrayList<>();

    @TempDir
    private Path directory;

    private Contender agent() {
        Contender agent = Contender.scripted(AgentProfile.v197());
        opened.add(agent);
        return agent;
    }

    private TestHost started() {
        return agent().start("--session-id=" + Contender.newSession());
    }

    @AfterEach
    void close() {
        opened.forEach(Contender::close);
    }

    private static boolean staysAlive(TestHost host) throws InterruptedException {
        return !host.process().waitFor(300, TimeUnit.MILLISECONDS);
    }

    @Test
    void crash_inMidAnswer_endsLikeAKill() {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[say half]] [[crash]]");
        assertThat(host.awaitExit()).isEqualTo(137);
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("result"));
    }

    @Test
    void crash_byRealSignal_endsBySignal() {
        TestHost host = started();
        host.say("m1", "[[crash KILL]]");
        assertThat(host.awaitExit()).isEqualTo(137);
    }

    @Test
    void crash_atResult_leavesTheTurnOutOfTheRecord() {
        Contender agent = agent();
        String session = Contender.newSession();
        TestHost host = agent.start("--session-id=" + session);
        await().until(() -> agent.recordLabels(session).toString().contains("probe"));
        int from = host.mark();
        host.say("m1", "[[say ok]] [[crash at result]]");
        assertThat(host.awaitExit()).isEqualTo(137);
        assertThat(host.labels(from)).anyMatch(label -> label.startsWith("result success"));
        assertThat(agent.recordLabels(session).toString()).doesNotContain("assistant");
    }

    @Test
    void crash_atNamedPoints_endsThere() {
        for (String point : List.of("init", "before-landing", "landing", "before-result", "idle")) {
            TestHost host = started();
            int from = host.mark();
            host.say("m1", "[[crash at " + point + "]]");
            assertThat(host.awaitExit()).as(point).isEqualTo(137);
            List<String> seen = host.labels(from);
            assertThat(seen.stream().anyMatch(label -> label.startsWith("replay")))
                    .as(point)
                    .isEqualTo(!List.of("init", "before-landing").contains(point));
            assertThat(seen.stream().anyMatch(label -> label.startsWith("result")))
                    .as(point)
                    .isEqualTo(point.equals("idle"));
        }
    }

    @Test
    void crash_onceOnly_happensInTheFirstProcess() {
        Contender agent = agent();
        String session = Contender.newSession();
        TestHost host = agent.start("--session-id=" + session);
        host.say("m1", "[[flush]] [[once k crash]] [[say ok]]");
        assertThat(host.awaitExit()).isEqualTo(137);
        TestHost next = agent.start("--resume=" + session);
        assertThat(next.ask("m2", "[[once k crash]] [[say ok]]").text("result", ""))
                .isEqualTo("ok");
    }

    @Test
    void exit_withoutResult_hasTheGivenCode() {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[say a]] [[no-result-exit 0]]");
        assertThat(host.awaitExit()).isZero();
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("result"));
    }

    @Test
    void hang_inATurn_endsOnTermOnly() throws InterruptedException {
        TestHost host = started();
        host.say("m1", "[[hang]]");
        host.closeInput();
        assertThat(staysAlive(host)).isTrue();
        host.terminate();
        assertThat(host.awaitExit()).isEqualTo(143);
    }

    @Test
    void ignoreTerm_afterTerm_goesOnWorking() throws InterruptedException {
        TestHost host = started();
        host.ask("m1", "[[ignore-term]] [[say ok]]");
        host.terminate();
        assertThat(staysAlive(host)).isTrue();
        assertThat(host.ask("m2", "[[say still]]").text("result", "")).isEqualTo("still");
        host.kill();
    }

    @Test
    void ignoreInterrupt_afterInterrupt_neverAnswers() {
        TestHost host = started();
        host.ask("m1", "[[ignore-interrupt]] [[say ok]]");
        int from = host.mark();
        host.interrupt();
        host.ask("m2", "[[say still]]");
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("answer"));
    }

    @Test
    void ignoreEof_afterEndOfInput_staysAlive() throws InterruptedException {
        TestHost host = started();
        host.ask("m1", "[[ignore-eof]] [[say ok]]");
        host.closeInput();
        assertThat(staysAlive(host)).isTrue();
        host.terminate();
        assertThat(host.awaitExit()).isEqualTo(143);
    }

    @Test
    void neverRead_afterwards_leavesLinesUnread() throws InterruptedException {
        TestHost host = started();
        host.ask("m1", "[[never-read]] [[say ok]]");
        int from = host.mark();
        host.write(Json.object().with("type", "keep_alive"));
        host.say("m2", "anybody there?");
        assertThat(staysAlive(host)).isTrue();
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("replay"));
    }

    @Test
    void stop_thenContinue_goesOn() throws IOException, InterruptedException {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[stop]] [[say ok]]");
        Path stat = Path.of("/proc", Long.toString(host.process().pid()), "stat");
        await().until(() -> Files.readString(stat).contains(") T "));
        new ProcessBuilder("kill", "-CONT", Long.toString(host.process().pid()))
                .start()
                .waitFor();
        host.interrupt();
        assertThat(staysAlive(host)).isTrue();
        assertThat(host.labels(from)).anyMatch(label -> label.startsWith("answer"));
    }

    @Test
    void closeStdout_inATurn_leavesTheProcess() throws InterruptedException {
        TestHost host = started();
        host.say("m1", "[[close-stdout]] [[sleep 60000]]");
        assertThat(staysAlive(host)).isTrue();
    }

    @Test
    void garbage_betweenFrames_isNoFrame() {
        TestHost host = started();
        host.ask("m1", "[[garbage]] [[say ok]]");
        assertThat(host.noise()).containsExactly("[debug] this is no frame");
    }

    @Test
    void half_ofALine_thenExit() {
        TestHost host = started();
        host.say("m1", "[[half]]");
        assertThat(host.awaitExit()).isEqualTo(1);
        assertThat(host.noise()).containsExactly("{\"type\":\"assistant\",\"message\":{\"ro");
    }

    @Test
    void badUtf8_inAFrame_goesOn() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[bad-utf8]] [[say ok]]");
        assertThat(host.frames(from)).anyMatch(frame -> frame.text("t", "").contains("\uFFFD"));
    }

    @Test
    void line_ofAMillionBytes_arrivesWhole() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[line 3000000]] [[say ok]]");
        assertThat(host.await("long", from, frame -> frame.text("type", "").equals("long"))
                        .text("text", ""))
                .hasSize(3_000_000);
    }

    @Test
    void trickle_byteByByte_isTheSameText() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[trickle 漢字 😀]] [[say ok]]");
        assertThat(host.await("trickle", from, frame -> frame.text("type", "").equals("trickle"))
                        .text("text", ""))
                .isEqualTo("漢字 😀");
    }

    @Test
    void flood_onBothPipes_arrives() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[flood stdout 500000]] [[flood stderr 200000]] [[stderr last words]] [[say ok]]");
        assertThat(host.frames(from).stream()
                        .filter(frame -> frame.text("type", "").equals("flood")))
                .hasSize(500);
        await().until(() -> host.errors().endsWith("last words\n"));
        assertThat(host.errors()).hasSizeGreaterThan(200_000);
    }

    @Test
    void unknownFrame_ofANewType_isAFrame() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[unknown-frame]] [[say ok]]");
        assertThat(host.labels(from)).contains("brand_new");
    }

    @Test
    void duplicateResult_ofOneTurn_comesTwice() {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[duplicate-result]] [[say ok]]");
        assertThat(host.labels(from).stream().filter(label -> label.startsWith("result")))
                .hasSize(2);
    }

    @Test
    void noResult_ofATurn_isIdleWithoutOne() {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[no-result]] [[say ok]]");
        host.awaitIdle(from);
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("result"));
    }

    @Test
    void lateResult_ofAnInterruptedTurn_comesAfterTheAnswer() {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[late-result 300]] [[sleep 60000]]");
        host.await("init", from, frame -> frame.text("subtype", "").equals("init"));
        host.awaitAnswer(host.interrupt());
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("result"));
        assertThat(host.awaitResult(from).text("terminal_reason", "")).isEqualTo("aborted_streaming");
    }

    @Test
    void resultThenHang_afterIdle_neverTakesTheNext() throws InterruptedException {
        TestHost host = started();
        host.ask("m1", "[[result-then-hang]] [[say ok]]");
        int from = host.mark();
        host.say("m2", "anybody there?");
        assertThat(staysAlive(host)).isTrue();
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("replay"));
    }

    @Test
    void agentTurn_afterIdle_hasNoReplay() {
        TestHost host = started();
        int from = host.mark();
        host.say("m1", "[[agent-turn]] [[say ok]]");
        await().until(() -> host.labels(from).stream().filter("idle"::equals).count() == 2);
        List<String> own = host.labels(from);
        own = own.subList(own.indexOf("idle"), own.size());
        assertThat(own).anyMatch(label -> label.startsWith("result success"));
        assertThat(own).noneMatch(label -> label.startsWith("replay"));
    }

    @Test
    void background_afterIdle_endsLaterWithATurnOfItsOwn() {
        TestHost host = started();
        host.ask("m1", "[[background]] [[say ok]]");
        int from = host.mark();
        host.awaitResult(from);
        assertThat(host.labels(from)).contains("system task_notification");
    }

    @Test
    void grandchild_afterTheEnd_keepsThePipesOpen() throws InterruptedException {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[grandchild 20]] [[say ok]]");
        long pid = host.await("pid", from, frame -> frame.text("type", "").equals("grandchild"))
                .number("pid", 0);
        host.closeInput();
        assertThat(host.process().waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ProcessHandle.of(pid)).get().matches(ProcessHandle::isAlive);
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void escape_toASessionOfItsOwn_outlivesTheAgent() throws IOException {
        TestHost host = started();
        int from = host.mark();
        host.ask("m1", "[[escape 20]] [[say ok]]");
        long pid = host.await("pid", from, frame -> frame.text("type", "").equals("grandchild"))
                .number("pid", 0);
        host.process().toHandle().destroyForcibly();
        await().until(() -> Files.readString(Path.of("/proc", Long.toString(pid), "cmdline"))
                .startsWith("sleep"));
        assertThat(ProcessHandle.of(pid)).get().matches(ProcessHandle::isAlive);
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void budget_onceSpent_refusesEveryLaterMessage() {
        TestHost host = agent().start("--session-id=" + Contender.newSession(), "--max-budget-usd=0.0001");
        assertThat(host.ask("m1", "[[say ok]]").text("subtype", "")).isEqualTo("error_max_budget_usd");
        assertThat(host.ask("m2", "[[say ok]]").text("subtype", "")).isEqualTo("error_max_budget_usd");
        assertThat(host.end()).isEqualTo(1);
    }

    @Test
    void profile_withSurplusAndMissingTools_showsThemOnInit() {
        Contender agent =
                Contender.scripted(AgentProfile.v197().extraTools("Bash").hiddenTools("mcp__host__slow"));
        opened.add(agent);
        TestHost host = agent.start("--session-id=" + Contender.newSession());
        assertThat(host.labels()).contains("init [\"mcp__host__echo\",\"Bash\"]");
    }

    @Test
    void scenario_byWordsTurnAndControl_decides() throws IOException {
        Path file = Files.writeString(directory.resolve("scenario"), """
                # what nobody asks for in words
                start: [[stderr awake]]
                turn 2: [[say second]]
                contains refund: [[say money]]
                interrupt: [[ignore]]
                """);
        Contender agent = Contender.scripted(ScriptedAgent.worst().scenario(file));
        opened.add(agent);
        TestHost host = agent.start("--session-id=" + Contender.newSession());
        assertThat(host.ask("m1", "hello").text("result", "")).isEqualTo("second");
        assertThat(host.ask("m2", "a refund").text("result", "")).isEqualTo("money");
        int from = host.mark();
        host.interrupt();
        host.ask("m3", "hello");
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("answer"));
        assertThat(host.errors()).isEqualTo("awake\n");
    }

    @Test
    void writtenExecutable_startedByPath_isTheAgent() throws IOException, InterruptedException {
        Path home = Files.createDirectory(directory.resolve("a b"));
        Path claude = ScriptedAgent.worst().writeExecutable(home.resolve("claude"));
        Process process = new ProcessBuilder(claude.toString(), "--version").start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo("2.1.197 (Claude Code)\n");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void gate_inTheMiddle_waitsForTheTest() throws InterruptedException {
        Contender agent = agent();
        TestHost host = agent.start("--session-id=" + Contender.newSession());
        int from = host.mark();
        host.say("m1", "[[gate g]] [[say ok]]");
        assertThat(agent.gate("g").awaitReached(Duration.ofSeconds(10))).isTrue();
        assertThat(host.labels(from)).noneMatch(label -> label.startsWith("result"));
        agent.gate("g").open();
        assertThat(host.awaitResult(from).text("result", "")).isEqualTo("ok");
    }

    @Test
    void compact_inMidTurn_forgetsTheUuidOnResume() {
        Contender agent = agent();
        String session = Contender.newSession();
        TestHost host = agent.start("--session-id=" + session);
        int from = host.mark();
        String uuid = host.say("m1", "words [[compact]] [[flush]] [[crash]]");
        assertThat(host.awaitExit()).isEqualTo(137);
        assertThat(host.labels(from)).contains("system compact_boundary");
        TestHost next = agent.start("--resume=" + session);
        int again = next.mark();
        next.send("m1", uuid, TestHost.withHostBlock("words [[say ok]]"), Json.object());
        next.awaitIdle(again);
        assertThat(agent.lastShown().count("words"))
                .as("doubled, as with the real one")
                .isEqualTo(2);
    }

    @Test
    void scenario_refusingInitialize_answersWithAnError() throws IOException {
        Path file = Files.writeString(directory.resolve("scenario"), "initialize: [[refuse not today]]\n");
        Contender agent = Contender.scripted(ScriptedAgent.worst().scenario(file));
        opened.add(agent);
        TestHost host = agent.launch("--session-id=" + Contender.newSession());
        Json answer = host.awaitAnswer(host.initialize());
        assertThat(answer.text("error", "")).isEqualTo("not today");
    }

    @Test
    void allocate_belowTheHeap_keepsAnswering() {
        Contender agent = Contender.scripted(ScriptedAgent.worst().heapMegabytes(96));
        opened.add(agent);
        TestHost host = agent.start("--session-id=" + Contender.newSession());
        assertThat(host.ask("m1", "[[allocate 48]] [[say heavy]]").text("result", ""))
                .isEqualTo("heavy");
    }

    @Test
    void resume_ofAVeryOldVersion_hasANewId() {
        Contender agent = Contender.scripted(AgentProfile.v197().with(AgentQuirk.NEW_ID_ON_RESUME));
        opened.add(agent);
        String session = Contender.newSession();
        TestHost host = agent.start("--session-id=" + session);
        host.ask("m1", "one [[say ok]]");
        host.end();
        TestHost next = agent.start("--resume=" + session);
        Json result = next.ask("m2", "two [[say ok]]");
        assertThat(result.text("session_id", session)).isNotEqualTo(session);
        assertThat(agent.lastShown().holdsOnceInOrder("one", "two")).isTrue();
    }

    @Test
    void mcpConfig_inAFile_isRead() throws IOException {
        Path config = Files.writeString(
                directory.resolve("mcp.json"), "{\"mcpServers\":{\"host\":{\"type\":\"sdk\",\"name\":\"host\"}}}");
        Contender agent = agent().without("--mcp-config");
        TestHost host = agent.start("--session-id=" + Contender.newSession(), "--mcp-config=" + config);
        assertThat(host.labels()).contains("init [\"mcp__host__echo\",\"mcp__host__slow\"]");
    }

    @Test
    void cost_acrossTurnsAndResume_isCumulativeOrCarried() {
        for (AgentProfile profile : List.of(AgentProfile.v197(), AgentProfile.v332())) {
            Contender agent = Contender.scripted(profile);
            opened.add(agent);
            String session = Contender.newSession();
            TestHost host = agent.start("--session-id=" + session);
            double one = host.ask("m1", "[[say a]]").decimal("total_cost_usd", 0);
            double two = host.ask("m2", "[[say b]]").decimal("total_cost_usd", 0);
            host.end();
            TestHost next = agent.start("--resume=" + session);
            double three = next.ask("m3", "[[say c]]").decimal("total_cost_usd", 0);
            assertThat(two).isEqualTo(2 * one);
            boolean carried = profile.has(AgentQuirk.COST_CARRIED);
            assertThat(three).isCloseTo(carried ? 3 * one : one, org.assertj.core.data.Offset.offset(1e-9));
        }
    }
}
