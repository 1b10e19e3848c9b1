package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Beat;
import dev.holdfast.DeliveryId;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolSpec;
import dev.holdfast.TurnResult;
import dev.holdfast.claude.AgentProcess.CannotStart;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** The attachment against an agent whose words and silences are the test's own. */
class ClaudeAttachmentTest {
    private static final String NATIVE = "11111111-1111-4111-8111-111111111111";
    private static final ToolSpec ECHO = new ToolSpec("echo", "again", "{\"type\":\"object\"}");
    private static final ToolSpec SLOW = new ToolSpec("slow", "slowly", "{\"type\":\"object\"}");
    private static final DeliveryId M1 = DeliveryId.parse(id(1));

    @TempDir
    Path home;

    private final FakeAgents agents = new FakeAgents();
    private final ManualBackground background = new ManualBackground();
    private final Reports reports = new Reports();
    private ClaudeAttachment attachment;

    @BeforeEach
    void attach() {
        var agent = ClaudeCode.agent()
                .binary(Path.of("/bin/sh"))
                .systemPrompt("be brief")
                .inference("http://127.0.0.1:1", "sk-fake");
        attachment = attachment(agent);
    }

    private ClaudeAttachment attachment(ClaudeCodeAgent agent) {
        return attachment(agent, pid -> OptionalLong.empty());
    }

    private ClaudeAttachment attachment(ClaudeCodeAgent agent, MemoryGauge gauge) {
        var launch = new Launch("store", new SessionName("s"), 1, 1, home, List.of(ECHO, SLOW));
        var place = new AgentPlace(agent, launch, Map.of("HOME", home.toString()), Recorded.CODEC);
        return new ClaudeAttachment(
                agent, launch, place, agents, new StartGate(), background, Recorded.CODEC, reports, gauge);
    }

    private void know() {
        attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
        background.work();
    }

    private FakeAgents.Fake start(StartPlan plan) {
        know();
        attachment.start(plan);
        background.work();
        return agents.last();
    }

    private FakeAgents.Fake fresh() {
        return start(new StartPlan(NATIVE, false, Optional.empty()));
    }

    private FakeAgents.Fake ready() {
        var agent = fresh();
        agent.greets();
        agent.state("running");
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.replays(agent.lastUuid());
        agent.probeResult("0.5");
        agent.state("idle");
        assertThat(reports.of(Report.Verified.class)).hasSize(1);
        return agent;
    }

    private void tell(int n) {
        attachment.tell(new Line(DeliveryId.parse(id(n)), List.of("words"), "(host)", false));
    }

    private void works(FakeAgents.Fake agent) {
        agent.state("running");
        agent.init("mcp__host__echo", "mcp__host__slow");
    }

    @Test
    @Tag("HS-12")
    void tell_behindOtherSteps_countsWhatWasWrittenMeanwhile() {
        var agent = ready();
        String large = "x".repeat(10_000);
        attachment.ask(
                ControlChannel.request("mcp_status"),
                answer -> { // a step: the line is written after it
                    tell(1);
                    attachment.ask(ControlChannel.request("other").put("text", large), other -> {});
                });
        String asked = StreamJson.text(agent.written.getLast(), "request_id");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'" + asked
                + "','response':{}}}");
        assertThat(StreamJson.text(agent.written.getLast(), "type")).isEqualTo("user");
        assertThat(agent.unreadBefore).isGreaterThanOrEqualTo(large.length());
    }

    private <T extends Report> T only(Class<T> type) {
        assertThat(reports.of(type)).hasSize(1);
        return reports.of(type).getFirst();
    }

    private List<String> names() {
        return reports.all().stream()
                .filter(report -> !(report instanceof Report.Noticed || report instanceof Report.Doing))
                .map(report -> report.getClass().getSimpleName())
                .toList();
    }

    @Test
    @Tag("HS-18")
    @Tag("HS-12")
    void guard_ofAnAttachmentThatIsNotHeld_deniesWhenItFails() {
        attachment = attachment(ClaudeCode.agent()
                .binary(Path.of("/bin/sh"))
                .inference("http://127.0.0.1:1", "sk-fake")
                .hook(HookEvent.PRE_TOOL_USE, call -> {
                    throw new IllegalStateException("broken guard");
                }));
        var agent = ready();
        tell(1);
        works(agent);
        agent.says("{'type':'control_request','request_id':'h1','request':{'subtype':'hook_callback',"
                + "'callback_id':'hook-0','input':{'hook_event_name':'PreToolUse','tool_name':'mcp__host__echo'}}}");
        assertThat(agent.urgent.getLast()).doesNotContain("h1");
        background.work();
        assertThat(agent.urgent.getLast()).contains("h1").contains("\"permissionDecision\":\"deny\"");
        assertThat(reports.of(Report.Noticed.class))
                .last()
                .satisfies(noticed -> assertThat(noticed.what() + noticed.detail())
                        .contains("hook_failed")
                        .contains("broken guard")
                        .contains("denied"));
    }

    // ---- know and start

    @Test
    @Tag("HS-21")
    void know_olderProcessSurvives_endsWithoutReading() {
        agents.olderSurvive = Optional.of("pid 7 is alive");
        know();
        assertThat(only(Report.Ended.class).why()).isEqualTo("pid 7 is alive");
        assertThat(reports.of(Report.Known.class)).isEmpty();
    }

    @Test
    void know_callersThread_neverWaits() {
        attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
        assertThat(agents.reaped).isZero();
        background.work();
        assertThat(agents.reaped).isEqualTo(1);
        only(Report.Known.class);
    }

    @Test
    @Tag("HN-12")
    void start_programMissing_endsAsNotFound() {
        agents.refusal = new CannotStart("not_found", "install it");
        know();
        attachment.start(new StartPlan(NATIVE, false, Optional.empty()));
        background.work();
        assertThat(only(Report.Ended.class).fatal()).isEqualTo("not_found");
        assertThat(only(Report.Ended.class).why()).isEqualTo("install it");
    }

    @Test
    void start_withoutKnowing_isRefused() {
        assertThatThrownBy(() -> attachment.start(new StartPlan(NATIVE, false, Optional.empty())))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("NEW");
    }

    @Test
    @Tag("HS-09")
    void start_promptAndKey_areNotOnTheCommandLine() {
        var agent = fresh();
        assertThat(agent.command.words()).noneMatch(word -> word.contains("brief") || word.contains("sk-fake"));
        assertThat(agent.command.words().subList(1, agent.command.words().size()))
                .allMatch(word -> word.startsWith("-"));
        assertThat(agent.written.getFirst().path("request").path("systemPrompt").stringValue())
                .isEqualTo("be brief");
    }

    @Test
    @Tag("TL-01")
    void start_toolsRight_isVerifiedAfterTheProbeAndBeforeAnyMessage() {
        var agent = ready();
        assertThat(only(Report.Verified.class)).isEqualTo(new Report.Verified("9.9.9", "native"));
        assertThat(names()).containsExactly("Known", "Started", "Verified");
        var probe = agent.ofType("user");
        assertThat(probe).hasSize(1);
        assertThat(probe.getFirst().path("shouldQuery").booleanValue()).isFalse();
    }

    @Test
    @Tag("TL-01")
    void start_oneToolMissing_isAMismatchAndEnds() {
        var agent = fresh();
        agent.greets();
        agent.state("running");
        agent.init("mcp__host__echo");
        assertThat(only(Report.Mismatch.class)).isEqualTo(new Report.Mismatch(List.of("mcp__host__slow"), List.of()));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        agent.answers("a", "never to be seen");
        agent.result("never to be seen", "1");
        agent.exits("exit code 143", "");
        assertThat(only(Report.Ended.class).fatal()).isEqualTo("tools_mismatch");
        assertThat(names()).containsExactly("Known", "Started", "Mismatch", "Ended");
    }

    @Test
    @Tag("TL-01")
    void start_oneToolTooMany_isAMismatch() {
        var agent = fresh();
        agent.greets();
        agent.init("mcp__host__echo", "mcp__host__slow", "Bash");
        assertThat(only(Report.Mismatch.class).surplus()).containsExactly("Bash");
    }

    @Test
    @Tag("HS-17")
    void start_skillPluginOrServerOfAUser_isAMismatch() {
        var agent = fresh();
        agent.greets();
        agent.says("{'type':'system','subtype':'init','tools':['mcp__host__echo','mcp__host__slow'],'mcp_servers':"
                + "[{'name':'host'},{'name':'evil'}],'skills':['mine'],'plugins':[{'name':'p','path':'/x'},"
                + "{'name':'q','path':'builtin'}]}");
        assertThat(only(Report.Mismatch.class).surplus()).containsExactly("server evil", "plugin p", "skill mine");
    }

    @Test
    @Tag("TL-01")
    void laterInit_withOtherTools_endsTheAgent() {
        var agent = ready();
        tell(1);
        agent.state("running");
        agent.init("mcp__host__echo", "mcp__host__slow", "Bash");
        agent.answers("a", "never to be seen");
        agent.says("{'type':'stream_event','parent_tool_use_id':null,'event':{'type':'content_block_delta','delta':"
                + "{'type':'text_delta','text':'never'}}}");
        assertThat(only(Report.Mismatch.class).surplus()).containsExactly("Bash");
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        assertThat(reports.of(Report.Text.class)).isEmpty();
    }

    @Test
    @Tag("TN-16")
    void start_withCatchUp_tellsItInTheProbeUnderItsOwnId() {
        var catchUp = new StartPlan.CatchUp(DeliveryId.parse(id(5)), "what was said");
        var agent = start(new StartPlan(NATIVE, true, Optional.of(catchUp)));
        agent.greets();
        assertThat(agent.command.words()).contains("--resume=" + NATIVE);
        assertThat(agent.lastUuid()).isEqualTo(id(5));
        var content = agent.written.getLast().path("message").path("content");
        assertThat(StreamJson.text(content.get(0), "text")).isEqualTo("what was said");
        assertThat(content.size()).isEqualTo(2);
    }

    @Test
    @Tag("TL-01")
    void start_catchUpKnownFromBefore_checksTheToolsWithAnotherLine() {
        var catchUp = new StartPlan.CatchUp(DeliveryId.parse(id(5)), "what was said");
        var agent = start(new StartPlan(NATIVE, true, Optional.of(catchUp)));
        agent.greets();
        agent.replays(id(5));
        agent.state("idle");
        assertThat(reports.of(Report.Verified.class)).isEmpty();
        assertThat(agent.lastUuid()).isNotEqualTo(id(5));
        assertThat(agent.written.getLast().toString()).doesNotContain("what was said");
        agent.state("running");
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.probeResult("0");
        agent.state("idle");
        only(Report.Verified.class);
    }

    @Test
    void start_agentNeverSaysItsState_isVerifiedAtTheResult() {
        var agent = fresh();
        agent.greets();
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.probeResult("0");
        only(Report.Verified.class);
    }

    @Test
    void start_notLoggedIn_endsAsSuch() {
        var agent = fresh();
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-1','response':"
                + "{'account':{'tokenSource':'none','apiProvider':'firstParty'}}}}");
        agent.exits("exit code 143", "");
        assertThat(only(Report.Ended.class).fatal()).isEqualTo("not_logged_in");
    }

    @Test
    void start_unknownFlag_endsAsWrongVersion() {
        fresh().exits("exit code 1", "error: unknown option '--strict-mcp-config'\n");
        assertThat(only(Report.Ended.class).fatal()).isEqualTo("wrong_version");
        assertThat(only(Report.Ended.class).stderrTail()).contains("unknown option");
    }

    @Test
    void start_agentRunsATurnForTheProbe_endsAsWrongVersion() {
        var agent = fresh();
        agent.greets();
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.result("I answered", "0.1");
        agent.exits("exit code 143", "");
        assertThat(only(Report.Ended.class).fatal()).isEqualTo("wrong_version");
        assertThat(reports.of(Report.Result.class)).isEmpty();
    }

    @Test
    @Tag("TN-04")
    @DisplayName("happier#316: a start that hangs is ended, and its stage is told")
    void start_hangsAtTheGreeting_isBreachedAndEnded() {
        var agent = fresh();
        background.advance(Duration.ofSeconds(59));
        assertThat(agent.stopped).isNull();
        background.advance(Duration.ofSeconds(2));
        assertThat(only(Report.Breached.class).what()).isEqualTo("start: greeting");
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        agent.exits("exit code 143", "tail");
        assertThat(only(Report.Ended.class).why()).contains("greeting");
        assertThat(only(Report.Ended.class).fatal()).isEmpty();
    }

    // ---- refused starts

    @Test
    @Tag("HS-06")
    void resume_refusedAndNothingWasRemembered_createsTheSession() {
        start(new StartPlan(NATIVE, true, Optional.empty()))
                .exits("exit code 1", "No conversation found with session ID");
        background.work();
        assertThat(agents.started).hasSize(2);
        assertThat(agents.last().command.words()).contains("--session-id=" + NATIVE);
        assertThat(reports.of(Report.Ended.class)).isEmpty();
    }

    @Test
    @Tag("HS-06")
    @DisplayName("gascity#5396: an id that is in use is given up once, without a loop")
    void create_refusedAsInUse_takesANewIdOnce() {
        fresh().exits("exit code 1", "Error: Session ID " + NATIVE + " is already in use.");
        background.work();
        assertThat(agents.started).hasSize(2);
        assertThat(agents.last().command.words()).noneMatch(word -> word.contains(NATIVE));
        assertThat(agents.last().command.words()).anyMatch(word -> word.startsWith("--session-id="));
    }

    @Test
    @Tag("HS-06")
    void start_refusedAgainAndAgain_ends() {
        start(new StartPlan(NATIVE, true, Optional.empty()))
                .exits("exit code 1", "No conversation found with session ID");
        for (int i = 0; i < 10; i++) {
            background.work();
            if (!reports.of(Report.Ended.class).isEmpty()) {
                break;
            }
            agents.last().exits("exit code 1", "Session ID is already in use.");
        }
        only(Report.Ended.class);
        assertThat(agents.started.size()).isLessThanOrEqualTo(3);
    }

    // ---- a turn

    @Test
    @Tag("TN-03")
    @Tag("TN-06")
    void turn_toldAndAnswered_isReportedInOrder() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says("{'type':'stream_event','parent_tool_use_id':null,'event':{'type':'content_block_delta','delta':"
                + "{'type':'text_delta','text':'hel'}}}");
        agent.replays(id(1));
        agent.answers("a1", "hello");
        agent.result("hello", "0.75");
        agent.state("idle");
        assertThat(names()).containsExactly("Known", "Started", "Verified", "Busy", "Landed", "Text", "Result", "Idle");
        assertThat(reports.of(Report.Doing.class))
                .extracting(Report.Doing::beat)
                .containsExactly(Beat.UNDERSTANDING, Beat.ASSEMBLING, Beat.FINISHING);
        assertThat(only(Report.Landed.class).id()).isEqualTo(M1);
        var result = only(Report.Result.class).result();
        assertThat(result.ending()).isEqualTo(TurnResult.Ending.ANSWERED);
        assertThat(result.text()).isEqualTo("hello");
        assertThat(result.answerId()).isEqualTo("a1");
        assertThat(result.requestId()).isEqualTo("r");
        assertThat(result.usage().costMicros()).hasValue(250_000);
        assertThat(result.usage().inputTokens()).isEqualTo(3);
    }

    /** Ahead of the rest, so that what follows from it is decided before another turn begins. */
    @Test
    @Tag("HS-14")
    void memory_isToldAheadOfARest_andEveryTenSecondsAtMost() {
        var asked = new ArrayList<Long>();
        attachment = attachment(
                ClaudeCode.agent().binary(Path.of("/bin/sh")).inference("http://127.0.0.1:1", "sk-fake"), pid -> {
                    asked.add(pid);
                    return OptionalLong.of(4_711);
                });
        var agent = ready();
        for (int n = 1; n <= 3; n++) {
            tell(n);
            works(agent);
            agent.state("idle");
            background.advance(Duration.ofSeconds(6));
        }
        assertThat(asked).hasSize(2).containsOnly(only(Report.Started.class).pid());
        assertThat(reports.of(Report.Memory.class)).containsOnly(new Report.Memory(4_711));
        assertThat(names())
                .containsSubsequence("Memory", "Idle", "Busy", "Landed", "Idle", "Busy", "Landed", "Memory", "Idle")
                .filteredOn("Memory"::equals)
                .hasSize(2);
    }

    @Test
    @Tag("TN-14")
    void turn_ofTheOnlyLineOfARestingAgent_showsItsLanding() {
        var agent = ready();
        tell(1);
        agent.state("running");
        assertThat(reports.of(Report.Landed.class)).isEmpty();
        agent.init("mcp__host__echo", "mcp__host__slow");
        assertThat(only(Report.Landed.class).id()).isEqualTo(M1);
        agent.replays(id(1));
        only(Report.Landed.class);
    }

    @Test
    @Tag("TN-14")
    @Tag("TN-15")
    void turn_withTwoLinesTold_showsNoLandingByItself() {
        var agent = ready();
        tell(1);
        tell(2);
        works(agent);
        assertThat(reports.of(Report.Landed.class)).isEmpty();
        agent.replays(id(2));
        assertThat(only(Report.Landed.class).id().toString()).isEqualTo(id(2));
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.claude.Recorded#versions")
    @Tag("TN-02")
    @Tag("TN-06")
    void turns_asTheRealVersionsWroteThem_areReadAlike(String version) {
        var agent = fresh();
        boolean toolAnswered = false;
        var waiting = new java.util.ArrayDeque<>(List.of(1, 1, 3, 2));
        for (String line : Recorded.lines("frames", "turns", version)) {
            boolean idle = line.contains("\"state\":\"idle\"");
            agent.listener.line(line);
            agent.listener.caughtUp();
            if (idle && !waiting.isEmpty()) {
                tell(waiting.poll());
                if (waiting.size() == 1) {
                    attachment.interrupt(3);
                }
            }
            if (!toolAnswered && !reports.of(Report.CallRequested.class).isEmpty()) {
                toolAnswered = true;
                attachment.answer("toolu_1", ToolAnswer.text("x"));
            }
        }
        var results = reports.of(Report.Result.class).stream()
                .map(Report.Result::result)
                .toList();
        assertThat(results)
                .extracting(TurnResult::ending)
                .containsExactly(TurnResult.Ending.ANSWERED, TurnResult.Ending.INTERRUPTED, TurnResult.Ending.FAILED);
        assertThat(results.get(0).text()).isEqualTo("answer 2");
        assertThat(results.get(0).usage().costMicros()).hasValue(210);
        assertThat(results.get(2).text()).isEmpty();
        assertThat(results.get(2).reason()).contains("400");
        assertThat(reports.of(Report.Landed.class)).hasSize(4);
        assertThat(reports.of(Report.Idle.class)).hasSize(4);
        assertThat(reports.of(Report.InterruptAnswered.class)).hasSize(1);
        assertThat(reports.of(Report.Noticed.class))
                .filteredOn(notice -> notice.what().equals("deduplicated"))
                .containsExactly(new Report.Noticed("deduplicated", id(1)));
        assertThat(reports.of(Report.CallRequested.class))
                .containsExactly(new Report.CallRequested("toolu_1", "echo", "{\"text\":\"x\"}"));
    }

    @Test
    @Tag("TN-08")
    void turn_lineKnownFromBefore_endsInIdleWithoutAResult() {
        var agent = ready();
        tell(1);
        agent.replays(id(1));
        agent.state("idle");
        assertThat(reports.all())
                .endsWith(new Report.Landed(M1), new Report.Noticed("deduplicated", id(1)), new Report.Idle());
        assertThat(reports.of(Report.Result.class)).isEmpty();
    }

    @Test
    @Tag("TN-02")
    void result_cutShortByANewerMessage_isInterruptedAlthoughNoError() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says(
                "{'type':'result','subtype':'success','is_error':false,'num_turns':1,'result':'half','terminal_reason':"
                        + "'aborted_streaming'}");
        assertThat(only(Report.Result.class).result().ending()).isEqualTo(TurnResult.Ending.INTERRUPTED);
    }

    @Test
    @Tag("TN-11")
    void result_stepsUsedUp_isTheTurnLimit() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says("{'type':'result','subtype':'error_max_turns','is_error':true,'num_turns':2,'terminal_reason':"
                + "'max_turns','errors':['Reached maximum number of turns (1)']}");
        assertThat(only(Report.Result.class).result().ending()).isEqualTo(TurnResult.Ending.TURN_LIMIT);
    }

    @Test
    @Tag("HS-13")
    void result_notAuthenticated_isFatal() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says("{'type':'assistant','uuid':'a','error':'authentication_failed','message':{'content':[]}}");
        agent.says("{'type':'result','subtype':'success','is_error':true,'num_turns':1,'result':'Not logged in'}");
        var result = only(Report.Result.class).result();
        assertThat(result.fatal()).isTrue();
        assertThat(result.usage().costMicros()).isEmpty();
    }

    @Test
    @Tag("TN-06")
    void cost_counterMissingOnce_isAbsentAndNotCountedTwice() {
        var agent = ready();
        for (String cost : List.of("0.6", "null", "0.9", "1.0", "0.2")) {
            agent.result("x", cost);
        }
        assertThat(reports.of(Report.Result.class))
                .extracting(report -> report.result().usage().costMicros())
                .containsExactly(
                        java.util.OptionalLong.of(100_000),
                        java.util.OptionalLong.empty(),
                        java.util.OptionalLong.empty(),
                        java.util.OptionalLong.of(100_000),
                        java.util.OptionalLong.of(200_000));
    }

    @Test
    @Tag("TN-03")
    void result_ofTheAgentsOwnTurn_doesNotSettleALandedLine() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.replays(id(1));
        agent.says("{'type':'result','subtype':'success','is_error':false,'num_turns':1,'result':'by itself','origin':"
                + "{'kind':'task-notification'}}");
        assertThat(reports.of(Report.Result.class)).isEmpty();
        agent.result("mine", "1");
        assertThat(only(Report.Result.class).result().text()).isEqualTo("mine");
    }

    @Test
    void mute_agentWithoutStates_isIdleAfterItsResult() {
        var agent = fresh();
        agent.greets();
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.probeResult("0");
        tell(1);
        agent.init("mcp__host__echo", "mcp__host__slow");
        agent.replays(id(1));
        agent.result("x", "1");
        assertThat(names()).endsWith("Busy", "Landed", "Result", "Idle");
    }

    @Test
    @Tag("HS-10")
    @DisplayName("inkbox#11, PyMolAI#5: a turn with a line over the limit fails, and the session lives")
    void line_overTheLimit_failsItsTurnAndNotTheSession() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.replays(id(1));
        agent.listener.skipped(70_000_000, "OVER_LIMIT");
        agent.state("idle");
        assertThat(only(Report.Result.class).result().ending()).isEqualTo(TurnResult.Ending.FAILED);
        assertThat(names()).endsWith("Result", "Idle");
        tell(2);
        works(agent);
        agent.result("fine", "1");
        assertThat(reports.of(Report.Result.class).getLast().result().ending()).isEqualTo(TurnResult.Ending.ANSWERED);
    }

    @Test
    @Tag("HS-10")
    @DisplayName("py#347: words between the frames are counted and skipped")
    void lines_thatAreNoJson_areCountedAndSkipped() {
        var agent = ready();
        for (int i = 0; i < 100; i++) {
            agent.says("[debug] x");
        }
        agent.says("{'type':'brand_new'}");
        agent.says("{'type':'brand_new'}");
        assertThat(reports.of(Report.Noticed.class))
                .filteredOn(notice -> notice.what().equals("not_json"))
                .hasSize(7);
        assertThat(reports.of(Report.Noticed.class))
                .filteredOn(notice -> notice.what().equals("unknown_type"))
                .hasSize(1);
    }

    // ---- interrupts

    @Test
    @Tag("HS-18")
    void interrupt_answered_isReportedOnce() {
        var agent = ready();
        tell(1);
        works(agent);
        attachment.interrupt(1);
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-2'}}");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-2'}}");
        only(Report.InterruptAnswered.class);
    }

    @Test
    @Tag("TN-04")
    @DisplayName("ts#425: an interrupt has a deadline of its own")
    void interrupt_notAnswered_isBreachedAfterTenSeconds() {
        var agent = ready();
        tell(1);
        works(agent);
        attachment.interrupt(1);
        background.advance(Duration.ofSeconds(9));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
        background.advance(Duration.ofSeconds(2));
        assertThat(only(Report.Breached.class).what()).isEqualTo("interrupt");
    }

    @Test
    @DisplayName("PortOS#5972: an interrupt that comes too early is asked again")
    void interrupt_beforeTheLineWasBegun_isAskedAgainWhenItBegins() {
        var agent = ready();
        tell(1);
        attachment.interrupt(1);
        agent.state("running");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-2','response':"
                + "{'still_queued':['" + id(1) + "']}}}");
        assertThat(reports.of(Report.InterruptAnswered.class)).isEmpty();
        agent.init("mcp__host__echo", "mcp__host__slow");
        assertThat(StreamJson.text(agent.written.getLast(), "request_id")).isEqualTo("holdfast-3");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-3','response':"
                + "{'still_queued':[]}}}");
        only(Report.InterruptAnswered.class);
    }

    @Test
    @Tag("TN-04")
    @Tag("P4")
    void interrupt_answeredForALineThatNeverBegins_isBreached() {
        var agent = ready();
        tell(1);
        attachment.interrupt(1);
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'holdfast-2'}}");
        agent.state("running");
        assertThat(reports.of(Report.InterruptAnswered.class)).isEmpty();
        background.advance(Duration.ofSeconds(11));
        assertThat(only(Report.Breached.class).what()).isEqualTo("interrupt");
    }

    // ---- tools

    private static String call(String request, int rpc, String use, String tool) {
        return "{'type':'control_request','request_id':'" + request
                + "','request':{'subtype':'mcp_message','server_name':"
                + "'host','message':{'jsonrpc':'2.0','id':" + rpc + ",'method':'tools/call','params':{'name':'" + tool
                + "','arguments':{'n':1},'_meta':{'claudecode/toolUseId':'" + use + "'}}}}}";
    }

    private static String answerTo(FakeAgents.Fake agent, String request) {
        var answers = agent.ofType("control_response").stream()
                .filter(line ->
                        StreamJson.text(line.path("response"), "request_id").equals(request))
                .toList();
        assertThat(answers).hasSize(1);
        return answers.getFirst().toString();
    }

    @Test
    @Tag("TL-09")
    void calls_answeredInAnyOrder_reachTheirCallers() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says(call("q1", 2, "toolu_1", "echo"));
        agent.says(call("q2", 3, "toolu_2", "slow"));
        agent.says(call("q3", 4, "toolu_3", "echo"));
        attachment.answer("toolu_3", ToolAnswer.text("three"));
        attachment.answer("toolu_1", ToolAnswer.error("one"));
        attachment.answer("toolu_2", ToolAnswer.text("two"));
        attachment.answer("toolu_2", ToolAnswer.text("again"));
        attachment.answer("nobody", ToolAnswer.text("?"));
        assertThat(answerTo(agent, "q1")).contains("\"id\":2").contains("one").contains("\"isError\":true");
        assertThat(answerTo(agent, "q2")).contains("\"id\":3").contains("two").doesNotContain("again");
        assertThat(answerTo(agent, "q3")).contains("\"id\":4").contains("three");
        assertThat(reports.of(Report.CallRequested.class))
                .extracting(Report.CallRequested::tool)
                .containsExactly("echo", "slow", "echo");
    }

    @Test
    @Tag("TL-10")
    void answer_withImageAndData_isWrittenAsTheToolProtocolHasIt() {
        var agent = ready();
        agent.says(call("q1", 2, "toolu_1", "echo"));
        agent.says(call("q2", 3, "toolu_2", "echo"));
        attachment.answer(
                "toolu_1",
                new ToolAnswer(
                        List.of(new ToolAnswer.Text("t"), new ToolAnswer.Image("image/png", "AAAA")),
                        Optional.of("{\"a\":1}"),
                        false));
        attachment.answer("toolu_2", ToolAnswer.json("[1]"));
        assertThat(answerTo(agent, "q1"))
                .contains("{\"content\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\","
                        + "\"mimeType\":\"image/png\",\"data\":\"AAAA\"}],\"structuredContent\":{\"a\":1}}");
        assertThat(answerTo(agent, "q2")).contains("\"text\":\"[1]\"").doesNotContain("structuredContent");
    }

    @Test
    @Tag("TL-10")
    void progress_isToldWhereItWasAskedForAndOneAtATime() {
        var agent = ready();
        agent.says(call("q1", 2, "toolu_1", "echo").replace("'_meta':{", "'_meta':{'progressToken':7,"));
        agent.says(call("q2", 3, "toolu_2", "echo"));
        attachment.progress(new ToolProgress("toolu_2", "echo", 1, OptionalDouble.empty(), "nobody asked"));
        attachment.progress(new ToolProgress("nobody", "echo", 1, OptionalDouble.empty(), "nobody waits"));
        assertThat(steps(agent)).isEmpty();
        attachment.progress(new ToolProgress("toolu_1", "echo", 1, OptionalDouble.of(4), "a quarter"));
        attachment.progress(new ToolProgress("toolu_1", "echo", 2, OptionalDouble.of(4), "while the first is open"));
        assertThat(steps(agent)).singleElement().satisfies(step -> {
            assertThat(step.path("request").path("server_name").asString()).isEqualTo("host");
            assertThat(step.path("request").path("message").toString())
                    .isEqualTo("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                            + "{\"progressToken\":7,\"progress\":1.0,\"total\":4.0,\"message\":\"a quarter\"}}");
        });
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'"
                + StreamJson.text(steps(agent).getFirst(), "request_id") + "'}}");
        attachment.progress(new ToolProgress("toolu_1", "echo", 3, OptionalDouble.of(4), "on"));
        assertThat(steps(agent)).hasSize(2);
        agent.says("{'type':'control_response','response':{'subtype':'error','error':'unsupported','request_id':'"
                + StreamJson.text(steps(agent).getLast(), "request_id") + "'}}");
        attachment.progress(new ToolProgress("toolu_1", "echo", 4, OptionalDouble.of(4), "to deaf ears"));
        assertThat(steps(agent)).hasSize(2);
    }

    private static List<JsonNode> steps(FakeAgents.Fake agent) {
        return agent.ofType("control_request").stream()
                .filter(line -> StreamJson.text(line.path("request"), "subtype").equals("mcp_message"))
                .toList();
    }

    @Test
    @Tag("HS-18")
    void call_requestedTwice_runsOnceAndEachRequestIsAnswered() {
        var agent = ready();
        agent.says(call("q1", 2, "toolu_1", "echo"));
        agent.says(call("q1", 2, "toolu_1", "echo"));
        agent.says(call("q2", 3, "toolu_1", "echo"));
        only(Report.CallRequested.class);
        attachment.answer("toolu_1", ToolAnswer.text("one"));
        agent.says(call("q3", 4, "toolu_1", "echo"));
        for (String request : List.of("q1", "q2", "q3")) {
            assertThat(answerTo(agent, request)).contains("one");
        }
        only(Report.CallRequested.class);
    }

    @Test
    @Tag("TL-06")
    @DisplayName("ts 0.3.208, ts 0.3.160: nothing is sent for a request that was cancelled")
    void call_cancelledByTheAgent_isWithdrawnAndItsLateAnswerDropped() {
        var agent = ready();
        agent.says(call("q1", 2, "toolu_1", "echo"));
        agent.says(
                "{'type':'control_request','request_id':'q2','request':{'subtype':'mcp_message','server_name':'host',"
                        + "'message':{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}}}");
        assertThat(only(Report.CallWithdrawn.class).callId()).isEqualTo("toolu_1");
        answerTo(agent, "q2");
        attachment.answer("toolu_1", ToolAnswer.text("late"));
        assertThat(answerTo(agent, "q1")).doesNotContain("late");
    }

    @Test
    @Tag("HS-18")
    void requests_ofEveryOtherKind_areAnsweredAtOnce() {
        var agent = ready();
        agent.says("{'type':'control_request','request_id':'a','request':{'subtype':'elicitation'}}");
        agent.says("{'type':'control_request','request_id':'b','request':{'subtype':'hook_callback'}}");
        agent.says("{'type':'control_request','request_id':'c','request':{}}");
        agent.says(
                "{'type':'control_request','request_id':'d','request':{'subtype':'mcp_message','server_name':'other',"
                        + "'message':{'id':1,'method':'tools/list'}}}");
        agent.says("{'type':'control_request','request_id':'e','request':{'subtype':'mcp_message','server_name':'host',"
                + "'message':{'id':1,'method':'resources/list'}}}");
        agent.says("{'type':'control_request','request_id':'f','request':{'subtype':'mcp_message','server_name':'host',"
                + "'message':{'method':'notifications/initialized'}}}");
        agent.says(call("g", 9, "toolu_9", "nosuch"));
        for (String request : List.of("a", "b", "c", "d")) {
            assertThat(answerTo(agent, request)).contains("\"error\"");
        }
        assertThat(answerTo(agent, "e")).contains("-32601");
        assertThat(answerTo(agent, "f")).contains("\"result\":{}");
        assertThat(answerTo(agent, "g")).contains("\"isError\":true");
        assertThat(reports.of(Report.CallRequested.class)).isEmpty();
    }

    @Test
    @DisplayName("cc#24607, ts 0.3.207: a permission is answered without any hook, and an allow carries the input")
    void permission_ofAHostTool_isGivenWithItsInput_andOfAnyOtherDenied() {
        var agent = ready();
        agent.says("{'type':'control_request','request_id':'a','request':{'subtype':'can_use_tool','tool_name':"
                + "'mcp__host__echo','input':{'x':1}}}");
        agent.says("{'type':'control_request','request_id':'b','request':{'subtype':'can_use_tool','tool_name':'Bash',"
                + "'input':{}}}");
        assertThat(answerTo(agent, "a")).contains("\"behavior\":\"allow\"").contains("\"updatedInput\":{\"x\":1}");
        assertThat(answerTo(agent, "b")).contains("\"behavior\":\"deny\"").contains("Bash");
    }

    @Test
    @Tag("HS-12")
    void answers_toTheAgent_areWrittenAheadOfMessages() {
        var agent = ready();
        tell(1);
        agent.says(call("q1", 2, "toolu_1", "echo"));
        attachment.answer("toolu_1", ToolAnswer.text("x"));
        assertThat(agent.urgent).anyMatch(line -> line.contains("\"q1\""));
        assertThat(agent.urgent).noneMatch(line -> line.contains("\"user\""));
    }

    // ---- deadlines

    @Test
    @Tag("TN-04")
    void silence_beforeTheFirstOutput_isBreachedOnce() {
        var agent = ready();
        background.advance(Duration.ofHours(2));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
        tell(1);
        agent.state("running");
        background.advance(Duration.ofMinutes(3));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
        background.advance(Duration.ofHours(2));
        assertThat(only(Report.Breached.class).what()).isEqualTo("first_output");
    }

    @Test
    @Tag("TN-04")
    void silence_retriesAndRunningToolsAndOutput_areLife() {
        var agent = ready();
        tell(1);
        works(agent);
        for (int i = 0; i < 5; i++) {
            background.advance(Duration.ofMinutes(3));
            agent.says("{'type':'system','subtype':'api_retry','attempt':1,'max_retries':10,'error_status':529}");
        }
        agent.says("{'type':'assistant','uuid':'a','message':{'content':[{'type':'tool_use','id':'toolu_1'}]}}");
        background.advance(Duration.ofHours(1));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
        agent.says("{'type':'user','uuid':'u','message':{'content':[{'type':'tool_result','tool_use_id':'toolu_1'}]}}");
        background.advance(Duration.ofMinutes(3));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
        background.advance(Duration.ofMinutes(2));
        assertThat(only(Report.Breached.class).what()).isEqualTo("silence");
    }

    @Test
    @Tag("TN-04")
    void silence_afterTheTurn_isNone() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.replays(id(1));
        agent.result("x", "1");
        agent.state("idle");
        background.advance(Duration.ofHours(5));
        assertThat(reports.of(Report.Breached.class)).isEmpty();
    }

    // ---- the end

    @Test
    void stop_beforeTheStart_endsAtOnceAndStaysEnded() {
        know();
        attachment.stop(StopMode.IDLE);
        attachment.stop(StopMode.BUSY);
        only(Report.Ended.class);
        assertThat(agents.started).isEmpty();
    }

    @Test
    @Tag("HS-08")
    void stop_duringTheSpawn_leavesNoProcess() {
        agents.whileStarting = () -> attachment.stop(StopMode.IDLE);
        fresh();
        assertThat(reports.of(Report.Ended.class)).isEmpty();
        assertThat(agents.last().stopped).isEqualTo(StopMode.IDLE);
        agents.last().exits("exit code 0", "");
        only(Report.Ended.class);
    }

    @Test
    @Tag("HS-08")
    void stop_beforeTheSpawnBegan_startsNothing() {
        know();
        attachment.start(new StartPlan(NATIVE, false, Optional.empty()));
        attachment.stop(StopMode.IDLE);
        only(Report.Ended.class);
        background.work();
        assertThat(agents.started).isEmpty();
        only(Report.Ended.class);
    }

    @Test
    void start_configurationFileDamaged_isNamedAndNotFatal() {
        fresh().exits("exit code 1", "Configuration error in /x/.claude.json: JSON Parse error");
        assertThat(only(Report.Ended.class).why()).contains("damaged").contains("/x/.claude.json");
        assertThat(only(Report.Ended.class).fatal()).isEmpty();
    }

    @Test
    void stop_whileKnowing_endsWhenThatIsDone() {
        attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
        attachment.stop(StopMode.IDLE);
        assertThat(reports.all()).isEmpty();
        background.work();
        only(Report.Ended.class);
        assertThat(reports.of(Report.Known.class)).isEmpty();
    }

    @Test
    void stop_afterwards_nothingIsReportedAndNothingThrown() {
        var agent = ready();
        attachment.stop(StopMode.IDLE);
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
        tell(1);
        agent.exits("exit code 0", "bye");
        int reported = reports.mark();
        tell(2);
        attachment.interrupt(1);
        attachment.answer("x", ToolAnswer.text("x"));
        agent.result("late", "1");
        background.advance(Duration.ofHours(1));
        assertThat(reports.mark()).isEqualTo(reported);
        assertThat(only(Report.Ended.class)).isEqualTo(new Report.Ended("exit code 0", "", "bye"));
        assertThat(agent.ofType("user")).hasSize(1);
    }

    @Test
    @Tag("HS-11")
    @DisplayName("claude-code-telegram#94, aimee#503: the end carries what was said on stderr")
    void death_inMidTurn_withdrawsCallsAndEndsWithTheTail() {
        var agent = ready();
        tell(1);
        works(agent);
        agent.says(call("q1", 2, "toolu_1", "echo"));
        attachment.interrupt(1);
        agent.exits("ended by signal 9", "out of memory");
        only(Report.CallWithdrawn.class);
        assertThat(only(Report.Ended.class)).isEqualTo(new Report.Ended("ended by signal 9", "", "out of memory"));
        assertThat(reports.of(Report.InterruptAnswered.class)).isEmpty();
    }

    @Test
    void output_endsAndTheProcessLives_isStopped() {
        var agent = ready();
        agent.listener.endOfOutput();
        background.advance(Duration.ofSeconds(4));
        assertThat(agent.stopped).isNull();
        background.advance(Duration.ofSeconds(2));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
    }

    @Test
    void gone_withSurvivors_saysSo() {
        var agent = ready();
        agent.listener.gone(new AgentProcess.Exit("exit code 0", "", false));
        assertThat(only(Report.Ended.class).why()).contains("still alive");
    }

    @Test
    void everybodyAtOnce_endsExactlyOnceAndInOrder() throws Exception {
        for (int round = 0; round < 50; round++) {
            var seen = new Reports();
            var launch = new Launch("store", new SessionName("s"), 1, 1, home, List.of(ECHO, SLOW));
            var agent = ClaudeCode.agent().binary(Path.of("/bin/sh")).configDirectory(home);
            var place = new AgentPlace(agent, launch, Map.of("HOME", home.toString()), Recorded.CODEC);
            var mine = new FakeAgents();
            var hand = new ManualBackground();
            var busy = new ClaudeAttachment(agent, launch, place, mine, new StartGate(), hand, Recorded.CODEC, seen);
            busy.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
            hand.work();
            busy.start(new StartPlan(NATIVE, false, Optional.empty()));
            hand.work();
            var fake = mine.last();
            fake.greets();
            fake.init("mcp__host__echo", "mcp__host__slow");
            fake.probeResult("0");
            var line = new Line(M1, List.of("x"), "(host)", false);
            var threads = List.<Runnable>of(
                            () -> busy.tell(line),
                            () -> busy.interrupt(1),
                            () -> fake.says(call("q", 2, "toolu_1", "echo")),
                            () -> busy.answer("toolu_1", ToolAnswer.text("x")),
                            () -> fake.result("x", "1"),
                            () -> busy.stop(StopMode.BUSY),
                            () -> fake.exits("exit code 0", ""))
                    .stream()
                    .map(task -> Thread.ofPlatform().start(task))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(seen.of(Report.Ended.class)).hasSize(1);
            assertThat(seen.all().getLast()).isInstanceOf(Report.Ended.class);
        }
    }

    @Test
    void sink_thatCallsBack_isServed() {
        var agent = ClaudeCode.agent().binary(Path.of("/bin/sh")).configDirectory(home);
        var launch = new Launch("store", new SessionName("s"), 1, 1, home, List.of());
        var place = new AgentPlace(agent, launch, Map.of("HOME", home.toString()), Recorded.CODEC);
        var holder = new ClaudeAttachment[1];
        holder[0] = new ClaudeAttachment(
                agent, launch, place, agents, new StartGate(), background, Recorded.CODEC, report -> {
                    reports.report(report);
                    if (report instanceof Report.Known) {
                        holder[0].start(new StartPlan(NATIVE, false, Optional.empty()));
                    } else if (report instanceof Report.Started) {
                        holder[0].stop(StopMode.IDLE);
                    }
                });
        holder[0].know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
        background.work();
        assertThat(agents.last().stopped).isEqualTo(StopMode.IDLE);
    }
}
