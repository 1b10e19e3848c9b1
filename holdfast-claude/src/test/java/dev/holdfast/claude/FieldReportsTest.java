package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What users of other such software have reported, where the order of single lines and the time are what matters. The
 * references are in the display names; docs/track-record.md has the table of all of them.
 */
class FieldReportsTest {
    private static final String NATIVE = "11111111-1111-4111-8111-111111111111";
    private static final ToolSpec ECHO = new ToolSpec("echo", "again", "{\"type\":\"object\"}");

    @TempDir
    Path home;

    private final FakeAgents agents = new FakeAgents();
    private final ManualBackground background = new ManualBackground();
    private final List<Report> reports = new ArrayList<>();
    private ClaudeAttachment attachment;
    private FakeAgents.Fake agent;

    @BeforeEach
    void attach() {
        var builder = ClaudeCode.agent().binary(Path.of("/bin/sh")).inference("http://127.0.0.1:1", "sk-fake");
        var launch = new Launch("store", new SessionName("s"), 1, 1, home, List.of(ECHO));
        var place = new AgentPlace(builder, launch, Map.of("HOME", home.toString()), Recorded.CODEC);
        attachment = new ClaudeAttachment(
                builder, launch, place, agents, new StartGate(), background, Recorded.CODEC, reports::add);
    }

    private void spawn(boolean resume) {
        attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
        background.work();
        attachment.start(new StartPlan(NATIVE, resume, Optional.empty()));
        background.work();
        agent = agents.last();
    }

    private void ready() {
        spawn(false);
        agent.greets();
        agent.state("running");
        agent.init("mcp__host__echo");
        agent.replays(agent.lastUuid());
        agent.probeResult("0.5");
        agent.state("idle");
    }

    private void begin(int n) {
        attachment.tell(new Line(DeliveryId.parse(id(n)), List.of("words"), "(host)", false));
        agent.state("running");
        agent.init("mcp__host__echo");
        agent.replays(id(n));
    }

    private void mcp(String requestId, String message) {
        agent.says("{'type':'control_request','request_id':'" + requestId
                + "','request':{'subtype':'mcp_message','server_name':'host','message':" + message + "}}");
    }

    private void call(String requestId) {
        mcp(
                requestId,
                "{'id':7,'method':'tools/call','params':{'name':'echo','arguments':{},'_meta':"
                        + "{'claudecode/toolUseId':'" + requestId + "'}}}");
    }

    private <T extends Report> List<T> of(Class<T> type) {
        return reports.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private List<String> answered() {
        return agent.ofType("control_response").stream()
                .map(line -> StreamJson.text(line.path("response"), "request_id"))
                .toList();
    }

    @Test
    @Tag("TL-02")
    @DisplayName("ts#283, py#295: what the agent calls after a result is answered like everything else")
    void call_afterTheResult_isAnswered() {
        ready();
        begin(1);
        agent.result("one", "0.6");
        agent.state("idle");
        background.advance(Duration.ofSeconds(1));
        call("late");
        attachment.answer("late", ToolAnswer.text("here"));
        assertThat(of(Report.CallRequested.class)).hasSize(1);
        assertThat(answered()).contains("late");
        assertThat(agent.stopped).as("nothing was closed").isNull();
    }

    @Test
    @Tag("TL-02")
    @DisplayName("laurigates/claude-plugins#777: a handshake that comes behind the first message is answered")
    void handshake_behindTheFirstMessage_isAnswered() {
        ready();
        attachment.tell(new Line(DeliveryId.parse(id(1)), List.of("words"), "(host)", false));
        mcp("h1", "{'id':0,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}");
        mcp("h2", "{'id':1,'method':'tools/list'}");
        assertThat(answered()).contains("h1", "h2");
        assertThat(agent.written.getLast().toString()).contains("\"inputSchema\"");
    }

    @Test
    @Tag("TN-06")
    @DisplayName("claude-code-starter#8: ten thousand pieces of an answer cut nothing off")
    void pieces_tenThousand_areAllToldAndTheResultIsWhole() {
        ready();
        begin(1);
        var whole = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            agent.says("{'type':'stream_event','event':{'type':'content_block_delta','delta':{'type':'text_delta',"
                    + "'text':'piece " + i + " '}},'parent_tool_use_id':null}");
            whole.append("piece ").append(i).append(' ');
        }
        agent.result(whole.toString(), "0.6");
        assertThat(of(Report.Result.class).getFirst().result().text()).isEqualTo(whole.toString());
        assertThat(String.join(
                        "",
                        of(Report.Text.class).stream()
                                .map(Report.Text::fragment)
                                .toList()))
                .isEqualTo(whole.toString());
    }

    @Test
    @Tag("HS-12")
    @Tag("HS-18")
    @DisplayName("py#779: a request behind three hundred frames is answered, whoever reads them")
    void request_behindManyFrames_isAnsweredAtOnce() {
        ready();
        begin(1);
        IntStream.range(0, 300).forEach(i -> agent.answers("a" + i, "frame " + i));
        agent.says("{'type':'control_request','request_id':'hook','request':{'subtype':'hook_callback'}}");
        mcp("ping", "{'id':3,'method':'ping'}");
        assertThat(answered()).containsSubsequence("hook", "ping");
    }

    @Test
    @Tag("TN-04")
    @Tag("HS-18")
    @DisplayName(
            "codex#36926, comfyui-mcp#293: an interrupt that is never answered ends at its deadline, the second too")
    void interrupt_secondNeverAnswered_endsAtItsDeadline() {
        ready();
        begin(1);
        attachment.interrupt(1);
        var asked = agent.ofType("control_request").getLast();
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'"
                + StreamJson.text(asked, "request_id") + "','response':{}}}");
        agent.says("{'type':'result','subtype':'error_during_execution','is_error':true,'num_turns':1,"
                + "'terminal_reason':'aborted_streaming'}");
        agent.state("idle");
        begin(2);
        attachment.interrupt(2);
        assertThat(of(Report.Breached.class)).isEmpty();
        background.advance(Duration.ofSeconds(11));
        assertThat(of(Report.InterruptAnswered.class)).hasSize(1);
        assertThat(of(Report.Breached.class)).containsExactly(new Report.Breached("interrupt"));
    }

    @Test
    @Tag("TN-04")
    @DisplayName("codex#37047, codex#40306: a resume that is never answered is ended like any start")
    void resume_neverAnswered_isBreachedAndEnded() throws Exception {
        recordOf(NATIVE);
        spawn(true);
        assertThat(agent.command.words()).contains("--resume=" + NATIVE);
        background.advance(Duration.ofSeconds(61));
        assertThat(of(Report.Breached.class)).containsExactly(new Report.Breached("start: greeting"));
        assertThat(agent.stopped).isNotNull();
        agent.exits("signal 15", "");
        assertThat(of(Report.Ended.class).getFirst().fatal())
                .as("worth another try")
                .isEmpty();
    }

    @Test
    @Tag("TN-04")
    @DisplayName("cc#470, openclaw#85581, ts#118: a tool may take minutes, and its answer reaches the agent")
    void tool_takingMinutes_isNoSilenceAndIsAnswered() {
        ready();
        begin(1);
        agent.says("{'type':'assistant','uuid':'a','message':{'content':[{'type':'tool_use','id':'long'}]}}");
        call("long");
        background.advance(Duration.ofMinutes(9));
        assertThat(of(Report.Breached.class)).isEmpty();
        attachment.answer("long", ToolAnswer.text("done at last"));
        assertThat(agent.written.getLast().toString()).contains("done at last");
    }

    @Test
    @Tag("TN-06")
    @DisplayName("nerve#448, Irrlicht#122: the usage is the result's, the cost what the counter grew by")
    void usage_toldManyTimesInATurn_isTheResults() {
        ready();
        begin(1);
        agent.says("{'type':'assistant','uuid':'a','message':{'content':[],'usage':{'output_tokens':100}}}");
        agent.says("{'type':'assistant','uuid':'b','message':{'content':[],'usage':{'output_tokens':50}}}");
        agent.says("{'type':'result','subtype':'success','is_error':false,'num_turns':2,'result':'x',"
                + "'usage':{'input_tokens':20,'output_tokens':150},'total_cost_usd':0.75}");
        var usage = of(Report.Result.class).getFirst().result().usage();
        assertThat(usage.outputTokens()).isEqualTo(150);
        assertThat(usage.costMicros()).hasValue(250_000);
    }

    @Test
    @Tag("TN-08")
    @DisplayName("happy#929: the record is found by the session's id, however new another file is")
    void record_besideANewerFileOfAnother_isTheSessionsOwn() throws Exception {
        Path own = recordOf(NATIVE);
        Path other = recordOf("22222222-2222-4222-8222-222222222222");
        Files.writeString(other, "no record at all\n");
        Files.setLastModifiedTime(own, FileTime.from(Instant.EPOCH));
        attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of(DeliveryId.parse(id(1)))));
        background.work();
        var knowledge = of(Report.Known.class).getFirst().knowledge();
        assertThat(knowledge.record()).isEqualTo(RecordState.PRESENT);
        assertThat(knowledge.present()).containsExactly(DeliveryId.parse(id(1)));
    }

    /** A session file of the real program, where this session's agent keeps its own. */
    private Path recordOf(String nativeSession) throws Exception {
        Path work = Files.createDirectories(home.resolve("agents/s/work")).toRealPath();
        String folder = work.toString().replaceAll("[^A-Za-z0-9]", "-");
        Path file = Files.createDirectories(
                        home.resolve("agents/s/config/projects").resolve(folder))
                .resolve(nativeSession + ".jsonl");
        return Files.write(file, Recorded.record("plain", "2.1.197"));
    }
}
