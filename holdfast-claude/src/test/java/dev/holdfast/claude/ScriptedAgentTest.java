package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.Knowledge.Tail;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolSpec;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.TurnResult.Ending;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.ScriptedAgent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Attachments over real processes that misbehave in every known way. */
@Tag("slow")
class ScriptedAgentTest {
    private static final ToolSpec ECHO = new ToolSpec("echo", "again", "{\"type\":\"object\"}");

    enum Version {
        V197,
        V332;

        AgentProfile profile() {
            return this == V197 ? AgentProfile.v197() : AgentProfile.v332();
        }
    }

    @TempDir
    Path home;

    private final SpawnedAgents source = new SpawnedAgents();
    private final String session = UUID.randomUUID().toString();
    private Deadlines deadlines = Deadlines.standard();
    private long incarnation;

    @AfterEach
    void endAll() {
        source.close();
    }

    private record Life(ClaudeAttachment attachment, Reports reports, Knowledge known) {
        DeliveryId tell(String text) {
            var id = new DeliveryId(UUID.randomUUID());
            tell(id, text);
            return id;
        }

        void tell(DeliveryId id, String text) {
            attachment.tell(new Line(id, List.of(text), "(host)", false));
        }

        TurnResult turn(String text) {
            int mark = reports.mark();
            tell(text);
            var result = reports.next(mark, Report.Result.class).result();
            reports.next(mark, Report.Idle.class);
            return result;
        }

        Report.Ended end() {
            return reports.next(0, Report.Ended.class);
        }

        Report.Ended stop(StopMode mode) {
            attachment.stop(mode);
            return end();
        }

        long pid() {
            return reports.of(Report.Started.class).getLast().pid();
        }
    }

    private ClaudeAttachment attach(AgentProfile profile, Reports reports) {
        incarnation++;
        var script = ScriptedAgent.of(profile).modelLog(home.resolve("model.log"));
        var agent = ClaudeCode.agent()
                .binary(script.writeExecutable(home.resolve("claude")))
                .inference("http://127.0.0.1:9", "sk-fake")
                .deadlines(deadlines);
        var launch = new Launch("store", new SessionName("s"), 1, incarnation, home, List.of(ECHO));
        var host = Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin");
        var place = new AgentPlace(agent, launch, host, Recorded.CODEC);
        return new ClaudeAttachment(
                agent, launch, place, source, new StartGate(), new SystemBackground(), Recorded.CODEC, reports);
    }

    private Life known(AgentProfile profile, List<TurnMark> marks, DeliveryId... open) {
        var reports = new Reports();
        var attachment = attach(profile, reports);
        attachment.know(new KnowledgeQuestion(Optional.of(session), marks, List.of(open)));
        return new Life(attachment, reports, reports.next(0, Report.Known.class).knowledge());
    }

    private Life live(AgentProfile profile, List<TurnMark> marks, DeliveryId... open) {
        var life = known(profile, marks, open);
        boolean resume = life.known.record() == RecordState.PRESENT;
        life.attachment.start(new StartPlan(session, resume, Optional.empty()));
        life.reports.next(0, Report.Verified.class);
        return life;
    }

    private Life live() {
        return live(AgentProfile.v197(), List.of());
    }

    private String model() {
        return Conversation.allIn(home.resolve("model.log")).getLast().toString();
    }

    private static void awaitDead(long pid) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() ->
                        ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }

    // ---- turns

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-03")
    @Tag("HS-05")
    void turns_overAnEviction_areRemembered(Version version) {
        var first = live(version.profile(), List.of());
        var answer = first.turn("[[say hello]] ONE");
        assertThat(answer.text()).isEqualTo("hello");
        assertThat(answer.usage().costMicros()).isPresent();
        first.stop(StopMode.IDLE);
        var told = first.reports.of(Report.Landed.class).getFirst().id();
        var second = live(version.profile(), List.of(new TurnMark(1, List.of(told.toString()), answer.answerId())));
        assertThat(second.known.coversTurn()).isEqualTo(1);
        assertThat(second.turn("[[say again]] TWO").usage().costMicros())
                .isEqualTo(answer.usage().costMicros());
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TL-02")
    @Tag("TL-09")
    void calls_ofOneTurn_areAnsweredInTheOtherOrder(Version version) {
        var life = live(version.profile(), List.of());
        life.tell("[[tool mcp__host__echo {\"n\":1}]] [[tool+ mcp__host__echo {\"n\":2}]] go");
        var first = life.reports.next(
                0, Report.CallRequested.class, call -> call.input().contains("1"));
        Awaitility.await()
                .until(() -> life.reports.of(Report.CallRequested.class).size() == 2
                        || !life.reports.of(Report.Result.class).isEmpty()
                        || answered(life, first));
        life.reports
                .of(Report.CallRequested.class)
                .reversed()
                .forEach(call -> life.attachment.answer(call.callId(), ToolAnswer.text("answer to " + call.input())));
        life.reports.next(0, Report.CallRequested.class, call -> call.input().contains("2"));
        life.reports
                .of(Report.CallRequested.class)
                .forEach(call -> life.attachment.answer(call.callId(), ToolAnswer.text("answer to " + call.input())));
        assertThat(life.reports.next(0, Report.Result.class).result().ending()).isEqualTo(Ending.ANSWERED);
        assertThat(model()).contains("answer to {\"n\":1}").contains("answer to {\"n\":2}");
    }

    /** Calls that come one after another need the first answer before the second is asked. */
    private static boolean answered(Life life, Report.CallRequested call) {
        life.attachment.answer(call.callId(), ToolAnswer.text("answer to " + call.input()));
        return true;
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-02")
    void turn_interrupted_isInterruptedAndTheNextOneRuns(Version version) {
        var life = live(version.profile(), List.of());
        life.tell("[[sleep 20000]] slow");
        life.reports.next(0, Report.Busy.class);
        life.attachment.interrupt(1);
        life.reports.next(0, Report.InterruptAnswered.class);
        assertThat(life.reports.next(0, Report.Result.class).result().ending()).isEqualTo(Ending.INTERRUPTED);
        life.reports.next(0, Report.Idle.class);
        assertThat(life.turn("[[say fine]]").text()).isEqualTo("fine");
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("HS-15")
    void words_thatLookLikeCommands_reachTheModel(Version version) {
        var life = live(version.profile(), List.of());
        for (String words : List.of("/clear", "/cost", "/nosuch", "@secret.txt", "!cmd", "\uFEFFbom")) {
            assertThat(life.turn(words).ending()).isEqualTo(Ending.ANSWERED);
            assertThat(model()).contains(words);
        }
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("TN-08")
    void line_knownFromAnEarlierLife_endsWithoutAResult(Version version) {
        var first = live(version.profile(), List.of());
        var id = first.tell("[[say hello]]");
        first.reports.next(
                0,
                Report.Idle.class,
                idle -> !first.reports.of(Report.Result.class).isEmpty());
        first.stop(StopMode.IDLE);
        var second = live(version.profile(), List.of());
        second.tell(id, "[[say hello]]");
        second.reports.next(0, Report.Idle.class);
        assertThat(second.reports.of(Report.Noticed.class)).contains(new Report.Noticed("deduplicated", id.toString()));
        assertThat(second.reports.of(Report.Result.class)).isEmpty();
    }

    @Test
    @Tag("TN-03")
    void result_ofATurnTheAgentStarted_isNotOurs() {
        var life = live(AgentProfile.v332(), List.of());
        assertThat(life.turn("[[agent-turn]] [[say mine]]").text()).isEqualTo("mine");
    }

    // ---- the start

    @Test
    @Tag("TL-01")
    void tool_hidden_isAMismatchAndTheProcessEnds() {
        var odd = AgentProfile.v197();
        var life = known(
                new AgentProfile(
                        odd.version(),
                        odd.quirks(),
                        odd.recordDelay(),
                        odd.pickUpDelay(),
                        List.of("Bash"),
                        List.of("mcp__host__echo")),
                List.of());
        life.attachment.start(new StartPlan(session, false, Optional.empty()));
        assertThat(life.reports.next(0, Report.Mismatch.class))
                .isEqualTo(new Report.Mismatch(List.of("mcp__host__echo"), List.of("Bash")));
        assertThat(life.end().fatal()).isEqualTo("tools_mismatch");
        awaitDead(life.pid());
        assertThat(home.resolve("model.log")).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("HS-06")
    void resume_ofNothing_createsTheSession(Version version) {
        var life = known(version.profile(), List.of());
        life.attachment.start(new StartPlan(session, true, Optional.empty()));
        assertThat(life.reports.next(0, Report.Verified.class).nativeSession()).isEqualTo(session);
        assertThat(life.reports.of(Report.Started.class)).hasSize(2);
        assertThat(life.turn("[[say fine]]").text()).isEqualTo("fine");
    }

    // ---- bad output

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[[garbage]]",
                "[[bad-utf8]]",
                "[[unknown-frame]]",
                "[[line 3000000]]",
                "[[trickle 字😀]]",
                "[[flood stderr 3000000]]",
                "[[stderr oops]]"
            })
    @Tag("HS-10")
    @Tag("HS-11")
    void output_odd_doesNotDisturbTheTurn(String directive) {
        var life = live();
        assertThat(life.turn(directive + " [[say fine]]").ending()).isEqualTo(Ending.ANSWERED);
        assertThat(life.turn("[[say still here]]").text()).isEqualTo("still here");
    }

    // ---- deaths

    @ParameterizedTest
    @ValueSource(strings = {"init", "before-landing", "landing", "before-result", "idle"})
    @Tag("HS-13")
    @Tag("TN-08")
    void death_anywhere_endsAndTheRecordTells(String where) {
        var life = live();
        var one = life.turn("[[say one]] ONE");
        var mark = new TurnMark(
                1, List.of(life.reports.of(Report.Landed.class).getFirst().id().toString()), one.answerId());
        Awaitility.await()
                .until(() -> known(AgentProfile.v197(), List.of(mark)).known.coversTurn() == 1 || incarnation > 50);
        // The look above ended the process: it belongs to an older incarnation (HS-21).
        assertThat(life.end().fatal()).isEmpty();
        var second = live(AgentProfile.v197(), List.of(mark));
        var id = second.tell("[[crash at " + where + "]] [[say two]] TWO");
        second.end();
        awaitDead(second.pid());
        var third = live(AgentProfile.v197(), List.of(mark), id);
        assertThat(third.known.coversTurn()).isEqualTo(1);
        if (third.known.present().isEmpty()) {
            third.tell(id, "[[say two]] TWO");
        } else if (third.known.tail() instanceof Tail.Open) {
            third.tell("go on");
        }
        if (!(third.known.tail() instanceof Tail.Answered)) {
            third.reports.next(0, Report.Result.class);
        }
        assertThat(third.turn("[[say three]]").text()).isEqualTo("three");
        assertThat(model()).containsOnlyOnce("ONE").containsOnlyOnce("TWO");
    }

    @Test
    @Tag("HS-07")
    @Tag("HS-22")
    void stop_ofAnAgentThatIgnoresTerm_killsItWithinTheLadder() {
        var life = live();
        life.turn("[[ignore-term]] [[ignore-eof]] [[say deaf]]");
        life.stop(StopMode.BUSY);
        awaitDead(life.pid());
        var steps = life.reports.of(Report.Noticed.class).stream()
                .map(Report.Noticed::what)
                .toList();
        assertThat(steps).contains("stop_TERMINATED", "stop_KILLED");
        assertThat(steps.indexOf("stop_TERMINATED")).isLessThan(steps.indexOf("stop_KILLED"));
    }

    @Test
    @Tag("HS-21")
    void attach_whileAnOlderProcessLives_seesItDeadFirst() {
        var older = live();
        assertThat(ProcessHandle.of(older.pid()).filter(ProcessHandle::isAlive)).isPresent();
        known(AgentProfile.v197(), List.of());
        assertThat(ProcessHandle.of(older.pid()).filter(ProcessHandle::isAlive)).isEmpty();
        older.end();
    }

    @Test
    @Tag("HS-08")
    void stop_withGrandchildren_leavesNone() {
        var life = live();
        life.turn("[[grandchild 600]] [[escape 600]] [[say fine]]");
        var family = ProcessHandle.of(life.pid()).orElseThrow().descendants().toList();
        assertThat(family).isNotEmpty();
        life.stop(StopMode.IDLE);
        family.forEach(member -> awaitDead(member.pid()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[[close-stdout]]", "[[no-result-exit 0]]", "[[exit 3]]", "[[half]] [[crash]]"})
    @Tag("HS-13")
    void agent_thatGoesWithoutAResult_isOver(String directive) {
        var life = live();
        life.tell(directive);
        life.end();
        awaitDead(life.pid());
        assertThat(life.reports.of(Report.Result.class)).isEmpty();
    }

    // ---- silence

    @Test
    @Tag("TN-04")
    void agent_thatHangs_isTold() {
        deadlines = deadlines.firstOutput(Duration.ofMillis(1_500)).silence(Duration.ofMillis(1_500));
        var life = live();
        life.tell("[[hang]]");
        assertThat(life.reports.next(0, Report.Breached.class).what()).isIn("first_output", "silence");
        life.stop(StopMode.BUSY);
    }

    @Test
    @Tag("TN-04")
    @Tag("HS-18")
    void interrupt_ignored_isBreached() {
        deadlines = deadlines.interrupt(Duration.ofSeconds(1));
        var life = live();
        life.turn("[[ignore-interrupt]] [[say yes]]");
        int mark = life.reports.mark();
        life.tell("[[sleep 30000]]");
        life.reports.next(mark, Report.Busy.class);
        life.attachment.interrupt(1);
        assertThat(life.reports.next(0, Report.Breached.class).what()).isEqualTo("interrupt");
        life.stop(StopMode.BUSY);
    }

    @Test
    void manySessions_atOnce_allAnswer() {
        var lives = new ArrayList<Life>();
        for (int i = 0; i < 8; i++) {
            var reports = new Reports();
            var launch = new Launch("store", new SessionName("s" + i), 1, 1, home, List.of(ECHO));
            var agent = ClaudeCode.agent()
                    .binary(ScriptedAgent.worst().writeExecutable(home.resolve("claude")))
                    .inference("http://127.0.0.1:9", "sk-fake");
            var place = new AgentPlace(agent, launch, Map.of("HOME", home.toString(), "PATH", "/bin"), Recorded.CODEC);
            var attachment = new ClaudeAttachment(
                    agent, launch, place, source, new StartGate(), new SystemBackground(), Recorded.CODEC, reports);
            attachment.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
            lives.add(new Life(attachment, reports, Knowledge.nothing()));
        }
        for (Life life : lives) {
            life.reports.next(0, Report.Known.class);
            life.attachment.start(new StartPlan(UUID.randomUUID().toString(), false, Optional.empty()));
        }
        lives.forEach(life -> life.reports.next(0, Report.Verified.class));
        lives.forEach(life -> assertThat(life.turn("[[say fine]]").text()).isEqualTo("fine"));
    }
}
