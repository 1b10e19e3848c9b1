package dev.holdfast.claude;

import static dev.holdfast.claude.HeldRig.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolProgress;
import java.io.IOError;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Held sessions in a host whose own code misbehaves: executors that refuse, tools and listeners that throw or hang. */
@Timeout(60)
class HeldHardshipTest {
    private static final SessionHandle A = new SessionHandle("a");
    private static final ClaudeCodeAgent ECHOING = HeldRig.agent().tools(HeldRig.ECHO);

    @TempDir
    Path home;

    private HeldRig rig;
    private FakeAgents.Fake agent;

    private void rig(UnaryOperator<HeldOptions> change) {
        rig = new HeldRig(home, change);
    }

    /** A turn with a tool whose agent has begun. */
    private HeldTurn calling(ToolExecutor executor) {
        HeldTurn turn = rig.ask(A, ECHOING, TurnRequest.of("use it").executor(executor));
        agent = rig.agents.last();
        rig.ready(agent, "mcp__host__echo");
        rig.begins(agent);
        return turn;
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private void call() {
        agent.says("{'type':'control_request','request_id':'q','request':{'subtype':'mcp_message','server_name':'host',"
                + "'message':{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'echo','arguments':{},"
                + "'_meta':{'claudecode/toolUseId':'t1'}}}}}");
        rig.background.work();
    }

    private List<String> answers() {
        return agent.ofType("control_response").stream()
                .map(line -> line.path("response"))
                .filter(line -> StreamJson.text(line, "request_id").equals("q"))
                .map(line -> line.path("response")
                        .path("mcp_response")
                        .path("result")
                        .toString())
                .toList();
    }

    // ---- executors

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("TN-05")
    void executor_thatRefusesTheResult_losesNeitherTheTurnNorThePlace(boolean onlyOnce) throws Exception {
        var shut = new AtomicBoolean();
        rig(options -> options.executor(task -> {
            if (shut.get()) {
                throw new RejectedExecutionException("full");
            }
            task.run();
        }));
        HeldTurn turn = rig.ask(A, "hi");
        agent = rig.agents.last();
        rig.ready(agent);
        rig.begins(agent);
        var seen = turn.result().toCompletableFuture();
        agent.answers("a1", "hello");
        shut.set(true);
        agent.result("hello", "0.7");
        shut.set(!onlyOnce);
        agent.state("idle");
        rig.background.work();
        assertThat(turn.await().text()).isEqualTo("hello");
        assertThat(seen.get(20, TimeUnit.SECONDS).text()).isEqualTo("hello");
        var closed = rig.sessions.close(A).toCompletableFuture();
        rig.exits(agent);
        closed.get(20, TimeUnit.SECONDS);
        assertThat(rig.sessions.processes()).isZero();
    }

    @Test
    void task_thatThrowsOnItsExecutor_runsOnce() {
        rig(options -> options);
        var runs = new ArrayList<String>();
        new SureExecutor(Runnable::run).execute(() -> {
            runs.add("run");
            throw new IllegalStateException("out of a task");
        });
        assertThat(runs).containsExactly("run");
    }

    // ---- listeners

    @Test
    @Tag("HS-12")
    void listener_thatThrows_takesNothingFromTheTurnsOwn() {
        rig(options -> options.listener((handle, event) -> {
            throw new AssertionError("out of a listener");
        }));
        var heard = new ArrayList<HeldEvent>();
        HeldTurn turn = rig.ask(A, TurnRequest.of("hi").listener((handle, event) -> heard.add(event)));
        agent = rig.agents.last();
        rig.ready(agent);
        rig.answers(agent, "hello");
        assertThat(now(turn.result()).text()).isEqualTo("hello");
        assertThat(heard).hasAtLeastOneElementOfType(HeldEvent.Landed.class);
    }

    @Test
    @Tag("HS-12")
    void listener_thatIsSlow_hearsTextPutTogetherThenAGapAndEveryCompletion() {
        var tasks = new ArrayDeque<Runnable>();
        var heard = new ArrayList<HeldEvent>();
        HeldListener listener = (handle, event) -> heard.add(event);
        rig(options -> options);
        var mouth = new Mouth(tasks::add, Optional.of(listener), Optional.of(A));
        var order = new ArrayList<Integer>();
        int many = Mouth.EVENTS_MAX;
        for (int i = 0; i < many / 2; i++) {
            mouth.say(new HeldEvent.Started(i), Optional.empty());
        }
        for (int i = 0; i < 10_000; i++) {
            mouth.say(new HeldEvent.Text("word "), Optional.empty());
        }
        mouth.then(() -> order.add(heard.size()), Optional.empty());
        for (int i = 0; i < many; i++) {
            mouth.say(new HeldEvent.Started(i), Optional.empty());
        }
        mouth.then(() -> order.add(heard.size()), Optional.empty());
        mouth.say(new HeldEvent.Ended("still full"), Optional.empty());
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        List<String> texts = heard.stream()
                .filter(HeldEvent.Text.class::isInstance)
                .map(event -> ((HeldEvent.Text) event).fragment())
                .toList();
        assertThat(String.join("", texts)).isEqualTo("word ".repeat(10_000));
        assertThat(texts).hasSizeLessThan(10);
        long told = heard.stream().filter(HeldEvent.Started.class::isInstance).count();
        assertThat(told + texts.size()).isEqualTo(many);
        assertThat(heard.stream().filter(HeldEvent.Gap.class::isInstance))
                .containsExactly(new HeldEvent.Gap(many / 2 + many - told), new HeldEvent.Gap(1));
        assertThat(order).containsExactly(many / 2 + texts.size(), many + 1);
        mouth.say(new HeldEvent.Ended("there is room again"), Optional.empty());
        tasks.remove().run();
        assertThat(heard.getLast()).isEqualTo(new HeldEvent.Ended("there is room again"));
    }

    @Test
    @Tag("TN-05")
    void switch_givenWhileTheTurnEnds_isForgotten() {
        rig(options -> options);
        var cancel = new TurnCancel();
        var turn = new HeldTurn(
                new HeldSession(host(), Optional.of(A)),
                HeldRig.agent().bound(),
                TurnRequest.of("x").cancel(cancel),
                Runnable::run);
        turn.listen();
        var atTheEnd = new ArrayList<Integer>();
        var unused = turn.result().whenComplete((result, failure) -> atTheEnd.add(cancel.listeners()));
        turn.fail(new HeldFailure.Cancelled(A, false));
        assertThat(atTheEnd)
                .as("what is forgotten before the end can be given again before it")
                .containsExactly(1);
        assertThat(cancel.listeners()).isZero();
        turn.listen();
        assertThat(cancel.listeners()).isZero();
    }

    @Test
    @Tag("TN-05")
    void cancel_whileTheResultWaitsBehindASlowListener_changesNothing() {
        var tasks = new ArrayDeque<Runnable>();
        rig(options -> options.executor(tasks::add));
        HeldTurn turn = rig.ask(A, "hi");
        agent = rig.agents.last();
        rig.ready(agent);
        rig.answers(agent, "hello");
        assertThat(turn.isDone()).isFalse();
        turn.cancel();
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        assertThat(turn.isDone()).isTrue();
        var result = turn.result();
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        assertThat(now(result).text()).isEqualTo("hello");
    }

    private HeldHost host() {
        var codec = new StreamJson(1 << 20);
        return new HeldHost(
                HeldOptions.in(home.resolve("none")),
                "none",
                1,
                new AtomicLong(),
                rig.agents,
                rig.background,
                pid -> OptionalLong.empty(),
                new StartGate(),
                codec,
                new HeldPool(1, Duration.ofSeconds(1), rig.background),
                new HandleBook(home, codec),
                null);
    }

    // ---- tools

    @ParameterizedTest
    @ValueSource(strings = {"null", "error", "sneaky"})
    @Tag("TL-03")
    void tool_whateverItDoes_isAnsweredOnce(String how) {
        rig(options -> options);
        HeldTurn turn = calling((tool, call) -> switch (how) {
            case "null" -> nothing();
            case "error" -> throw new IOError(new IOException("out of disk"));
            default -> {
                HeldHardshipTest.<RuntimeException>sneaky(new Throwable("out of nowhere"));
                yield nothing();
            }
        });
        call();
        assertThat(answers())
                .singleElement()
                .asString()
                .contains("\"isError\":true")
                .contains(
                        switch (how) {
                            case "null" -> "tool 'echo' returned null";
                            case "error" -> "out of disk";
                            default -> "out of nowhere";
                        });
        rig.ends(agent, "well");
        assertThat(now(turn.result()).text()).isEqualTo("well");
    }

    @SuppressWarnings("NullAway")
    private static ToolAnswer nothing() {
        return null;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneaky(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Test
    @Tag("TL-06")
    void tool_thatHasAnswered_leavesNoAlarm() {
        rig(options -> options);
        HeldTurn turn = calling((tool, call) -> ToolAnswer.text("done"));
        int before = rig.background.pending();
        call();
        assertThat(answers()).hasSize(1);
        assertThat(rig.background.pending()).isEqualTo(before);
        assertThat(turn.isDone()).isFalse();
    }

    @Test
    @Tag("TL-10")
    void tool_thatTellsProgress_isHeardUntilItAnswers() {
        rig(options -> options);
        var late = new AtomicReference<ToolCall>();
        var unused = calling((tool, call) -> {
            late.set(call);
            call.progress(1, 2, "half");
            return ToolAnswer.text("done");
        });
        call();
        assertThat(rig.events(HeldEvent.ToolProgressed.class))
                .containsExactly(
                        new HeldEvent.ToolProgressed(new ToolProgress("t1", "echo", 1, OptionalDouble.of(2), "half")));
        late.get().progress(2, 2, "too late");
        rig.background.work();
        assertThat(rig.events(HeldEvent.ToolProgressed.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 9})
    @Tag("TL-10")
    void answer_aboveTheBound_reachesTheAgentAsAnErrorThatSaysSo(int bound) {
        rig(options -> options.answerBytes(bound));
        var unused = calling((tool, call) -> ToolAnswer.text("0123456789"));
        call();
        assertThat(answers())
                .singleElement()
                .asString()
                .contains(bound == 10 ? "0123456789" : "10 bytes, more than the 9");
    }

    @Test
    @Tag("TL-06")
    void tool_whoseCallIsCancelled_isInterrupted() throws Exception {
        var entered = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            var off = new AtomicBoolean();
            rig(options -> options.executor(task -> {
                if (off.get()) {
                    threads.execute(task);
                } else {
                    task.run();
                }
            }));
            var unused = calling((tool, call) -> {
                entered.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    if (call.cancelled().isCancelled()) {
                        interrupted.countDown();
                    }
                    throw e;
                }
                return ToolAnswer.text("never");
            });
            off.set(true);
            call();
            off.set(false);
            assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
            agent.says(
                    "{'type':'control_request','request_id':'q2','request':{'subtype':'mcp_message','server_name':"
                            + "'host','message':{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':7}}}}");
            assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @Tag("TL-06")
    void toolDeadline_thatIsNone_isRefused() {
        rig(same -> same); // closed as every rig
        var options = HeldOptions.in(home.resolve("other"));
        assertThat(options.toolDeadline()).isEqualTo(Duration.ofMinutes(5));
        for (Duration none : List.of(Duration.ZERO, Duration.ofMillis(-1))) {
            assertThatThrownBy(() -> options.toolDeadline(none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("toolDeadline is " + none);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT5M", "PT0.25S", "PT2H"})
    @Tag("TL-06")
    void tool_thatTakesTooLong_isAnsweredAsTimedOutAndInterrupted(Duration deadline) throws Exception {
        var entered = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        var forEver = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            var off = new AtomicBoolean();
            var standard = deadline.equals(Duration.ofMinutes(5));
            rig(options -> (standard
                            ? options
                            : options.turn(deadline.multipliedBy(3)).toolDeadline(deadline))
                    .executor(task -> {
                        if (off.get()) {
                            threads.execute(task);
                        } else {
                            task.run();
                        }
                    }));
            HeldTurn turn = calling((tool, call) -> {
                entered.countDown();
                try {
                    forEver.await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    throw e;
                }
                return ToolAnswer.text("never");
            });
            off.set(true);
            call();
            off.set(false);
            assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
            rig.advance(deadline.minusMillis(1));
            assertThat(answers()).isEmpty();
            rig.advance(Duration.ofMillis(1));
            assertThat(answers()).singleElement().asString().contains("did not answer within " + deadline);
            assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(threads.submit(() -> Thread.currentThread().isInterrupted())
                            .get(20, TimeUnit.SECONDS))
                    .as("an interrupt left to the next task of the pool")
                    .isFalse();
            assertThat(answers()).hasSize(1);
            rig.ends(agent, "without it");
            assertThat(now(turn.result()).text()).isEqualTo("without it");
        }
    }
}
