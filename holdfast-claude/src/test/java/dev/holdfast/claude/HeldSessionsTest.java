package dev.holdfast.claude;

import static dev.holdfast.claude.HeldRig.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StopMode;
import dev.holdfast.ToolSpec;
import dev.holdfast.claude.HeldResult.Ending;
import dev.holdfast.claude.TurnRequest.IfBusy;
import dev.holdfast.claude.TurnRequest.OnOtherBinding;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pool and the lives of its processes, with agents and time in the test's hand. */
@Timeout(60)
class HeldSessionsTest {
    private static final SessionHandle A = new SessionHandle("a");
    private static final SessionHandle B = new SessionHandle("b");
    private static final SessionHandle C = new SessionHandle("c");

    @TempDir
    Path home;

    private HeldRig rig = null;

    private HeldRig rig(UnaryOperator<HeldOptions> change) {
        rig = new HeldRig(home, change);
        return rig;
    }

    private HeldRig rig() {
        return rig(options -> options);
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    private FakeAgents.Fake live(SessionHandle handle) {
        int index = rig.agents.started.size();
        HeldTurn turn = rig.ask(handle, "hello");
        rig.ready(rig.agent(index));
        rig.answers(rig.agent(index), "hi");
        assertThat(now(turn.result()).text()).isEqualTo("hi");
        return rig.agent(index);
    }

    // ---- handles

    @Test
    @Tag("HS-01")
    void handle_created_startsNothingAndCarriesOnlyAnId() {
        rig();
        for (int i = 0; i < 1_000; i++) {
            assertThat(rig.sessions.handle()).isNotEqualTo(rig.sessions.handle());
        }
        SessionHandle handle = rig.sessions.handle();
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.agents.reaped).isZero();
        assertThat(rig.sessions.awake()).isZero();
        assertThat(rig.sessions.processes()).isZero();
        assertThat(handle.toString()).isEqualTo(handle.id());
        assertThat(SessionHandle.class.getRecordComponents()).hasSize(1);
        assertThatThrownBy(() -> new SessionHandle("../../etc"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("../../etc");
    }

    @ParameterizedTest
    @ValueSource(strings = {"never used", "exited", "evicted", "closed", "crashed"})
    @Tag("HS-01")
    @Tag("HS-05")
    void handle_whateverBecameOfItsProcess_worksAtTheNextUse(String fate) {
        rig();
        int lives = 0;
        if (!fate.equals("never used")) {
            FakeAgents.Fake agent = live(A);
            lives = 1;
            switch (fate) {
                case "exited" -> rig.exits(agent);
                case "evicted" -> {
                    rig.advance(Duration.ofMinutes(5));
                    assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
                    rig.exits(agent);
                }
                case "closed" -> {
                    rig.sessions.close(A);
                    rig.exits(agent);
                }
                default -> {
                    HeldTurn lost = rig.ask(A, "lost");
                    rig.begins(agent);
                    rig.exits(agent);
                    assertThatThrownBy(() -> now(lost.result())).isInstanceOf(HeldFailure.DiedInTurn.class);
                }
            }
        }
        assertThat(rig.sessions.processes()).isZero();
        // The handle is remade from its string, as one that was stored would be.
        HeldTurn turn = rig.ask(new SessionHandle(A.toString()), "again");
        rig.advance(Duration.ofSeconds(1));
        assertThat(rig.agents.started).hasSize(lives + 1);
        rig.ready(rig.agent(lives));
        rig.answers(rig.agent(lives), "here");
        assertThat(now(turn.result()).text()).isEqualTo("here");
    }

    @Test
    @Tag("HS-01")
    void session_withoutAProcess_isForgottenAndCostsNothing() {
        rig();
        for (int i = 0; i < 50; i++) {
            FakeAgents.Fake agent = live(new SessionHandle("s" + i));
            rig.sessions.close(new SessionHandle("s" + i));
            rig.exits(agent);
        }
        assertThat(rig.sessions.awake()).isZero();
    }

    // ---- one process per handle

    @Test
    @Tag("HS-02")
    void firstUses_twoAtOnce_startOneProcess() {
        rig();
        HeldTurn one = rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("one"));
        HeldTurn two =
                rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("two").ifBusy(IfBusy.QUEUE));
        rig.background.work();
        assertThat(rig.agents.started).hasSize(1);
        rig.ready(rig.agent(0));
        rig.answers(rig.agent(0), "1");
        rig.answers(rig.agent(0), "2");
        assertThat(now(one.result()).text()).isEqualTo("1");
        assertThat(now(two.result()).text()).isEqualTo("2");
        assertThat(rig.userLines(rig.agent(0))).containsExactly("one", "two");
        assertThat(rig.agents.started).hasSize(1);
    }

    @Test
    @Tag("HS-02")
    void firstUses_withDifferentBindings_refuseTheSecond() {
        rig();
        HeldTurn one = rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("one"));
        HeldTurn two = rig.sessions.start(
                A, HeldRig.agent().model("other"), TurnRequest.of("two").ifBusy(IfBusy.QUEUE));
        assertThatThrownBy(() -> now(two.result())).isInstanceOf(HeldFailure.BindingMismatch.class);
        rig.background.work();
        rig.ready(rig.agent(0));
        rig.answers(rig.agent(0), "1");
        assertThat(now(one.result()).text()).isEqualTo("1");
    }

    @Test
    @Tag("HS-02")
    void start_thatFails_freesThePlaceAndFailsAllWhoWait() {
        rig(options -> options.processes(1));
        HeldTurn one = rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("one"));
        HeldTurn two =
                rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("two").ifBusy(IfBusy.QUEUE));
        HeldTurn other = rig.sessions.start(B, HeldRig.agent(), TurnRequest.of("other"));
        rig.background.work();
        rig.agent(0).exits("exit code 1", "it broke");
        rig.background.work();
        for (HeldTurn turn : List.of(one, two)) {
            assertThatThrownBy(() -> now(turn.result()))
                    .isInstanceOfSatisfying(
                            HeldFailure.StartFailed.class,
                            failure -> assertThat(failure.stderrTail()).isEqualTo("it broke"));
        }
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "served");
        assertThat(now(other.result()).text()).isEqualTo("served");
    }

    // ---- bindings

    @Test
    @Tag("HS-03")
    void binding_different_isRefusedNamingEveryDifference() {
        rig();
        var first = HeldRig.agent()
                .systemPrompt("be brief")
                .tools(
                        new ToolSpec("echo", "again", "{\"type\":\"object\",\"title\":\"e\"}"),
                        new ToolSpec("gone", "was here", "{}"),
                        new ToolSpec("kept", "stays", "{\"a\":1,\"b\":[2]}"));
        HeldTurn turn = rig.ask(A, first, TurnRequest.of("hello").executor(HeldRig.echoing()));
        rig.ready(rig.agent(0), "mcp__host__echo", "mcp__host__gone", "mcp__host__kept");
        rig.answers(rig.agent(0), "hi");
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.ANSWERED);
        var second = HeldRig.agent()
                .systemPrompt("be long")
                .model("other")
                .effort("high")
                .environment("MORE", "1")
                .builtinTools("Read")
                .workingDirectory(home)
                .configDirectory(home)
                .inference("http://127.0.0.1:1", "sk-other")
                .tools(
                        new ToolSpec("echo", "once more", "{\"type\":\"object\",\"title\":\"f\"}"),
                        new ToolSpec("fresh", "is new", "{}"),
                        new ToolSpec("kept", "stays", "{ \"b\": [2], \"a\": 1 }"));
        HeldTurn refused = rig.ask(A, second, TurnRequest.of("again").executor(HeldRig.echoing()));
        assertThatThrownBy(() -> now(refused.result()))
                .isInstanceOfSatisfying(
                        HeldFailure.BindingMismatch.class,
                        mismatch -> assertThat(mismatch.differences())
                                .satisfiesExactlyInAnyOrder(
                                        each -> assertThat(each).isEqualTo("system prompt: another text"),
                                        each -> assertThat(each).contains("model", "other"),
                                        each -> assertThat(each).contains("effort"),
                                        each -> assertThat(each).contains("working directory"),
                                        each -> assertThat(each).contains("config directory"),
                                        each -> assertThat(each).contains("inference key", "another value"),
                                        each -> assertThat(each).contains("environment", "MORE"),
                                        each -> assertThat(each).contains("built-in tools", "Read"),
                                        each -> assertThat(each).contains("tool 'gone' is gone"),
                                        each -> assertThat(each).contains("tool 'fresh' is new"),
                                        each -> assertThat(each).contains("description of tool 'echo'"),
                                        each -> assertThat(each).contains("input schema of tool 'echo'")))
                .hasMessageNotContaining("sk-");
        assertThat(rig.agents.started).hasSize(1);
        assertThat(rig.agent(0).stopped).isNull();
    }

    @Test
    @Tag("HS-03")
    void binding_equalInAnotherObject_isNoDifference() {
        rig();
        live(A);
        HeldTurn second = rig.ask(A, HeldRig.agent(), TurnRequest.of("again"));
        rig.answers(rig.agent(0), "yes");
        assertThat(now(second.result()).text()).isEqualTo("yes");
        assertThat(rig.agents.started).hasSize(1);
    }

    @Test
    @Tag("HS-03")
    void binding_differentAndRecyclingAsked_replacesTheProcessBetweenTurns() {
        rig();
        live(A);
        HeldTurn running = rig.ask(A, "long");
        rig.begins(rig.agent(0));
        HeldTurn other = rig.ask(
                A,
                HeldRig.agent().model("other"),
                TurnRequest.of("switch").ifBusy(IfBusy.QUEUE).onOtherBinding(OnOtherBinding.RECYCLE));
        assertThat(rig.agent(0).stopped).isNull();
        rig.ends(rig.agent(0), "done");
        assertThat(now(running.result()).text()).isEqualTo("done");
        assertThat(rig.agent(0).stopped).isEqualTo(StopMode.IDLE);
        rig.exits(rig.agent(0));
        assertThat(rig.agent(1).command.words()).contains("--model=other");
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "switched");
        assertThat(now(other.result()).text()).isEqualTo("switched");
        assertThat(rig.events(HeldEvent.Recycled.class))
                .singleElement()
                .satisfies(event -> assertThat(event.why()).contains("model"));
    }

    @Test
    @Tag("HS-03")
    void binding_different_withNoProcessLive_simplyStarts() {
        rig();
        FakeAgents.Fake first = live(A);
        rig.sessions.close(A);
        rig.exits(first);
        HeldTurn second = rig.ask(A, HeldRig.agent().model("other"), TurnRequest.of("again"));
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "yes");
        assertThat(now(second.result()).text()).isEqualTo("yes");
        assertThat(rig.events(HeldEvent.Ready.class)).hasSize(2);
    }

    // ---- places

    @Test
    @Tag("HS-04")
    void idleTime_passed_evictsBetweenTurnsOnly() {
        rig();
        FakeAgents.Fake agent = live(A);
        rig.advance(Duration.ofMinutes(4));
        HeldTurn turn = rig.ask(A, TurnRequest.of("long").deadline(Duration.ofHours(1)));
        rig.begins(agent);
        for (int i = 0; i < 10; i++) {
            rig.advance(Duration.ofMinutes(1));
            agent.says("{'type':'system','subtype':'status','status':'requesting'}");
        }
        assertThat(agent.stopped).isNull();
        rig.ends(agent, "done");
        assertThat(now(turn.result()).text()).isEqualTo("done");
        rig.advance(Duration.ofMinutes(5).minusSeconds(1));
        assertThat(agent.stopped).isNull();
        rig.advance(Duration.ofSeconds(1));
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
        assertThat(rig.events(HeldEvent.Evicted.class))
                .containsExactly(new HeldEvent.Evicted(HeldEvent.Evicted.Why.IDLE));
    }

    @Test
    @Tag("HS-04")
    void alarm_ofAPredecessor_neverEvictsTheSuccessor() {
        rig();
        FakeAgents.Fake first = live(A);
        rig.advance(Duration.ofMinutes(4));
        rig.sessions.close(A);
        rig.exits(first);
        FakeAgents.Fake second = live(A);
        rig.advance(Duration.ofMinutes(2));
        assertThat(second.stopped).isNull();
    }

    @Test
    @Tag("HS-04")
    @DisplayName("defect 6 of the older design: the least recently turned is evicted, never one in a turn")
    void cap_reached_evictsTheLeastRecentlyTurned() {
        rig(options -> options.processes(3));
        FakeAgents.Fake a = live(A);
        rig.advance(Duration.ofSeconds(1));
        FakeAgents.Fake b = live(B);
        rig.advance(Duration.ofSeconds(1));
        FakeAgents.Fake c = live(C);
        rig.advance(Duration.ofSeconds(1));
        rig.ask(A, "again");
        rig.answers(a, "yes"); // now B is the one that turned least recently
        rig.advance(Duration.ofSeconds(1));
        HeldTurn inTurn = rig.ask(B, "long");
        rig.begins(b); // and now B is in a turn, so that it is C
        HeldTurn newcomer = rig.ask(new SessionHandle("d"), "hello");
        assertThat(b.stopped).isNull();
        assertThat(a.stopped).isNull();
        assertThat(c.stopped).isEqualTo(StopMode.IDLE);
        assertThat(rig.agents.started).hasSize(3);
        rig.exits(c);
        rig.ready(rig.agent(3));
        rig.answers(rig.agent(3), "hi");
        assertThat(now(newcomer.result()).text()).isEqualTo("hi");
        rig.ends(b, "done");
        assertThat(now(inTurn.result()).text()).isEqualTo("done");
        assertThat(rig.sessions.processes()).isEqualTo(3);
    }

    @Test
    @Tag("HS-04")
    void allBusy_newcomersWaitInOrderAndAtMostSoLong() {
        rig(options -> options.processes(1).waiting(Duration.ofSeconds(60)));
        FakeAgents.Fake a = live(A);
        rig.ask(A, "long");
        rig.begins(a);
        HeldTurn b = rig.ask(B, "second");
        rig.advance(Duration.ofSeconds(30));
        HeldTurn c = rig.ask(C, "third");
        rig.advance(Duration.ofSeconds(30));
        assertThatThrownBy(() -> now(b.result())).isInstanceOf(HeldFailure.AllBusy.class);
        HeldTurn again = rig.ask(B, "behind the third");
        rig.ends(a, "done");
        assertThat(a.stopped).isEqualTo(StopMode.IDLE);
        rig.exits(a);
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "of c");
        assertThat(now(c.result()).text()).isEqualTo("of c");
        assertThat(rig.agent(1).stopped).isEqualTo(StopMode.IDLE);
        rig.exits(rig.agent(1));
        rig.ready(rig.agent(2));
        rig.answers(rig.agent(2), "of b");
        assertThat(now(again.result()).text()).isEqualTo("of b");
    }

    @Test
    @Tag("HS-04")
    void place_granted_leavesNoAlarmOfItsWait() {
        rig(options -> options.processes(1));
        FakeAgents.Fake a = live(A);
        int betweenTurns = rig.background.pending();
        rig.ask(A, "long");
        rig.begins(a);
        int inATurn = rig.background.pending();
        HeldTurn b = rig.ask(B, "second");
        assertThat(rig.background.pending()).isEqualTo(inATurn + 1);
        rig.ends(a, "done");
        rig.exits(a);
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "of b");
        assertThat(now(b.result()).text()).isEqualTo("of b");
        assertThat(rig.background.pending()).isEqualTo(betweenTurns);
    }

    // ---- close

    @Test
    @Tag("HS-08")
    @DisplayName("defect 5 of the older design: a close during the start leaves no process")
    void close_duringTheStart_leavesNoProcess() {
        rig();
        HeldTurn turn = rig.ask(A, "hello");
        var closed = rig.sessions.close(A).toCompletableFuture();
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.Closed.class);
        assertThat(rig.agent(0).stopped).isNotNull();
        assertThat(closed).isNotDone();
        rig.exits(rig.agent(0));
        assertThat(closed).isCompleted();
        assertThat(rig.sessions.processes()).isZero();
        assertThat(rig.agents.started).hasSize(1);
    }

    @Test
    @Tag("HS-08")
    void close_beforeTheSpawn_startsNothing() {
        rig();
        HeldTurn turn = rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("hello"));
        var closed = rig.sessions.close(A).toCompletableFuture();
        rig.background.work();
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.Closed.class);
        assertThat(closed).isCompleted();
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.sessions.processes()).isZero();
    }

    @Test
    @Tag("HS-08")
    @Tag("HS-07")
    void close_inATurn_settlesItAsClosedAndInterruptsFirst() {
        rig();
        FakeAgents.Fake agent = live(A);
        HeldTurn turn = rig.ask(A, "long");
        rig.begins(agent);
        var closed = rig.sessions.close(A).toCompletableFuture();
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(HeldFailure.Closed.class);
        assertThat(agent.stopped).isNull();
        rig.grants(agent, "interrupt", "{}");
        agent.says("{'type':'result','subtype':'error_during_execution','is_error':true,'num_turns':1,"
                + "'terminal_reason':'aborted_streaming','uuid':'r2','errors':['x']}");
        agent.state("idle");
        rig.background.work();
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
        rig.exits(agent);
        assertThat(closed).isCompleted();
    }

    @Test
    @Tag("HS-08")
    void close_inATurnThatCannotBeInterrupted_endsTheProcess() {
        rig();
        FakeAgents.Fake agent = live(A);
        rig.ask(A, "long");
        rig.begins(agent);
        rig.sessions.close(A);
        rig.advance(Duration.ofSeconds(10));
        assertThat(agent.stopped).isEqualTo(StopMode.BUSY);
    }

    @Test
    @Tag("HS-08")
    void close_ofAnUnknownOrClosedHandle_doesNothing() {
        rig();
        assertThat(rig.sessions.close(A).toCompletableFuture()).isCompleted();
        FakeAgents.Fake agent = live(A);
        rig.sessions.close(A);
        var second = rig.sessions.close(A).toCompletableFuture();
        rig.exits(agent);
        assertThat(second).isCompleted();
        assertThat(rig.sessions.close(A).toCompletableFuture()).isCompleted();
    }

    // ---- restarts

    @Test
    @Tag("HS-13")
    void crashes_inARow_delayTheNextStartThenPark() {
        rig();
        int life = 0;
        for (int delay : new int[] {0, 1, 5, 15}) {
            HeldTurn turn = rig.ask(A, "crash");
            if (delay > 0) {
                rig.advance(Duration.ofSeconds(delay).minusMillis(1));
                assertThat(rig.agents.started).hasSize(life);
                rig.advance(Duration.ofMillis(1));
            }
            assertThat(rig.agents.started).hasSize(life + 1);
            rig.ready(rig.agent(life));
            rig.begins(rig.agent(life));
            rig.agent(life).exits("exit code 139", "segfault");
            rig.background.work();
            assertThatThrownBy(() -> now(turn.result())).isInstanceOfSatisfying(HeldFailure.DiedInTurn.class, died -> {
                assertThat(died.landed()).isTrue();
                assertThat(died.stderrTail()).isEqualTo("segfault");
            });
            life++;
        }
        assertThat(rig.events(HeldEvent.RestartDelayed.class))
                .extracting(event -> event.delay().toSeconds())
                .containsExactly(1L, 5L, 15L);
        assertThat(rig.events(HeldEvent.Parked.class)).hasSize(1);
        HeldTurn parked = rig.ask(A, "once more");
        assertThatThrownBy(() -> now(parked.result())).isInstanceOf(HeldFailure.Parked.class);
        rig.advance(Duration.ofHours(1));
        assertThat(rig.agents.started).hasSize(life);
        rig.sessions.unpark(A);
        HeldTurn free = rig.ask(A, "free");
        rig.ready(rig.agent(life));
        rig.answers(rig.agent(life), "fine");
        assertThat(now(free.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("HS-13")
    void crash_afterASettledTurn_countsFromOneAgain() {
        rig();
        for (int i = 0; i < 6; i++) {
            HeldTurn turn = rig.ask(A, "fine");
            rig.advance(Duration.ofSeconds(1));
            rig.ready(rig.agent(i));
            rig.answers(rig.agent(i), "yes");
            assertThat(now(turn.result()).text()).isEqualTo("yes");
            rig.ask(A, "crash");
            rig.begins(rig.agent(i));
            rig.exits(rig.agent(i));
        }
        assertThat(rig.events(HeldEvent.Parked.class)).isEmpty();
    }

    @Test
    @Tag("HS-13")
    void end_betweenTurns_isNoCrash() {
        rig();
        FakeAgents.Fake agent = live(A);
        rig.exits(agent);
        assertThat(rig.events(HeldEvent.Crashed.class)).isEmpty();
        live(A);
        assertThat(rig.agents.started).hasSize(2);
    }

    @Test
    @Tag("HS-13")
    void failure_thatOnlyAPersonCanMend_parksAtOnce() {
        rig();
        HeldTurn turn = rig.ask(A, "hello");
        rig.ready(rig.agent(0));
        rig.begins(rig.agent(0));
        rig.agent(0)
                .says("{'type':'result','subtype':'success','is_error':true,'num_turns':1,'api_error_status':401,"
                        + "'result':'Invalid API key','terminal_reason':'api_error','uuid':'r'}");
        rig.agent(0).state("idle");
        rig.background.work();
        assertThat(now(turn.result()).fatal()).isTrue();
        assertThat(now(turn.result()).ending()).isEqualTo(Ending.FAILED);
        HeldTurn next = rig.ask(A, "again");
        assertThatThrownBy(() -> now(next.result()))
                .isInstanceOf(HeldFailure.Parked.class)
                .hasMessageContaining("Invalid API key");
    }

    @Test
    @Tag("HS-13")
    void program_missing_isLookedForAgainAtTheNextUse() {
        rig();
        var missing = HeldRig.agent().binary(home.resolve("nowhere"));
        for (int i = 0; i < 5; i++) {
            HeldTurn turn = rig.ask(A, missing, TurnRequest.of("hello"));
            assertThatThrownBy(() -> now(turn.result()))
                    .isInstanceOf(HeldFailure.CliNotFound.class)
                    .hasMessageContaining("nowhere");
        }
    }

    // ---- recycling

    @Test
    @Tag("HS-14")
    void turns_enough_recycleBetweenTurns() {
        rig(options -> options.recycling(Duration.ofHours(24), 4L << 30, 3));
        FakeAgents.Fake agent = live(A);
        rig.ask(A, "two");
        rig.answers(agent, "2");
        assertThat(agent.stopped).isNull();
        HeldTurn third = rig.ask(A, "three");
        rig.begins(agent);
        HeldTurn fourth = rig.ask(A, TurnRequest.of("four").ifBusy(IfBusy.QUEUE));
        assertThat(agent.stopped).isNull();
        rig.ends(agent, "3");
        assertThat(now(third.result()).text()).isEqualTo("3");
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
        rig.exits(agent);
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "4");
        assertThat(now(fourth.result()).text()).isEqualTo("4");
        assertThat(rig.events(HeldEvent.Recycled.class)).containsExactly(new HeldEvent.Recycled("3 turns"));
    }

    @Test
    @Tag("HS-14")
    void age_reached_recyclesAfterTheTurn() {
        rig(options -> options.idle(Duration.ofDays(3)));
        FakeAgents.Fake agent = live(A);
        rig.advance(Duration.ofHours(23));
        rig.ask(A, "young");
        rig.answers(agent, "yes");
        assertThat(agent.stopped).isNull();
        HeldTurn last = rig.ask(A, TurnRequest.of("long").deadline(Duration.ofHours(5)));
        rig.begins(agent);
        agent.says("{'type':'assistant','uuid':'u','message':{'content':[{'type':'tool_use','id':'t','name':'x'}]}}");
        rig.advance(Duration.ofHours(2));
        assertThat(agent.stopped).isNull();
        rig.ends(agent, "done");
        assertThat(now(last.result()).text()).isEqualTo("done");
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
    }

    @Test
    @Tag("HS-14")
    void memory_grown_recyclesAfterTheTurn() {
        rig();
        FakeAgents.Fake agent = live(A);
        rig.memory = 4L << 30;
        rig.advance(Duration.ofSeconds(11));
        HeldTurn turn = rig.ask(A, "heavy");
        assertThat(agent.stopped).isEqualTo(StopMode.IDLE);
        rig.memory = 1_000;
        rig.exits(agent);
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "light");
        assertThat(now(turn.result()).text()).isEqualTo("light");
        assertThat(rig.events(HeldEvent.Recycled.class))
                .singleElement()
                .satisfies(event -> assertThat(event.why()).contains("memory"));
    }

    // ---- spares

    @Test
    @Tag("HS-19")
    void spare_ofAnEqualBinding_isClaimedOnceAndProvedBeforeUse() {
        rig(options -> options.spares(HeldRig.agent(), 1));
        assertThat(rig.agents.started).hasSize(1);
        FakeAgents.Fake spare = rig.agent(0);
        rig.ready(spare);
        assertThat(rig.events).isEmpty();
        HeldTurn turn = rig.ask(A, "hello");
        assertThat(rig.agents.started).hasSize(1);
        assertThat(rig.userLines(spare)).isEmpty();
        rig.grants(spare, "mcp_status", "{}");
        assertThat(rig.userLines(spare)).containsExactly("hello");
        rig.answers(spare, "warm");
        assertThat(now(turn.result()).text()).isEqualTo("warm");
        HeldTurn other = rig.ask(B, "me too");
        assertThat(rig.userLines(spare)).containsExactly("hello");
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "cold");
        assertThat(now(other.result()).text()).isEqualTo("cold");
    }

    @Test
    @Tag("HS-19")
    void spare_ofAnotherBinding_isNotClaimed() {
        rig(options -> options.spares(HeldRig.agent(), 1));
        rig.ready(rig.agent(0));
        HeldTurn turn = rig.ask(A, HeldRig.agent().model("other"), TurnRequest.of("hello"));
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "own");
        assertThat(now(turn.result()).text()).isEqualTo("own");
        assertThat(rig.userLines(rig.agent(0))).isEmpty();
        assertThat(rig.agent(0).stopped).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"mute", "gone"})
    @Tag("HS-19")
    void spare_thatDoesNotAnswer_isReplacedBeforeAWordReachesIt(String how) {
        rig(options -> options.spares(HeldRig.agent(), 1));
        FakeAgents.Fake spare = rig.agent(0);
        rig.ready(spare);
        HeldTurn turn = rig.ask(A, "hello");
        if (how.equals("mute")) {
            rig.advance(Duration.ofSeconds(10));
            assertThat(spare.stopped).isEqualTo(StopMode.BUSY);
        }
        rig.exits(spare);
        assertThat(rig.userLines(spare)).isEmpty();
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "fresh");
        assertThat(now(turn.result()).text()).isEqualTo("fresh");
    }

    @Test
    @Tag("HS-19")
    @Tag("HS-04")
    void spare_takenByTheLoserOfTwoFirstUses_writesNothingForTheHandle() throws Exception {
        rig(options -> options.spares(HeldRig.agent(), 2));
        rig.ready(rig.agent(0));
        rig.ready(rig.agent(1));
        HeldTurn[] winner = new HeldTurn[1];
        // in the middle of the one first use, the other one comes and is through before it
        rig.background.whileSetting = () -> winner[0] = rig.ask(A, "first");
        HeldTurn loser = rig.ask(A, TurnRequest.of("second").ifBusy(IfBusy.QUEUE));
        FakeAgents.Fake used = rig.agents.started.stream()
                .filter(each -> rig.asked(each, "mcp_status").isPresent())
                .findFirst()
                .orElseThrow();
        FakeAgents.Fake other = used == rig.agent(0) ? rig.agent(1) : rig.agent(0);
        rig.grants(used, "mcp_status", "{}");
        rig.answers(used, "one");
        rig.answers(used, "two");
        assertThat(now(winner[0].result()).text()).isEqualTo("one");
        assertThat(now(loser.result()).text()).isEqualTo("two");
        var book = new HandleBook(home.resolve("held").resolve("handles"), new StreamJson(1 << 20));
        assertThat(other.stopped).isNotNull();
        rig.exits(other);
        rig.sessions.close(A);
        rig.exits(used);
        assertThat(book.read(A).mark()).as("what the winner was answered").isPresent();
        assertThat(rig.events(HeldEvent.Ended.class))
                .as("ends told of the handle")
                .hasSize(1);
        rig.advance(Spares.PAUSE);
        rig.ready(rig.agent(2));
        rig.ready(rig.agent(3));
        assertThat(rig.sessions.sparesReady()).isEqualTo(2);
    }

    @Test
    @Tag("HS-19")
    void spares_thatFindNoPlaceAgainAndAgain_areStartedWhenThereIsOne() {
        rig(options -> options.processes(1).spares(HeldRig.agent(), 1));
        rig.ready(rig.agent(0));
        rig.ask(A, HeldRig.agent().model("other"), TurnRequest.of("hello"));
        rig.exits(rig.agent(0));
        rig.ready(rig.agent(1));
        rig.answers(rig.agent(1), "hi");
        rig.advance(Spares.PAUSE.multipliedBy(20));
        assertThat(rig.agents.started).hasSize(2);
        rig.sessions.close(A);
        rig.exits(rig.agent(1));
        rig.advance(Spares.PAUSE.multipliedBy(2));
        rig.ready(rig.agent(2));
        assertThat(rig.sessions.sparesReady()).isEqualTo(1);
        assertThat(rig.events(HeldEvent.Noticed.class)).isEmpty();
    }

    @Test
    @Tag("HS-19")
    void spares_whoseStartsFail_pauseSaySoAndAreTriedAgain() {
        rig(options -> options.spares(HeldRig.agent(), 1));
        for (int i = 0; i < Spares.FAILURES_MAX; i++) {
            assertThat(rig.agents.started).hasSize(i + 1);
            rig.exits(rig.agent(i));
            rig.advance(Spares.PAUSE);
        }
        assertThat(rig.agents.started).hasSize(Spares.FAILURES_MAX);
        assertThat(rig.events(HeldEvent.Noticed.class))
                .singleElement()
                .satisfies(event -> assertThat(event.what()).isEqualTo("spares_paused"));
        rig.advance(Spares.LONG_PAUSE);
        assertThat(rig.agents.started).hasSize(Spares.FAILURES_MAX + 1);
        rig.ready(rig.agents.last());
        assertThat(rig.sessions.sparesReady()).isEqualTo(1);
    }

    @Test
    @Tag("HS-04")
    void pool_whoseProcessesEndTurnsWhileItLooks_asksOneToLeave() {
        var random = new Random(1);
        var asked = new ArrayList<HeldPool.Holder>();
        var pool = new HeldPool(256, Duration.ofSeconds(60), new ManualBackground());
        class Changing implements HeldPool.Holder {
            @Override
            public void granted() {}

            @Override
            public void denied() {}

            @Override
            public void pleaseLeave() {
                asked.add(this);
            }

            @Override
            public boolean resting() {
                return true;
            }

            @Override
            public long lastTurn() {
                return random.nextInt(20) == 0 ? System.nanoTime() : 5;
            }

            @Override
            public boolean spare() {
                return false;
            }
        }
        for (int i = 0; i < 256; i++) {
            assertThat(pool.tryRequest(new Changing())).isTrue();
        }
        for (int i = 0; i < 200; i++) {
            pool.request(new Changing());
        }
        assertThat(asked).hasSize(200).doesNotHaveDuplicates();
    }

    @Test
    @Tag("HS-19")
    void spare_givesWayFirst() {
        rig(options -> options.processes(2).spares(HeldRig.agent().model("spare"), 1));
        rig.ready(rig.agent(0));
        rig.advance(Duration.ofSeconds(1));
        int index = rig.agents.started.size();
        rig.ask(A, "hello");
        rig.ready(rig.agent(index));
        rig.answers(rig.agent(index), "hi");
        rig.ask(B, "hello");
        assertThat(rig.agent(0).stopped).isEqualTo(StopMode.IDLE);
        assertThat(rig.agent(index).stopped).isNull();
    }

    @Test
    @Tag("HS-19")
    void spare_claimed_isStillTheHandlesOwnAfterAnEviction() {
        rig(options -> options.spares(HeldRig.agent(), 1));
        FakeAgents.Fake spare = rig.agent(0);
        rig.ready(spare);
        HeldTurn turn = rig.ask(A, "hello");
        rig.grants(spare, "mcp_status", "{}");
        rig.answers(spare, "warm");
        assertThat(now(turn.result()).text()).isEqualTo("warm");
        rig.sessions.close(A);
        rig.exits(spare);
        int index = rig.agents.started.size();
        rig.ask(A, "again");
        assertThat(rig.agent(index).command.workingDirectory()).isEqualTo(spare.command.workingDirectory());
    }

    // ---- two hosts

    @Test
    @Tag("HS-16")
    void heldSessions_twoInOneJvm_doNotKnowEachOther() {
        rig();
        live(A);
        try (var other = new HeldRig(home.resolve("other"))) {
            HeldTurn turn = other.ask(A, HeldRig.agent().model("other"), TurnRequest.of("hello"));
            other.ready(other.agent(0));
            other.answers(other.agent(0), "mine");
            assertThat(now(turn.result()).text()).isEqualTo("mine");
        }
        assertThat(rig.agents.started).hasSize(1);
        assertThatThrownBy(() -> new HeldRig(home)).hasMessageContaining("belongs to other held sessions");
    }

    @Test
    @Tag("HS-16")
    void options_areNamedInTheirErrors() {
        var options = HeldOptions.in(home).environment(Map.of());
        assertThatThrownBy(() -> options.processes(0)).hasMessageContaining("processes is 0");
        assertThatThrownBy(() -> options.idle(Duration.ZERO)).hasMessageContaining("idle");
        assertThatThrownBy(() -> options.recycling(Duration.ofHours(1), 0, 1)).hasMessageContaining("memory");
        assertThat(Optional.of(options.processes(7)).map(HeldOptions::processes))
                .contains(7);
        assertThat(options.processes()).isGreaterThanOrEqualTo(4);
    }
}
