package dev.holdfast.claude;

import static dev.holdfast.claude.HeldRig.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.SteerAnswer;
import dev.holdfast.StopMode;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolSpec;
import dev.holdfast.claude.HeldResult.Attempts;
import dev.holdfast.claude.HeldResult.Ending;
import dev.holdfast.claude.TurnRequest.IfBusy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns of one held session, with its agent and time in the test's hand. */
@Timeout(60)
class HeldTurnTest {
    private static final SessionHandle A = new SessionHandle("a");
    private static final String RESULT =
            "{'type':'result','subtype':'success','is_error':false,'num_turns':1,'terminal_reason':'completed',";

    @TempDir
    Path home;

    private HeldRig rig;
    private FakeAgents.Fake agent;

    private void live() {
        live(options -> options, HeldRig.agent());
    }

    private void live(UnaryOperator<HeldOptions> change, ClaudeCodeAgent bound, String... tools) {
        rig = new HeldRig(home, change);
        HeldTurn first = rig.ask(A, bound, TurnRequest.of("hello").executor(HeldRig.echoing()));
        agent = rig.agent(0);
        rig.ready(agent, tools);
        rig.answers(agent, "hi");
        assertThat(now(first.result()).text()).isEqualTo("hi");
        rig.events.clear();
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private int linesToAgent() {
        return agent.written.size();
    }

    private void interrupted() {
        agent.says("{'type':'result','subtype':'error_during_execution','is_error':true,'num_turns':1,"
                + "'terminal_reason':'aborted_streaming','uuid':'r-int','errors':['x']}");
        agent.state("idle");
        rig.background.work();
    }

    private void call(String id, String tool) {
        agent.says("{'type':'control_request','request_id':'q-" + id + "','request':{'subtype':'mcp_message',"
                + "'server_name':'host','message':{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'"
                + tool + "','arguments':{'n':1},'_meta':{'claudecode/toolUseId':'" + id + "'}}}}}");
        rig.background.work();
    }

    private String answerTo(String id) {
        return agent.ofType("control_response").stream()
                .filter(line ->
                        StreamJson.text(line.path("response"), "request_id").equals("q-" + id))
                .map(line -> line.path("response")
                        .path("response")
                        .path("mcp_response")
                        .path("result")
                        .toString())
                .reduce((a, b) -> b)
                .orElse("none");
    }

    private void uses(String id, String tool) {
        agent.says("{'type':'assistant','uuid':'u-" + id + "','message':{'content':[{'type':'tool_use','id':'" + id
                + "','name':'" + tool + "','input':{'n':1}}]}}");
    }

    private void given(String id, String text, boolean error) {
        agent.says("{'type':'user','uuid':'g-" + id + "','message':{'role':'user','content':[{'type':'tool_result',"
                + "'tool_use_id':'" + id + "','content':'" + text + "','is_error':" + error + "}]}}");
    }

    // ---- one at a time

    @Test
    @Tag("TN-05")
    void whenEnded_startsTheNextTurnThere_andWhatWouldWaitForItselfIsRefused() {
        live();
        var told = new ArrayList<String>();
        var next = new AtomicReference<HeldTurn>();
        HeldTurn turn = rig.ask(A, HeldRig.agent(), TurnRequest.of("one"));
        turn.whenEnded((result, failure) -> {
            told.add(result == null ? "failed" : result.text());
            HeldTurn second = rig.ask(A, HeldRig.agent(), TurnRequest.of("two").ifBusy(IfBusy.QUEUE));
            next.set(second);
            assertThatThrownBy(second::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("HeldTurn.await");
            assertThatThrownBy(() -> rig.sessions.close())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("HeldSessions.close");
            told.add("heard");
            throw new IllegalStateException("a listener's own mistake");
        });
        rig.answers(agent, "first");
        assertThat(told).containsExactly("first", "heard");
        rig.answers(agent, "second");
        assertThat(now(next.get().result()).text()).isEqualTo("second");
        next.get().whenEnded((result, failure) -> told.add("late " + (failure == null)));
        assertThat(told).endsWith("late true");
    }

    @Test
    @Tag("TN-05")
    void whenEnded_ofATurnThatFails_isGivenTheFailure() {
        live();
        var told = new AtomicReference<HeldFailure>();
        rig.ask(A, HeldRig.agent(), TurnRequest.of("one"));
        rig.ask(A, HeldRig.agent(), TurnRequest.of("two")).whenEnded((result, failure) -> told.set(failure));
        assertThat(told.get()).isInstanceOf(HeldFailure.Busy.class);
    }

    @Test
    @Tag("TN-01")
    void secondTurn_whileOneRuns_isRefusedAndTouchesNothing() {
        live();
        HeldTurn first = rig.ask(A, "first");
        rig.begins(agent);
        int lines = linesToAgent();
        HeldTurn second = rig.ask(A, "second");
        assertThatThrownBy(() -> now(second.result()))
                .isInstanceOf(HeldFailure.Busy.class)
                .hasMessageContaining("QUEUE");
        assertThat(linesToAgent()).isEqualTo(lines);
        rig.ends(agent, "one");
        assertThat(now(first.result()).text()).isEqualTo("one");
        HeldTurn third = rig.ask(A, "third");
        rig.answers(agent, "three");
        assertThat(now(third.result()).text()).isEqualTo("three");
    }

    @Test
    @Tag("TN-01")
    void secondTurn_queued_runsWhenTheFirstIsOver() {
        live();
        HeldTurn first = rig.ask(A, "first");
        rig.begins(agent);
        HeldTurn second = rig.ask(A, TurnRequest.of("second").ifBusy(IfBusy.QUEUE));
        HeldTurn third = rig.ask(A, TurnRequest.of("third").ifBusy(IfBusy.QUEUE));
        assertThat(rig.userLines(agent)).containsExactly("hello", "first");
        rig.ends(agent, "one");
        assertThat(now(first.result()).text()).isEqualTo("one");
        assertThat(rig.userLines(agent)).containsExactly("hello", "first", "second");
        rig.answers(agent, "two");
        rig.answers(agent, "three");
        assertThat(now(second.result()).text()).isEqualTo("two");
        assertThat(now(third.result()).text()).isEqualTo("three");
    }

    @Test
    @Tag("TN-01")
    void secondTurn_replacing_cancelsTheFirstAndRunsNext() {
        live();
        HeldTurn first = rig.ask(A, "first");
        rig.begins(agent);
        HeldTurn waiting = rig.ask(A, TurnRequest.of("waiting").ifBusy(IfBusy.QUEUE));
        HeldTurn second = rig.ask(A, TurnRequest.of("second").ifBusy(IfBusy.REPLACE));
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        assertThat(now(first.result()).ending()).isEqualTo(Ending.CANCELLED);
        rig.answers(agent, "two");
        assertThat(now(second.result()).text()).isEqualTo("two");
        rig.answers(agent, "at last");
        assertThat(now(waiting.result()).text()).isEqualTo("at last");
    }

    @Test
    @Tag("TN-03")
    void nextTurn_isToldOnlyWhenTheAgentRests() {
        live();
        HeldTurn first = rig.ask(A, "first");
        rig.begins(agent);
        agent.answers("a1", "one");
        agent.result("one", "0.7");
        assertThat(now(first.result()).text()).isEqualTo("one");
        HeldTurn second = rig.ask(A, "second");
        assertThat(rig.userLines(agent)).doesNotContain("second");
        agent.state("idle");
        assertThat(rig.userLines(agent)).contains("second");
        rig.answers(agent, "two");
        assertThat(now(second.result()).text()).isEqualTo("two");
    }

    @Test
    @Tag("TN-03")
    void agent_thatNeverRestsAfterItsResult_isReplacedForTheNextTurn() {
        live();
        HeldTurn first = rig.ask(A, "first");
        rig.begins(agent);
        agent.answers("a1", "one");
        agent.result("one", "0.7");
        assertThat(now(first.result()).text()).isEqualTo("one");
        HeldTurn second = rig.ask(A, "second");
        rig.advance(Duration.ofSeconds(10));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        rig.exits(agent);
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "two");
        assertThat(now(second.result()).text()).isEqualTo("two");
    }

    // ---- not ours

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("TN-03")
    @Tag("TN-15")
    @DisplayName("defect 8 of the older design: a result nobody asked for settles no turn of ours")
    void result_ofATurnTheAgentStarted_isTold(boolean saysSo) {
        live();
        HeldTurn turn = rig.ask(A, "mine");
        String origin = saysSo ? "'origin':{'kind':'task-notification'}," : "";
        agent.state("running");
        agent.says(RESULT + origin + "'result':'not yours','uuid':'x','total_cost_usd':0.6}");
        assertThat(turn.isDone()).isFalse();
        assertThat(rig.events(HeldEvent.AgentTurn.class))
                .singleElement()
                .satisfies(event -> assertThat(event.result().text()).isEqualTo("not yours"));
        agent.replays(StreamJson.text(agent.ofType("user").getLast(), "uuid"));
        rig.ends(agent, "yours");
        assertThat(now(turn.result()).text()).isEqualTo("yours");
    }

    @Test
    @Tag("TN-03")
    void result_thatNamesOthersLines_settlesNothing() {
        live();
        HeldTurn turn = rig.ask(A, "mine");
        rig.begins(agent);
        agent.says(RESULT + "'result':'not yours','uuid':'x','user_message_uuids':['" + Recorded.id(77) + "']}");
        assertThat(turn.isDone()).isFalse();
        assertThat(rig.events(HeldEvent.AgentTurn.class)).hasSize(1);
        rig.exits(agent);
    }

    @Test
    @Tag("TN-03")
    void agentTurn_betweenTurns_holdsTheNextOneBack() {
        live();
        agent.state("running");
        HeldTurn turn = rig.ask(A, "mine");
        assertThat(rig.userLines(agent)).doesNotContain("mine");
        agent.says(RESULT + "'result':'by myself','uuid':'x'}");
        agent.state("idle");
        rig.answers(agent, "yours");
        assertThat(now(turn.result()).text()).isEqualTo("yours");
    }

    // ---- cancelling

    @Test
    @Tag("TN-10")
    @Tag("TN-05")
    void cancel_beforeTheStart_touchesNoProcess() {
        rig = new HeldRig(home);
        var cancel = new TurnCancel();
        cancel.cancel();
        HeldTurn turn = rig.ask(A, TurnRequest.of("hello").cancel(cancel));
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.Cancelled.class,
                        failure -> assertThat(failure.begun()).isFalse());
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.agents.reaped).isZero();
        assertThat(rig.sessions.awake()).isZero();
        assertThat(cancel.listeners()).isZero();
    }

    @Test
    @Tag("TN-10")
    void cancel_beforeTheStart_writesNothingToALiveProcess() {
        live();
        var cancel = new TurnCancel();
        cancel.cancel();
        int lines = linesToAgent();
        HeldTurn turn = rig.ask(A, TurnRequest.of("hello").cancel(cancel));
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.Cancelled.class);
        assertThat(linesToAgent()).isEqualTo(lines);
        assertThat(agent.stopped).isNull();
    }

    @Test
    @Tag("TN-10")
    void tools_onlyDescribed_needAnExecutor() {
        rig = new HeldRig(home);
        HeldTurn turn = rig.ask(A, HeldRig.agent().tools(HeldRig.ECHO), TurnRequest.of("hello"));
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOf(HeldFailure.NoExecutor.class)
                .hasMessageContaining("echo");
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.agents.reaped).isZero();
    }

    @Test
    @Tag("TN-05")
    void cancel_whileTheAgentStarts_isHonoured() {
        rig = new HeldRig(home);
        var cancel = new TurnCancel();
        HeldTurn turn = rig.ask(A, TurnRequest.of("hello").cancel(cancel));
        cancel.cancel();
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.Cancelled.class,
                        failure -> assertThat(failure.begun()).isFalse());
        rig.ready(rig.agent(0));
        assertThat(rig.userLines(rig.agent(0))).isEmpty();
        HeldTurn next = rig.ask(A, "next");
        rig.answers(rig.agent(0), "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("TN-05")
    @Tag("TN-02")
    void cancel_inTheTurn_interruptsAndEndsAsCancelled() {
        live();
        var cancel = new TurnCancel();
        HeldTurn turn = rig.ask(A, TurnRequest.of("long").cancel(cancel));
        rig.begins(agent);
        agent.answers("a1", "half an ");
        cancel.cancel();
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        HeldResult result = now(turn.result());
        assertThat(result.ending()).isEqualTo(Ending.CANCELLED);
        assertThat(result.text()).isEqualTo("half an ");
        assertThat(result.failure()).isEmpty();
        assertThat(agent.stopped).isNull();
        HeldTurn next = rig.ask(A, "next");
        rig.answers(agent, "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("TN-05")
    void cancel_afterTheTurn_touchesNothing() {
        live();
        var cancel = new TurnCancel();
        HeldTurn turn = rig.ask(A, TurnRequest.of("quick").cancel(cancel));
        rig.answers(agent, "done");
        HeldTurn next = rig.ask(A, "next");
        rig.begins(agent);
        int lines = linesToAgent();
        cancel.cancel();
        turn.cancel();
        assertThat(linesToAgent()).isEqualTo(lines);
        assertThat(agent.stopped).isNull();
        rig.ends(agent, "fine");
        assertThat(now(next.result()).ending()).isEqualTo(Ending.ANSWERED);
        assertThat(now(turn.result()).text()).isEqualTo("done");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "result",
                "error",
                "death",
                "close",
                "deadline",
                "busy",
                "mismatch",
                "cancel",
                "no result",
                "parked"
            })
    @Tag("TN-05")
    void everyEnd_forgetsTheCancelSwitch(String how) {
        live();
        var cancel = new TurnCancel();
        if (how.equals("parked")) {
            rig.ask(A, "hopeless");
            rig.begins(agent);
            agent.says(
                    "{'type':'result','is_error':true,'num_turns':1,'api_error_status':401,'result':'no','uuid':'r'}");
        }
        if (how.equals("busy")) {
            rig.ask(A, "first");
            rig.begins(agent);
        }
        HeldTurn turn = rig.ask(
                A,
                how.equals("mismatch") ? HeldRig.agent().model("other") : HeldRig.agent(),
                TurnRequest.of("hello").cancel(cancel));
        if (!List.of("busy", "mismatch", "parked").contains(how)) {
            assertThat(cancel.listeners()).isEqualTo(1);
            rig.begins(agent);
        }
        switch (how) {
            case "result" -> rig.ends(agent, "fine");
            case "error" ->
                agent.says("{'type':'result','is_error':true,'num_turns':1,'result':'overloaded','uuid':'r'}");
            case "death" -> rig.exits(agent);
            case "close" -> rig.sessions.close(A);
            case "deadline" -> {
                rig.advance(Duration.ofMinutes(10).plusSeconds(30));
                rig.exits(agent);
            }
            case "cancel" -> {
                cancel.cancel();
                rig.grants(agent, "interrupt", "{}");
                interrupted();
            }
            case "no result" -> agent.state("idle");
            default -> {}
        }
        assertThat(turn.isDone()).isTrue();
        assertThat(cancel.listeners()).isZero();
    }

    @Test
    @Tag("TN-05")
    void cancel_inTheTurn_thatTheAgentIgnores_endsItsProcess() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        turn.cancel();
        rig.advance(Duration.ofSeconds(10));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        rig.exits(agent);
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.Cancelled.class,
                        failure -> assertThat(failure.begun()).isTrue());
        assertThat(rig.events(HeldEvent.Crashed.class)).isEmpty();
    }

    @Test
    @Tag("TN-14")
    void cancel_beforeTheAgentBegan_neverLeavesTheLineBehind() {
        live();
        HeldTurn turn = rig.ask(A, "not begun");
        turn.cancel();
        rig.grants(agent, "interrupt", "{}");
        agent.state("idle"); // it rests, and may still begin the line
        rig.background.work();
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        rig.exits(agent);
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.Cancelled.class);
    }

    @Test
    @Tag("TN-14")
    void interrupt_notAnsweredYet_holdsTheNextTurnBack() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        turn.cancel();
        interrupted();
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.CANCELLED);
        HeldTurn next = rig.ask(A, "next");
        assertThat(rig.userLines(agent)).doesNotContain("next");
        rig.grants(agent, "interrupt", "{}");
        assertThat(rig.userLines(agent)).contains("next");
        rig.answers(agent, "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("HS-18")
    void interrupt_answersWithItsReceipt() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        var receipt = turn.interrupt();
        rig.grants(agent, "interrupt", "{'still_queued':['x','y']}");
        assertThat(now(receipt).stillQueued()).containsExactly("x", "y");
        interrupted();
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.CANCELLED);
        assertThatThrownBy(() -> now(turn.interrupt())).isInstanceOf(HeldFailure.ControlFailed.class);
    }

    // ---- deadlines

    @ParameterizedTest
    @CsvSource({"turn, 10", "silence, 4", "first_output, 4"})
    @Tag("TN-04")
    void deadline_passed_isNamedInterruptsFirstAndSettlesTheTurn(String which, long minutes) {
        live();
        HeldTurn turn = rig.ask(A, "long");
        if (!which.equals("first_output")) {
            rig.begins(agent);
        }
        if (which.equals("turn")) {
            for (int i = 0; i < 9; i++) {
                rig.advance(Duration.ofMinutes(1));
                agent.says("{'type':'system','subtype':'status'}");
            }
            minutes = 1;
        }
        rig.advance(Duration.ofMinutes(minutes));
        assertThat(rig.events(HeldEvent.Breached.class)).contains(new HeldEvent.Breached(which));
        assertThat(rig.asked(agent, "interrupt")).isPresent();
        assertThat(agent.stopped).isNull();
        rig.advance(Duration.ofSeconds(10));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        rig.exits(agent);
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.TimedOut.class,
                        failure -> assertThat(failure.deadline()).isEqualTo(which));
    }

    @Test
    @Tag("TN-04")
    void deadline_ofOneTurn_isItsOwn() {
        live();
        HeldTurn turn = rig.ask(A, TurnRequest.of("quick").deadline(Duration.ofSeconds(3)));
        rig.begins(agent);
        rig.advance(Duration.ofSeconds(3));
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.TimedOut.class);
        assertThat(agent.stopped).isNull();
        HeldTurn next = rig.ask(A, "next");
        rig.advance(Duration.ofSeconds(30));
        rig.answers(agent, "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    @ParameterizedTest
    @CsvSource({"greeting", "probing"})
    @Tag("TN-04")
    void start_thatHangs_isNamedByItsStage(String stage) {
        rig = new HeldRig(home);
        HeldTurn turn = rig.ask(A, "hello");
        if (stage.equals("probing")) {
            rig.agent(0).greets();
        }
        rig.advance(Duration.ofSeconds(60));
        rig.exits(rig.agent(0));
        assertThatThrownBy(() -> now(turn.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.StartTimedOut.class,
                        failure -> assertThat(failure.stage()).isEqualTo(stage));
    }

    // ---- steering

    @Test
    @Tag("TN-09")
    @Tag("TN-13")
    void steer_acknowledged_hasLandedAndSettlesWithTheTurn() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        var early = turn.steer("too early");
        assertThat(rig.userLines(agent)).doesNotContain("too early");
        rig.begins(agent);
        assertThat(rig.userLines(agent)).endsWith("too early");
        var second = turn.steer("second");
        assertThat(rig.userLines(agent)).doesNotContain("second");
        assertThat(now(early.answer())).isNull();
        agent.replays(agent.lastUuid());
        assertThat(now(early.answer())).isEqualTo(SteerAnswer.LANDED);
        assertThat(rig.userLines(agent)).endsWith("second");
        agent.replays(agent.lastUuid());
        rig.ends(agent, "done");
        assertThat(now(turn.result()).text()).isEqualTo("done");
        assertThat(now(early.result()).text()).isEqualTo("done");
        assertThat(now(second.result()).text()).isEqualTo("done");
    }

    @Test
    @Tag("TN-09")
    void steer_notAcknowledgedInFiveSeconds_isQueuedAndGetsATurnOfItsOwn() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        var steer = turn.steer("later");
        String uuid = agent.lastUuid();
        rig.advance(Duration.ofSeconds(5).minusMillis(1));
        assertThat(now(steer.answer())).isNull();
        rig.advance(Duration.ofMillis(1));
        assertThat(now(steer.answer())).isEqualTo(SteerAnswer.QUEUED);
        rig.ends(agent, "done");
        assertThat(now(turn.result()).text()).isEqualTo("done");
        assertThat(now(steer.result())).isNull();
        assertThatThrownBy(() -> now(rig.ask(A, "another").result())).isInstanceOf(HeldFailure.Busy.class);
        agent.state("running");
        agent.replays(uuid);
        rig.ends(agent, "the later one");
        assertThat(now(steer.result()).text()).isEqualTo("the later one");
        assertThat(rig.userLines(agent)).containsExactly("hello", "long", "later");
    }

    @Test
    @Tag("TN-05")
    @Tag("TN-09")
    void steer_thatGetsATurnOfItsOwn_isCancelledByTheSameSwitch() {
        live();
        var cancel = new TurnCancel();
        HeldTurn turn = rig.ask(A, TurnRequest.of("long").cancel(cancel));
        rig.begins(agent);
        var steer = turn.steer("later");
        String uuid = agent.lastUuid();
        rig.ends(agent, "done");
        assertThat(now(turn.result()).text()).isEqualTo("done");
        agent.state("running");
        agent.replays(uuid);
        assertThat(cancel.listeners()).isEqualTo(1);
        cancel.cancel();
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        assertThat(now(steer.result()).ending()).isEqualTo(Ending.CANCELLED);
        assertThat(cancel.listeners()).isZero();
    }

    @Test
    @Tag("TN-09")
    void steer_withoutATurn_isRefused() {
        live();
        HeldTurn turn = rig.ask(A, "quick");
        rig.answers(agent, "done");
        int lines = linesToAgent();
        assertThat(now(turn.steer("late").answer())).isEqualTo(SteerAnswer.REFUSED);
        assertThat(linesToAgent()).isEqualTo(lines);
    }

    @Test
    @Tag("TN-14")
    void steer_behindAnInterrupt_isRefused() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        turn.cancel();
        int lines = linesToAgent();
        assertThat(now(turn.steer("late").answer())).isEqualTo(SteerAnswer.REFUSED);
        assertThat(linesToAgent()).isEqualTo(lines);
        rig.grants(agent, "interrupt", "{}");
        interrupted();
    }

    @Test
    @Tag("TN-14")
    void cancel_withASteerThatHasNotLanded_leavesNothingToRunLater() {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        var steer = turn.steer("never mind");
        turn.cancel();
        rig.advance(Duration.ofSeconds(5));
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.CANCELLED);
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        assertThatThrownBy(() -> now(steer.result())).isInstanceOf(HeldFailure.Cancelled.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("TN-14")
    void cancel_withASteerNotYetAcknowledged_interruptsBehindItsAcknowledgement(boolean acknowledged) {
        live();
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        var steer = turn.steer("one more thing");
        String uuid = agent.lastUuid();
        rig.advance(Duration.ofSeconds(1));
        turn.cancel();
        rig.advance(Duration.ofSeconds(4).minusMillis(1));
        assertThat(rig.asked(agent, "interrupt")).isEmpty();
        if (acknowledged) {
            agent.replays(uuid);
        } else {
            rig.advance(Duration.ofMillis(1));
        }
        assertThat(rig.asked(agent, "interrupt")).isPresent();
        rig.grants(agent, "interrupt", "{}");
        interrupted();
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.CANCELLED);
        assertThat(now(steer.answer())).isEqualTo(acknowledged ? SteerAnswer.LANDED : SteerAnswer.QUEUED);
        assertThat(agent.stopped).isEqualTo(acknowledged ? null : StopMode.BUSY);
    }

    @Test
    @Tag("TN-14")
    void cancel_thatWaitsForAnAcknowledgement_isOverWithItsTurn() {
        live();
        HeldTurn turn = rig.ask(A, "quick");
        rig.begins(agent);
        turn.steer("one more thing");
        turn.cancel();
        rig.ends(agent, "done already");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.ANSWERED);
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
        rig.exits(agent);
        rig.advance(Duration.ofMinutes(1));
        assertThat(rig.asked(agent, "interrupt")).isEmpty();
        assertThat(rig.sessions.processes()).isZero();
    }

    // ---- tools

    private static Tool echo(List<ToolCall> calls) {
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return HeldRig.ECHO;
            }

            @Override
            public ToolAnswer call(ToolCall call) {
                calls.add(call);
                return ToolAnswer.text("echo " + call.input());
            }
        };
    }

    @Test
    @Tag("TL-02")
    @DisplayName("defect 9 of the older design: tools run in a turn of ours only")
    void tool_calledBetweenTurns_isNotRun() {
        var calls = new ArrayList<ToolCall>();
        live(options -> options, HeldRig.agent().tools(echo(calls)), "mcp__host__echo");
        call("t0", "echo");
        assertThat(calls).isEmpty();
        assertThat(answerTo("t0")).contains("no turn of this session runs").contains("\"isError\":true");
        HeldTurn turn = rig.ask(A, HeldRig.agent().tools(echo(calls)), TurnRequest.of("use it"));
        rig.begins(agent);
        call("t1", "echo");
        assertThat(calls).hasSize(1);
        assertThat(answerTo("t1")).contains("echo");
        rig.ends(agent, "used");
        assertThat(now(turn.result()).text()).isEqualTo("used");
        assertThat(calls.getFirst().cancelled().isCancelled()).isTrue();
        call("t2", "echo");
        assertThat(calls).hasSize(1);
    }

    @Test
    @Tag("TN-10")
    void tool_described_isRunByTheTurnsExecutor() {
        var bound = HeldRig.agent().tools(HeldRig.ECHO);
        live(options -> options, bound, "mcp__host__echo");
        HeldTurn turn = rig.ask(A, bound, TurnRequest.of("use it").executor((tool, call) -> {
            throw new IllegalStateException("out of " + tool);
        }));
        rig.begins(agent);
        call("t1", "echo");
        assertThat(answerTo("t1")).contains("out of echo").contains("\"isError\":true");
        rig.ends(agent, "used");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.ANSWERED);
    }

    @Test
    void tool_calledTooOften_isToldToAnswer() {
        var calls = new ArrayList<ToolCall>();
        live(options -> options, HeldRig.agent().tools(echo(calls)), "mcp__host__echo");
        rig.ask(A, HeldRig.agent().tools(echo(calls)), TurnRequest.of("use it").maxToolCalls(2));
        rig.begins(agent);
        call("t1", "echo");
        call("t2", "echo");
        call("t3", "echo");
        assertThat(calls).hasSize(2);
        assertThat(answerTo("t3")).contains("used up");
        rig.ends(agent, "used");
    }

    @Test
    void tools_thatAreNone_areRefused() {
        rig = new HeldRig(home);
        assertThatThrownBy(() -> rig.ask(A, HeldRig.agent().tools(new Object()), TurnRequest.of("x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Object");
    }

    // ---- results

    @Test
    @Tag("TN-06")
    void result_holdsEverythingTheAgentSaid() {
        live();
        HeldTurn turn = rig.ask(A, "count");
        rig.begins(agent);
        rig.advance(Duration.ofMillis(250));
        agent.answers("a1", "part one, ");
        agent.answers("a2", "part two");
        agent.says(RESULT + "'result':'part two','stop_reason':'end_turn','uuid':'req-1','session_id':'native',"
                + "'usage':{'input_tokens':1,'output_tokens':2,'cache_read_input_tokens':3,"
                + "'cache_creation_input_tokens':9,'cache_creation':{'ephemeral_5m_input_tokens':4,"
                + "'ephemeral_1h_input_tokens':5},'service_tier':'standard'},'total_cost_usd':0.95,"
                + "'modelUsage':{'big':{'inputTokens':10,'outputTokens':20,'cacheReadInputTokens':1,"
                + "'cacheCreationInputTokens':2,'costUSD':0.25}},'brand_new':{'field':7}}");
        agent.state("idle");
        HeldResult result = now(turn.result());
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(result.text()).isEqualTo("part two");
        assertThat(result.stopReason()).contains("end_turn");
        assertThat(result.terminalReason()).contains("completed");
        assertThat(result.requestId()).isEqualTo("req-1").isNotEqualTo(result.agentSession());
        assertThat(result.agentSession()).isEqualTo("native");
        assertThat(result.costMicros()).hasValue(250_000); // 0.95 less the 0.7 of the turn before
        assertThat(result.usage()).contains(new HeldResult.Tokens(1, 2, 3, 9, OptionalLong.of(4), OptionalLong.of(5)));
        assertThat(result.models().get("big"))
                .satisfies(model -> assertThat(model.output()).isEqualTo(20))
                .satisfies(model -> assertThat(model.costMicros()).hasValue(250_000));
        assertThat(result.assistantEvents()).isEqualTo(2);
        assertThat(result.duration()).isEqualTo(Duration.ofMillis(250));
        assertThat(result.raw().at("brand_new", "field")).contains("7");
        assertThat(result.raw().at("usage", "service_tier")).contains("standard");
        assertThat(result.raw().at("nothing", "here")).isEmpty();
        assertThat(result.message().map(Object::toString))
                .contains(StreamJson.text(agent.ofType("user").getLast(), "uuid"));
    }

    @Test
    @Tag("TN-06")
    void counters_ofModels_areTurnedIntoThisTurnsShare() {
        live();
        long[][] readings = {{10, 20}, {14, 26}, {3, 5}};
        String[] costs = {"0.2", "0.5", "0.1"};
        long[][] shares = {{10, 20, 200_000}, {4, 6, 300_000}, {3, 5, 100_000}};
        for (int i = 0; i < 3; i++) {
            HeldTurn turn = rig.ask(A, "turn " + i);
            rig.begins(agent);
            agent.says(RESULT + "'result':'x','uuid':'r" + i + "','modelUsage':{'big':{'inputTokens':" + readings[i][0]
                    + ",'outputTokens':" + readings[i][1] + ",'costUSD':" + costs[i] + "}}}");
            agent.state("idle");
            var share = now(turn.result()).models().get("big");
            assertThat(share.input()).isEqualTo(shares[i][0]);
            assertThat(share.output()).isEqualTo(shares[i][1]);
            assertThat(share.costMicros()).hasValue(shares[i][2]);
        }
    }

    @Test
    @Tag("TN-06")
    void unknown_isAbsentNeverZero() {
        live();
        HeldTurn turn = rig.ask(A, "count");
        rig.begins(agent);
        agent.says("{'type':'result','is_error':false,'num_turns':1,'result':'x','uuid':'r','stop_reason':null}");
        HeldResult result = now(turn.result());
        assertThat(result.usage()).isEmpty();
        assertThat(result.costMicros()).isEmpty();
        assertThat(result.models()).isEmpty();
        assertThat(result.stopReason()).isEmpty();
        assertThat(result.terminalReason()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"error_max_turns, max_turns, TURN_LIMIT", "error_max_budget_usd, budget_exhausted, BUDGET_LIMIT"})
    @Tag("TN-11")
    void limits_areEndingsAndNoCrashes(String subtype, String reason, Ending ending) {
        live();
        HeldTurn turn = rig.ask(A, "much");
        rig.begins(agent);
        agent.says("{'type':'result','subtype':'" + subtype + "','is_error':true,'num_turns':9,'terminal_reason':'"
                + reason + "','uuid':'r','errors':['enough']}");
        agent.state("idle");
        assertThat(now(turn.result()).ending()).isEqualTo(ending);
        assertThat(agent.stopped).isNull();
        assertThat(rig.events(HeldEvent.Crashed.class)).isEmpty();
    }

    @Test
    @Tag("TN-07")
    void denials_areTypedKeepTheRawEntryAndFailNothing() {
        live();
        HeldTurn turn = rig.ask(A, "touch it");
        rig.begins(agent);
        uses("toolu_1", "Bash");
        given("toolu_1", "refused", true);
        agent.says(RESULT + "'result':'I may not','uuid':'r','permission_denials':[{'tool_name':'Bash',"
                + "'tool_use_id':'toolu_1','tool_input':{'command':'touch /x'}},{'shape':'unheard of'},'odd']}");
        HeldResult result = now(turn.result());
        assertThat(result.ending()).isEqualTo(Ending.ANSWERED);
        assertThat(result.denials()).hasSize(3);
        assertThat(result.denials().get(0).tool()).contains("Bash");
        assertThat(result.denials().get(0).callId()).contains("toolu_1");
        assertThat(result.denials().get(0).raw().at("tool_input", "command")).contains("touch /x");
        assertThat(result.denials().get(1).tool()).isEmpty();
        assertThat(result.denials().get(1).raw().json()).isEqualTo("{\"shape\":\"unheard of\"}");
        assertThat(result.denials().get(2).raw().json()).isEqualTo("\"odd\"");
        assertThat(result.attempts()).isEqualTo(Attempts.SOME_REFUSED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "declined",
                "reached",
                "denied",
                "not run",
                "unknown tool",
                "reached and denied",
                "listed as refused"
            })
    @Tag("TN-07")
    void attempts_threeCases_areToldApart(String how) {
        var bound = HeldRig.agent().tools(HeldRig.ECHO);
        live(options -> options, bound, "mcp__host__echo");
        HeldTurn turn = rig.ask(A, bound, TurnRequest.of("use it").executor(HeldRig.echoing()));
        rig.begins(agent);
        if (how.startsWith("reached")) {
            uses("t1", "mcp__host__echo");
            call("t1", "echo");
            given("t1", "echo", false);
        }
        if (how.endsWith("denied")) {
            uses("t2", "mcp__host__echo");
            given("t2", "no", true);
        }
        if (how.equals("not run")) {
            uses("t3", "mcp__host__echo");
            agent.says("{'type':'user','uuid':'g','message':{'role':'user','content':[{'type':'tool_result',"
                    + "'tool_use_id':'t3','content':'hook','is_error':false}]},'tool_result_meta':[{'tool_use_id':'t3',"
                    + "'non_execution_kind':'hook-timeout'}]}");
        }
        if (how.equals("unknown tool")) {
            uses("t4", "Bash");
            given("t4", "no such tool", true);
        }
        boolean listed = how.endsWith("denied") || how.endsWith("refused");
        String denials = listed ? "[{'tool_name':'mcp__host__echo','tool_use_id':'t2'}]" : "[]";
        agent.says(RESULT + "'result':'x','uuid':'r','permission_denials':" + denials + "}");
        HeldResult result = now(turn.result());
        assertThat(result.attempts())
                .isEqualTo(
                        switch (how) {
                            case "declined" -> Attempts.NONE;
                            case "reached" -> Attempts.ALL_REACHED;
                            default -> Attempts.SOME_REFUSED;
                        });
        if (how.equals("reached")) {
            assertThat(result.toolUses()).containsExactly(new HeldResult.ToolUse("t1", "mcp__host__echo", "{\"n\":1}"));
            assertThat(result.toolUses().getFirst().hostTool()).contains("echo");
            assertThat(result.toolResults().getFirst().text()).isEqualTo("echo");
        }
    }

    @Test
    @Tag("TN-02")
    void failure_ofTheModel_isAnEndingAndTheSessionGoesOn() {
        live();
        HeldTurn turn = rig.ask(A, "try");
        rig.begins(agent);
        agent.says("{'type':'result','subtype':'success','is_error':true,'num_turns':1,'api_error_status':529,"
                + "'result':'Overloaded','terminal_reason':'api_error','uuid':'r'}");
        agent.state("idle");
        HeldResult result = now(turn.result());
        assertThat(result.ending()).isEqualTo(Ending.FAILED);
        assertThat(result.failure()).isEqualTo("Overloaded");
        assertThat(result.text()).isEmpty();
        assertThat(result.fatal()).isFalse();
        HeldTurn next = rig.ask(A, "next");
        rig.answers(agent, "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("HS-10")
    @DisplayName("defect 4 of the older design: a line over the limit is skipped, its turn fails, the session lives")
    void line_overTheLimit_failsItsTurnOnly() {
        live();
        HeldTurn turn = rig.ask(A, "flood");
        rig.begins(agent);
        agent.listener.skipped(65L << 20, "TOO_LONG");
        agent.state("idle");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.FAILED);
        HeldTurn next = rig.ask(A, "next");
        rig.answers(agent, "fine");
        assertThat(now(next.result()).text()).isEqualTo("fine");
    }

    // ---- events

    @Test
    @Tag("HS-12")
    void usersCode_neverRunsOnTheReadersThread() {
        var later = new ArrayList<Runnable>();
        var running = new AtomicReference<>(true);
        live(
                options -> options.executor(task -> {
                    if (running.get()) {
                        task.run();
                    } else {
                        later.add(task);
                    }
                }),
                HeldRig.agent().tools(HeldRig.ECHO),
                "mcp__host__echo");
        running.set(false);
        var seen = new ArrayList<String>();
        HeldTurn turn = rig.ask(
                A,
                HeldRig.agent().tools(HeldRig.ECHO),
                TurnRequest.of("use it")
                        .listener((handle, event) -> seen.add("event"))
                        .executor((tool, call) -> {
                            seen.add("tool");
                            return ToolAnswer.text("x");
                        }));
        var unused = turn.result().thenRun(() -> seen.add("result"));
        rig.begins(agent);
        call("t1", "echo");
        assertThat(seen).isEmpty();
        runAll(later);
        assertThat(seen).contains("event", "tool");
        seen.clear();
        agent.answers("a1", "x");
        agent.result("x", "0.9");
        assertThat(seen).isEmpty();
        runAll(later);
        assertThat(seen).endsWith("result");
    }

    private static void runAll(List<Runnable> tasks) {
        while (!tasks.isEmpty()) {
            tasks.removeFirst().run();
        }
    }

    @Test
    void events_whileTheLineIsWritten_reachTheTurnsOwnListener() {
        live(
                // without the rig's own listener
                options -> HeldOptions.in(home.resolve("held"))
                        .environment(Map.of("HOME", home.toString()))
                        .executor(Runnable::run),
                HeldRig.agent());
        var heard = new ArrayList<HeldEvent>();
        agent.whenWritten = () -> agent.says("{'type':'rate_limit_event','rate_limit_info':{'status':'allowed'}}");
        rig.ask(A, TurnRequest.of("hi").listener((handle, event) -> heard.add(event)));
        agent.whenWritten = () -> {};
        rig.answers(agent, "fine");
        assertThat(heard).hasAtLeastOneElementOfType(HeldEvent.RateLimit.class);
    }

    @Test
    void events_areTypedAndInOrder() {
        live();
        HeldTurn turn = rig.ask(A, "tell");
        rig.begins(agent);
        agent.says("{'type':'system','subtype':'api_retry','attempt':2,'max_retries':10,'retry_delay_ms':1500.5,"
                + "'error_status':529,'error':'overloaded'}");
        agent.says("{'type':'rate_limit_event','rate_limit_info':{'status':'allowed_warning'}}");
        agent.says("{'type':'system','subtype':'compact_boundary','compact_metadata':{'trigger':'auto'}}");
        agent.says("{'type':'system','subtype':'hook_started','hook_name':'PreToolUse:Bash'}");
        agent.says("{'type':'stream_event','event':{'type':'content_block_delta','delta':{'type':'text_delta',"
                + "'text':'wo'}}}");
        agent.says("{'type':'brand_new','x':1}");
        agent.says("{'type':'system','subtype':'brand_new','x':2}");
        rig.ends(agent, "words");
        assertThat(now(turn.result()).text()).isEqualTo("words");
        assertThat(rig.events(HeldEvent.ApiRetry.class))
                .containsExactly(new HeldEvent.ApiRetry(2, 10, Duration.ofMillis(1500), 529, "overloaded"));
        assertThat(rig.events(HeldEvent.RateLimit.class).getFirst().status()).isEqualTo("allowed_warning");
        assertThat(rig.events(HeldEvent.Compacted.class).getFirst().trigger()).isEqualTo("auto");
        assertThat(rig.events(HeldEvent.Hook.class).getFirst().phase()).isEqualTo("started");
        assertThat(rig.events(HeldEvent.Text.class)).containsExactly(new HeldEvent.Text("wo"));
        assertThat(rig.events(HeldEvent.StateChanged.class))
                .containsExactly(new HeldEvent.StateChanged("running"), new HeldEvent.StateChanged("idle"));
        assertThat(rig.events(HeldEvent.Other.class))
                .extracting(HeldEvent.Other::type)
                .containsExactly("brand_new", "system/brand_new");
        assertThat(rig.events(HeldEvent.Landed.class)).hasSize(1);
        assertThat(rig.heard).containsOnly(A);
    }

    // ---- control

    @Test
    @Tag("HS-18")
    void control_verbs_haveTheirShapes() {
        live();
        HeldControl control = rig.sessions.control(A);
        var model = control.model("other");
        assertThat(rig.asked(agent, "set_model")
                        .orElseThrow()
                        .path("request")
                        .path("model")
                        .stringValue(""))
                .isEqualTo("other");
        rig.grants(agent, "set_model", "{}");
        assertThat(now(model).json()).isEqualTo("{}");
        var mode = control.permissionMode("plan");
        rig.grants(agent, "set_permission_mode", "{'mode':'plan'}");
        assertThat(now(mode).at("mode")).contains("plan");
        var servers = control.mcpStatus();
        rig.grants(agent, "mcp_status", "{'mcpServers':[{'name':'host','status':'connected','tools':[]}]}");
        assertThat(now(servers)).singleElement().satisfies(server -> {
            assertThat(server.name()).isEqualTo("host");
            assertThat(server.status()).isEqualTo("connected");
        });
        var usage = control.contextUsage();
        rig.grants(agent, "get_context_usage", "{'totalTokens':10,'maxTokens':200000}");
        assertThat(now(usage).tokens()).hasValue(10);
        var cancelled = control.cancelQueued("some-id");
        assertThat(rig.asked(agent, "cancel_async_message")
                        .orElseThrow()
                        .path("request")
                        .path("message_uuid")
                        .stringValue(""))
                .isEqualTo("some-id");
        rig.grants(agent, "cancel_async_message", "{'cancelled':true}");
        assertThat(now(cancelled)).isTrue();
        var odd = control.request("unheard_of");
        String id = StreamJson.text(rig.asked(agent, "unheard_of").orElseThrow(), "request_id");
        agent.says("{'type':'control_response','response':{'subtype':'error','request_id':'" + id + "','error':'no'}}");
        assertThatThrownBy(() -> now(odd))
                .isInstanceOf(HeldFailure.ControlFailed.class)
                .hasMessageContaining("no");
        var late = control.mcpStatus();
        rig.advance(Duration.ofSeconds(60));
        assertThatThrownBy(() -> now(late)).isInstanceOf(HeldFailure.ControlFailed.class);
        assertThatThrownBy(() ->
                        now(rig.sessions.control(new SessionHandle("none")).mcpStatus()))
                .isInstanceOf(HeldFailure.ControlFailed.class);
    }

    @Test
    void request_withoutWords_isRefused() {
        rig = new HeldRig(home);
        assertThatThrownBy(() -> TurnRequest.of()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TurnRequest.of("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TurnRequest.of("x").note(" ")).hasMessageContaining("note");
        assertThatThrownBy(() -> TurnRequest.of("x").deadline(Duration.ZERO)).hasMessageContaining("deadline");
        assertThatThrownBy(() -> TurnRequest.of("x").maxToolCalls(-1)).hasMessageContaining("-1");
    }
}
