package dev.holdfast.claude;

import static dev.holdfast.claude.HeldRig.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.claude.HeldResult.Ending;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Hooks and permission questions with the agent, its threads and time in the test's hand. */
@Timeout(60)
class HookDeskTest {
    private static final SessionHandle A = new SessionHandle("a");
    private static final HookRule BASH =
            HookRule.on(HookEvent.PRE_TOOL_USE).matcher("Bash").deadline(Duration.ofSeconds(20));

    @TempDir
    Path home;

    private final List<String> ran = new ArrayList<>();
    private HeldRig rig;
    private FakeAgents.Fake agent;

    private void live(UnaryOperator<HeldOptions> change, ClaudeCodeAgent bound) {
        rig = new HeldRig(home, change);
        HeldTurn first = rig.ask(A, bound, TurnRequest.of("hello"));
        agent = rig.agent(0);
        rig.ready(agent, "Bash");
        rig.answers(agent, "hi");
        assertThat(now(first.result()).text()).isEqualTo("hi");
        rig.events.clear();
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private static ClaudeCodeAgent bash() {
        return HeldRig.agent().builtinTools("Bash");
    }

    private void hookCalled(String request, String callback, String event) {
        agent.says("{'type':'control_request','request_id':'" + request + "','request':{'subtype':'hook_callback',"
                + "'callback_id':'" + callback + "','tool_use_id':'t1','input':{'hook_event_name':'" + event
                + "','session_id':'native','tool_name':'Bash','tool_input':{'command':'ls'}}}}");
    }

    private void prompted(String request, String prompt) {
        agent.says("{'type':'control_request','request_id':'" + request + "','request':{'subtype':'hook_callback',"
                + "'callback_id':'hook-0','input':{'hook_event_name':'UserPromptSubmit','session_id':'native','prompt':'"
                + prompt + "'}}}");
        rig.background.work();
    }

    private static String question(String request) {
        return "{'type':'control_request','request_id':'" + request + "','request':{'subtype':'can_use_tool',"
                + "'tool_name':'Bash','tool_use_id':'t1','input':{'command':'ls'}}}";
    }

    private List<JsonNode> answersTo(String request) {
        return agent.ofType("control_response").stream()
                .map(line -> line.path("response"))
                .filter(response -> StreamJson.text(response, "request_id").equals(request))
                .toList();
    }

    private String decision(String request) {
        assertThat(answersTo(request)).hasSize(1);
        JsonNode response = answersTo(request).getFirst();
        assertThat(StreamJson.text(response, "subtype")).isEqualTo("success");
        return StreamJson.text(response.path("response").path("hookSpecificOutput"), "permissionDecision");
    }

    private String behavior(String request) {
        assertThat(answersTo(request)).hasSize(1);
        return StreamJson.text(answersTo(request).getFirst().path("response"), "behavior");
    }

    @Test
    @Tag("HS-18")
    void greeting_registersEveryRuleWithMoreTimeThanItsOwn() {
        live(
                options -> options,
                bash().hook(HookEvent.STOP, call -> HookAnswer.goOn()).hook(BASH, call -> HookAnswer.goOn()));
        JsonNode hooks =
                rig.asked(agent, "initialize").orElseThrow().path("request").path("hooks");
        assertThat(hooks.toString())
                .isEqualTo("{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hookCallbackIds\":[\"hook-0\"],\"timeout\":25,"
                        + "\"onFailure\":\"block\"}],\"Stop\":[{\"hookCallbackIds\":[\"hook-1\"],\"timeout\":65,"
                        + "\"onFailure\":\"continue\"}]}");
    }

    @Test
    @Tag("HS-12")
    @Tag("HS-18")
    void hook_called_runsOnAnotherThreadAndIsAnsweredOnceAheadOfMessages() {
        live(options -> options, bash().hook(BASH, call -> {
            ran.add(call.callId().orElseThrow());
            return HookAnswer.deny("no");
        }));
        hookCalled("h1", "hook-0", "PreToolUse");
        assertThat(ran).isEmpty();
        assertThat(answersTo("h1")).isEmpty();
        hookCalled("h1", "hook-0", "PreToolUse");
        rig.background.work();
        assertThat(ran).containsExactly("t1");
        assertThat(decision("h1")).isEqualTo("deny");
        assertThat(agent.urgent.getLast()).contains("h1");
    }

    @Test
    @Tag("HS-18")
    void guard_late_deniesAtItsOwnDeadlineAndIsNotHeardAfterwards() {
        live(options -> options, bash().hook(BASH, call -> HookAnswer.allow()));
        hookCalled("h1", "hook-0", "PreToolUse");
        rig.background.advance(Duration.ofSeconds(19));
        assertThat(answersTo("h1")).isEmpty();
        rig.background.advance(Duration.ofSeconds(2));
        assertThat(decision("h1")).isEqualTo("deny");
        rig.background.work();
        assertThat(decision("h1")).isEqualTo("deny");
        assertThat(rig.events(HeldEvent.HookFailed.class))
                .singleElement()
                .satisfies(failed -> assertThat(failed.why()).contains("in time"));
    }

    @Test
    @Tag("HS-18")
    void hook_cancelledByTheAgent_isNeverAnswered() {
        live(options -> options, bash().hook(BASH, call -> {
            ran.add("ran");
            return HookAnswer.allow();
        }));
        hookCalled("h1", "hook-0", "PreToolUse");
        agent.says("{'type':'control_cancel_request','request_id':'h1'}");
        rig.background.work();
        rig.advance(Duration.ofSeconds(60));
        assertThat(answersTo("h1")).isEmpty();
        assertThat(ran).isEmpty();
    }

    @Test
    @Tag("HS-18")
    void hook_nobodyRegistered_deniesTheToolAndRefusesTheRest() {
        live(options -> options, bash().hook(BASH, call -> HookAnswer.allow()));
        hookCalled("h1", "hook-9", "PreToolUse");
        hookCalled("h2", "hook-0", "PostToolUse");
        assertThat(decision("h1")).isEqualTo("deny");
        assertThat(StreamJson.text(answersTo("h2").getFirst(), "subtype")).isEqualTo("error");
    }

    @Test
    @Tag("HS-03")
    void binding_withOtherRules_isNamedAndWithOtherCodeIsNot() {
        live(options -> options, bash().hook(BASH, call -> HookAnswer.allow()));
        HeldTurn other = rig.ask(
                A,
                bash().hook(BASH.matcher("Read"), call -> HookAnswer.allow())
                        .hook(HookEvent.STOP, call -> HookAnswer.goOn()),
                TurnRequest.of("x"));
        assertThatThrownBy(() -> now(other.result()))
                .isInstanceOf(HeldFailure.BindingMismatch.class)
                .hasMessageContaining("hook PreToolUse on 'Bash'")
                .hasMessageContaining("is gone")
                .hasMessageContaining("hook PreToolUse on 'Read'")
                .hasMessageContaining("hook Stop");
        HeldTurn same = rig.ask(A, bash().hook(BASH, call -> HookAnswer.deny("new code")), TurnRequest.of("y"));
        rig.begins(agent);
        hookCalled("h1", "hook-0", "PreToolUse");
        rig.background.work();
        assertThat(decision("h1")).isEqualTo("deny");
        rig.ends(agent, "done");
        assertThat(now(same.result()).text()).isEqualTo("done");
    }

    @Test
    @Tag("TN-04")
    void clocks_whileAQuestionIsOpen_standStill() {
        live(
                options -> options.permissions((handle, question) -> PermissionAnswer.allow())
                        .permissionDeadline(Duration.ofHours(1)),
                bash());
        HeldTurn turn = rig.ask(A, bash(), TurnRequest.of("x").deadline(Duration.ofMinutes(3)));
        rig.begins(agent);
        rig.advance(Duration.ofMinutes(2));
        agent.says(question("p1"));
        rig.background.advance(Duration.ofMinutes(50));
        assertThat(rig.events(HeldEvent.Breached.class)).isEmpty();
        rig.background.work();
        assertThat(behavior("p1")).isEqualTo("allow");
        rig.advance(Duration.ofSeconds(50));
        assertThat(rig.events(HeldEvent.Breached.class)).isEmpty();
        rig.advance(Duration.ofSeconds(20));
        assertThat(rig.events(HeldEvent.Breached.class))
                .first()
                .satisfies(breached -> assertThat(breached.what()).isEqualTo("turn"));
        assertThat(turn.isDone()).isFalse();
    }

    @Test
    @Tag("HS-18")
    void question_atItsDeadline_isDeniedOnce() {
        live(options -> options.permissions((handle, question) -> PermissionAnswer.allow()), bash());
        rig.ask(A, bash(), TurnRequest.of("x"));
        rig.begins(agent);
        agent.says(question("p1"));
        rig.background.advance(Duration.ofMinutes(6));
        assertThat(behavior("p1")).isEqualTo("deny");
        rig.background.work();
        assertThat(behavior("p1")).isEqualTo("deny");
    }

    @Test
    @Tag("HS-18")
    void questions_listedAgain_areAskedOnceAndOnlyThoseThatNeverCame() {
        live(
                options -> options.permissions((handle, question) -> {
                    ran.add("asked");
                    return PermissionAnswer.allow();
                }),
                bash());
        rig.ask(A, bash(), TurnRequest.of("x"));
        rig.begins(agent);
        agent.says(question("p1"));
        rig.background.work();
        agent.says(question("p2"));
        var greeted = rig.sessions.control(A).reinitialize();
        String id = StreamJson.text(rig.asked(agent, "initialize").orElseThrow(), "request_id");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'" + id
                + "','response':{},'pending_permission_requests':[" + question("p1") + "," + question("p2") + ","
                + question("p3") + "]}}");
        rig.background.work();
        assertThat(now(greeted)).isNotNull();
        assertThat(ran).hasSize(3);
        assertThat(behavior("p1")).isEqualTo("allow");
        assertThat(behavior("p2")).isEqualTo("allow");
        assertThat(behavior("p3")).isEqualTo("allow");
    }

    @Test
    @Tag("HS-18")
    void guard_whileTheSessionCloses_denies() {
        live(options -> options, bash().hook(BASH, call -> HookAnswer.allow()));
        rig.ask(A, bash().hook(BASH, call -> HookAnswer.allow()), TurnRequest.of("x"));
        rig.begins(agent);
        hookCalled("h1", "hook-0", "PreToolUse");
        var closed = rig.sessions.close(A);
        assertThat(decision("h1")).isEqualTo("deny");
        hookCalled("h2", "hook-0", "PreToolUse");
        rig.background.work();
        assertThat(decision("h1")).isEqualTo("deny");
        assertThat(decision("h2")).isEqualTo("deny");
        assertThat(now(closed)).isNull();
    }

    @Test
    void message_keptBack_endsItsTurnAsFailedWithoutAnAcknowledgement() {
        ClaudeCodeAgent strict =
                bash().hook(HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(), call -> HookAnswer.block("not that"));
        rig = new HeldRig(home);
        HeldTurn turn = rig.ask(A, strict, TurnRequest.of("x").note("(said by the host)"));
        agent = rig.agent(0);
        rig.ready(agent, "Bash");
        agent.state("running");
        prompted("h1", "x\\n(said by the host)");
        assertThat(answersTo("h1").getFirst().path("response").toString())
                .isEqualTo("{\"decision\":\"block\",\"reason\":\"not that\"}");
        rig.ends(agent, "operation blocked");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.FAILED);
        assertThat(now(turn.result()).failure()).contains("not that");
    }

    /** Real agents ask the same hook about the news of their own work in the background, while our line waits behind it. */
    @Test
    @Tag("TN-15")
    void prompt_ofTheAgentsOwn_keptBack_endsNoTurnOfOurs() {
        ClaudeCodeAgent strict = bash().hook(
                        HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(),
                        call -> call.raw().at("prompt").orElse("").startsWith("<task-notification>")
                                ? HookAnswer.block("no news")
                                : HookAnswer.goOn());
        rig = new HeldRig(home);
        HeldTurn turn = rig.ask(A, strict, TurnRequest.of("x").note("(said by the host)"));
        agent = rig.agent(0);
        rig.ready(agent, "Bash");
        String ours = agent.lastUuid();
        agent.state("running");
        prompted("h1", "<task-notification>x has ended</task-notification>");
        assertThat(answersTo("h1").getFirst().path("response").toString()).contains("no news");
        agent.state("idle");
        rig.background.work();
        assertThat(turn.isDone()).isFalse();
        agent.state("running");
        prompted("h2", "x\\n(said by the host)");
        agent.replays(ours);
        rig.ends(agent, "fine");
        assertThat(now(turn.result()).text()).isEqualTo("fine");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.ANSWERED);
    }

    @Test
    void rule_thatCannotHold_isRefusedByName() {
        rig = new HeldRig(home);
        assertThatThrownBy(() -> HookRule.on(HookEvent.STOP).guarding()).hasMessageContaining("Stop cannot guard");
        assertThatThrownBy(() -> HookRule.on(HookEvent.STOP).deadline(Duration.ZERO))
                .hasMessageContaining("PT0S");
        assertThatThrownBy(() -> HookAnswer.deny(" ")).hasMessageContaining("reason is blank");
    }
}
