package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A short walk with the real programs that {@code dev/fetch-cli} fetched. The whole matrix is in module {@code it}. */
@Tag("slow")
class RealAgentIT {
    private static final ToolSpec ECHO = new ToolSpec(
            "echo", "says it again", "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}");

    @TempDir
    Path home;

    private ScriptedApi api;
    private final SpawnedAgents source = new SpawnedAgents();
    private final Background background = new SystemBackground();
    private final StreamJson codec = new StreamJson(64 << 20);
    private long incarnation;

    static Stream<String> binaries() {
        return Stream.of("2.1.197", "2.1.332")
                .map(version -> Path.of(System.getProperty("holdfast.root"), "target", "cli", version, "claude")
                        .toString());
    }

    @BeforeEach
    void needsThePrograms() {
        Assumptions.assumeTrue(
                binaries().allMatch(path -> Files.isExecutable(Path.of(path))),
                "npm is unreachable: dev/fetch-cli fetched no real program");
    }

    @BeforeEach
    void startApi() throws Exception {
        api = new ScriptedApi(request -> new ScriptedApi.Turn.Say("fine"));
    }

    @AfterEach
    void close() {
        source.close();
        api.close();
    }

    private ClaudeCodeAgent agent(String binary) {
        return ClaudeCode.agent()
                .binary(Path.of(binary))
                .model("claude-sonnet-4-5")
                .systemPrompt("PROMPT-MARK")
                .inference(api.url(), "sk-fake");
    }

    private ClaudeAttachment attach(ClaudeCodeAgent agent, Reports reports) {
        incarnation++;
        var launch = new Launch("store", new SessionName("Smoke.1"), 1, incarnation, home, List.of(ECHO));
        var host = Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin");
        return new ClaudeAttachment(
                agent,
                launch,
                new AgentPlace(agent, launch, host, codec),
                source,
                new StartGate(),
                background,
                codec,
                reports);
    }

    private static Line line(DeliveryId id, String... texts) {
        return new Line(id, List.of(texts), "(said by a test)", false);
    }

    private static DeliveryId id() {
        return new DeliveryId(UUID.randomUUID());
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void walk_freshThenResumed_everythingIsAnswered(String binary) throws Exception {
        var native1 = UUID.randomUUID().toString();
        var reports = new Reports();
        var attachment = attach(agent(binary), reports);
        attachment.know(new KnowledgeQuestion(Optional.of(native1), List.of(), List.of()));
        assertThat(reports.next(0, Report.Known.class).knowledge().record()).isEqualTo(Knowledge.RecordState.MISSING);
        attachment.start(new StartPlan(native1, false, Optional.empty()));
        var verified = reports.next(0, Report.Verified.class);
        assertThat(verified.nativeSession()).isEqualTo(native1);
        assertThat(api.requests()).isEmpty();

        var m1 = id();
        attachment.tell(line(m1, "/clear @" + home + "/secret.txt"));
        reports.next(0, Report.Landed.class);
        var first = reports.next(0, Report.Result.class).result();
        reports.next(0, Report.Idle.class);
        assertThat(first.ending()).isEqualTo(TurnResult.Ending.ANSWERED);
        assertThat(first.text()).isEqualTo("fine");
        assertThat(first.usage().costMicros()).isPresent();
        assertThat(api.requests().getLast().path("system").toString()).contains("PROMPT-MARK");

        api.script(request -> ScriptedApi.lastWords(request).contains("tool_result")
                ? new ScriptedApi.Turn.Say("used")
                : new ScriptedApi.Turn.Use("mcp__host__echo", "{\"text\":\"hi\"}"));
        var m2 = id();
        int mark = reports.mark();
        attachment.tell(line(m2, "use it"));
        var call = reports.next(mark, Report.CallRequested.class);
        assertThat(call.tool()).isEqualTo("echo");
        assertThat(call.input()).isEqualTo("{\"text\":\"hi\"}");
        attachment.answer(call.callId(), ToolAnswer.text("ECHOED"));
        var second = reports.next(mark, Report.Result.class).result();
        reports.next(mark, Report.Idle.class);
        assertThat(api.lastConversation()).contains("ECHOED");

        api.script(request -> new ScriptedApi.Turn.Say("a long answer", new CountDownLatch(1)));
        var m3 = id();
        mark = reports.mark();
        attachment.tell(line(m3, "be slow"));
        reports.next(mark, Report.Text.class);
        attachment.interrupt(3);
        reports.next(mark, Report.InterruptAnswered.class);
        var third = reports.next(mark, Report.Result.class).result();
        reports.next(mark, Report.Idle.class);
        assertThat(third.ending()).isEqualTo(TurnResult.Ending.INTERRUPTED);

        attachment.stop(StopMode.IDLE);
        reports.next(0, Report.Ended.class);

        Files.writeString(home.resolve("secret.txt"), "TOPSECRET");
        var marks = List.of(
                new TurnMark(1, List.of(m1.toString()), first.answerId()),
                new TurnMark(2, List.of(m2.toString()), second.answerId()),
                new TurnMark(3, List.of(m3.toString()), third.answerId()));
        var again = new Reports();
        var resumed = attach(agent(binary), again);
        resumed.know(new KnowledgeQuestion(Optional.of(native1), marks, List.of(m3)));
        var known = again.next(0, Report.Known.class).knowledge();
        assertThat(known.record()).isEqualTo(Knowledge.RecordState.PRESENT);
        assertThat(known.coversTurn()).isEqualTo(3);
        assertThat(known.present()).containsExactly(m3);
        assertThat(known.tail()).isInstanceOf(Knowledge.Tail.Answered.class);
        var catchUp = new StartPlan.CatchUp(id(), "/clear\nWHAT-WAS-SAID @" + home + "/secret.txt");
        resumed.start(new StartPlan(native1, true, Optional.of(catchUp)));
        again.next(0, Report.Verified.class);
        api.script(request -> new ScriptedApi.Turn.Say("here"));
        resumed.tell(line(id(), "back?"));
        var fourth = again.next(0, Report.Result.class).result();
        again.next(0, Report.Idle.class);
        assertThat(fourth.usage().costMicros()).isEqualTo(first.usage().costMicros());
        assertThat(api.lastConversation())
                .contains("WHAT-WAS-SAID")
                .contains("use it")
                .doesNotContain("TOPSECRET");
        resumed.stop(StopMode.BUSY);
        again.next(0, Report.Ended.class);
    }

    private record Life(ClaudeAttachment attachment, Reports reports, Knowledge known) {
        void kill() {
            long pid = reports.of(Report.Started.class).getLast().pid();
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            reports.next(0, Report.Ended.class);
        }

        void stop() {
            attachment.stop(StopMode.IDLE);
            reports.next(0, Report.Ended.class);
        }

        TurnResult turn(DeliveryId id, String text) {
            int mark = reports.mark();
            attachment.tell(line(id, text));
            var result = reports.next(mark, Report.Result.class).result();
            reports.next(mark, Report.Idle.class);
            return result;
        }
    }

    private Life live(ClaudeCodeAgent agent, String session, List<TurnMark> marks, DeliveryId... open) {
        var reports = new Reports();
        var attachment = attach(agent, reports);
        attachment.know(new KnowledgeQuestion(Optional.of(session), marks, List.of(open)));
        var known = reports.next(0, Report.Known.class).knowledge();
        boolean resume = known.record() == Knowledge.RecordState.PRESENT;
        attachment.start(new StartPlan(session, resume, Optional.empty()));
        reports.next(0, Report.Verified.class);
        return new Life(attachment, reports, known);
    }

    private static int times(String text, String part) {
        return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void agent_killedInACall_tellsOfTheCallAndGoesOn(String binary) {
        var session = UUID.randomUUID().toString();
        var agent = agent(binary);
        var first = live(agent, session, List.of());
        var m1 = id();
        var mark1 =
                new TurnMark(1, List.of(m1.toString()), first.turn(m1, "ONE").answerId());
        api.script(request -> new ScriptedApi.Turn.Use("mcp__host__echo", "{}"));
        var m2 = id();
        first.attachment().tell(line(m2, "TWO"));
        var call = first.reports().next(0, Report.CallRequested.class);
        Awaitility.await().until(() -> recorded(call.callId()));
        first.kill();
        assertThat(first.reports().of(Report.CallWithdrawn.class)).hasSize(1);

        api.script(request -> new ScriptedApi.Turn.Say("on"));
        var second = live(agent, session, List.of(mark1), m2);
        assertThat(second.known().coversTurn()).isEqualTo(1);
        assertThat(second.known().present()).containsExactly(m2);
        assertThat(second.known().tail()).isEqualTo(new Knowledge.Tail.Open(List.of(call.callId()), List.of()));
        assertThat(second.turn(id(), "GO ON").ending()).isEqualTo(TurnResult.Ending.ANSWERED);
        for (String said : List.of("ONE", "TWO", "GO ON")) {
            assertThat(times(api.lastConversation(), said)).isEqualTo(1);
        }
        second.stop();
    }

    /** Whether an agent's record under this home holds the text. */
    private boolean recorded(String text) throws IOException {
        try (var files = Files.walk(home)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".jsonl")).toList()) {
                if (Files.readString(file).contains(text)) {
                    return true;
                }
            }
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void agent_killedAtFirstSightOfTheResult_saysWhatIsLeft(String binary) {
        var session = UUID.randomUUID().toString();
        var agent = agent(binary);
        var first = live(agent, session, List.of());
        var m1 = id();
        var mark1 =
                new TurnMark(1, List.of(m1.toString()), first.turn(m1, "ONE").answerId());
        Awaitility.await().pollDelay(java.time.Duration.ofMillis(300)).until(() -> true);
        var m2 = id();
        first.attachment().tell(line(m2, "TWO"));
        var result = first.reports()
                .next(
                        0,
                        Report.Result.class,
                        report -> report.result().text().equals("fine")
                                && first.reports().of(Report.Result.class).size() == 2);
        first.kill();
        var mark2 = new TurnMark(
                2,
                List.of(m2.toString()),
                first.reports().of(Report.Result.class).getLast().result().answerId());
        assertThat(result).isNotNull();
        var second = live(agent, session, List.of(mark1, mark2), m2);
        boolean there = second.known().present().contains(m2);
        assertThat(there || second.known().coversTurn() == 1).isTrue();
        second.turn(there ? id() : m2, there ? "THREE" : "TWO");
        assertThat(times(api.lastConversation(), "TWO")).isEqualTo(1);
        second.stop();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void interrupt_rightBehindItsLine_endsTheTurnOrIsBreached(String binary) {
        api.script(request -> new ScriptedApi.Turn.Say("a long answer", new CountDownLatch(1)));
        var life = live(agent(binary), UUID.randomUUID().toString(), List.of());
        life.attachment().tell(line(id(), "ONE"));
        life.attachment().interrupt(1);
        var end = life.reports().next(0, Report.class, r -> r instanceof Report.Idle || r instanceof Report.Breached);
        if (end instanceof Report.Idle) { // else the agent neither ran nor dropped it, and its owner ends the process
            var result = life.reports().next(0, Report.Result.class).result();
            assertThat(result.ending()).isEqualTo(TurnResult.Ending.INTERRUPTED);
            life.reports().next(0, Report.InterruptAnswered.class);
        }
        life.stop();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void steer_duringACall_landsInTheTurn(String binary) {
        api.script(request -> ScriptedApi.lastWords(request).contains("tool_result")
                ? new ScriptedApi.Turn.Say("both")
                : new ScriptedApi.Turn.Use("mcp__host__echo", "{}"));
        var session = UUID.randomUUID().toString();
        var agent = agent(binary);
        var life = live(agent, session, List.of());
        var m1 = id();
        var m2 = id();
        life.attachment().tell(line(m1, "ONE"));
        var call = life.reports().next(0, Report.CallRequested.class);
        life.attachment().tell(line(m2, "STEER"));
        Awaitility.await().pollDelay(java.time.Duration.ofMillis(200)).until(() -> true);
        life.attachment().answer(call.callId(), ToolAnswer.text("done"));
        life.reports().next(0, Report.Landed.class, landed -> landed.id().equals(m2));
        var result = life.reports().next(0, Report.Result.class).result();
        life.reports().next(0, Report.Idle.class);
        assertThat(result.text()).isEqualTo("both");
        life.stop();
        var again = live(agent, session, List.of(), m1, m2);
        assertThat(again.known().present()).containsExactly(m1, m2);
        assertThat(again.known().tail()).isInstanceOf(Knowledge.Tail.Answered.class);
        again.stop();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void tool_surplus_isAMismatchBeforeAWordReachesTheModel(String binary) {
        var reports = new Reports();
        var agent = agent(binary).builtinTools("Read", "NoSuchTool");
        var attachment = attach(agent, reports);
        attachment.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
        reports.next(0, Report.Known.class);
        attachment.start(new StartPlan(UUID.randomUUID().toString(), false, Optional.empty()));
        assertThat(reports.next(0, Report.Mismatch.class))
                .isEqualTo(new Report.Mismatch(List.of("NoSuchTool"), List.of()));
        assertThat(reports.next(0, Report.Ended.class).fatal()).isEqualTo("tools_mismatch");
        assertThat(api.requests()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void login_missing_isSaidBeforeAnythingIsSent(String binary) {
        var reports = new Reports();
        var agent = ClaudeCode.agent().binary(Path.of(binary)).configDirectory(home.resolve("empty"));
        var attachment = attach(agent, reports);
        attachment.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
        reports.next(0, Report.Known.class);
        attachment.start(new StartPlan(UUID.randomUUID().toString(), false, Optional.empty()));
        assertThat(reports.next(0, Report.Ended.class).fatal()).isEqualTo("not_logged_in");
    }
}
