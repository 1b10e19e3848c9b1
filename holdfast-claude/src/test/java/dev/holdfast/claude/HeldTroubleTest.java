package dev.holdfast.claude;

import static dev.holdfast.claude.HeldRig.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.TurnMark;
import dev.holdfast.claude.TurnRequest.IfBusy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a held session does when something under it or around it fails or comes at the worst moment. */
@Timeout(60)
class HeldTroubleTest {
    private static final SessionHandle A = new SessionHandle("a");

    @TempDir
    Path home;

    private HeldRig rig = null;

    private HeldRig rig(UnaryOperator<HeldOptions> change) {
        rig = new HeldRig(home, change);
        return rig;
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    /** A session whose agent has answered a turn, of which its record knows nothing. */
    private void answeredBefore() {
        new HandleBook(home.resolve("held").resolve("handles"), new StreamJson(1 << 20))
                .write(A, new HandleBook.Entry("a", "gone", Optional.of(new TurnMark(3, List.of(), "x"))));
    }

    private static void fails(HeldTurn turn, Class<? extends HeldFailure> why) {
        assertThat(turn.isDone()).isTrue();
        assertThatThrownBy(() -> now(turn.result())).isInstanceOf(why);
    }

    // ---- alarms

    @Test
    @Tag("HS-04")
    void alarms_ofHundredsOfTurns_areAFewAndNoneAfterTheEnd() {
        rig(options -> options.recycling(Duration.ofHours(24), 4L << 30, 1_000_000));
        rig.ask(A, "first");
        FakeAgents.Fake agent = rig.agents.last();
        rig.ready(agent);
        rig.answers(agent, "x");
        for (int i = 0; i < 400; i++) {
            HeldTurn turn = rig.ask(A, "turn " + i);
            rig.begins(agent);
            rig.advance(Duration.ofSeconds(25));
            rig.ends(agent, "x");
            assertThat(turn.isDone()).isTrue();
            rig.advance(Duration.ofSeconds(5));
            assertThat(rig.background.pending()).isLessThanOrEqualTo(2);
        }
        var closed = rig.sessions.close(A);
        rig.exits(agent);
        assertThat(closed.toCompletableFuture()).isDone();
        assertThat(rig.background.pending()).isZero();
    }

    @Test
    void alarm_replacedWhileItRings_doesNothing() {
        var background = new ManualBackground();
        var rings = new ArrayDeque<Runnable>();
        var sounded = new AtomicInteger();
        var alarm = new Alarm(background, rings::add, sounded::incrementAndGet);
        long due = background.nanoTime() + 1_000;
        alarm.set(OptionalLong.of(due));
        background.advance(Duration.ofNanos(1_000));
        alarm.set(OptionalLong.of(due - 500));
        rings.remove().run();
        assertThat(sounded).hasValue(0);
        background.advance(Duration.ofNanos(1));
        rings.remove().run();
        assertThat(sounded).hasValue(1);
        assertThat(background.pending()).isZero();
    }

    // ---- starts

    @Test
    @Tag("HS-02")
    void start_withoutAThreadForIt_failsTheTurnAndTheNextOneWorks() {
        rig(options -> options);
        rig.background.runFailure = new OutOfMemoryError("unable to create native thread");
        HeldTurn first = rig.ask(A, "one");
        fails(first, HeldFailure.StartFailed.class);
        assertThat(rig.sessions.processes()).isZero();
        HeldTurn second = rig.ask(A, "two");
        rig.advance(Duration.ofSeconds(2));
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "hi");
        assertThat(now(second.result()).text()).isEqualTo("hi");
    }

    @Test
    @Tag("HS-02")
    void start_whoseProcessCannotEvenBeDescribed_failsTheTurnAndFreesItsPlace() {
        rig(options -> options);
        rig.background.atNextLook = () -> rig.background.atNextLook = () -> {
            throw new OutOfMemoryError("heap");
        };
        HeldTurn turn = rig.ask(A, "hello");
        fails(turn, HeldFailure.StartFailed.class);
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.sessions.processes()).isZero();
        HeldTurn next = rig.ask(A, "again");
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "x");
        assertThat(now(next.result()).text()).isEqualTo("x");
    }

    @Test
    @Tag("HS-05")
    void retelling_thatThrowsAnError_tellsNothingAndSaysSo() {
        rig(options -> options.retelling(handle -> {
            throw new AssertionError("user code");
        }));
        answeredBefore();
        HeldTurn turn = rig.ask(A, "hi");
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "x");
        assertThat(now(turn.result()).text()).isEqualTo("x");
        assertThat(rig.events(HeldEvent.Ready.class).getLast().memory()).isEqualTo(HeldEvent.Memory.LOST);
        assertThat(rig.events(HeldEvent.Noticed.class))
                .anySatisfy(noticed -> assertThat(noticed.what()).isEqualTo("retelling_failed"));
    }

    @Test
    @Tag("HS-02")
    void retelling_thatNeverReturns_failsTheStartAtItsDeadline() {
        var kept = new ArrayDeque<Runnable>();
        var holding = new boolean[1];
        rig(options -> options.retelling(handle -> Optional.of("once")).executor(task -> {
            if (holding[0]) {
                kept.add(task);
            } else {
                task.run();
            }
        }));
        answeredBefore();
        holding[0] = true;
        HeldTurn turn = rig.ask(A, "hi");
        holding[0] = false;
        assertThat(rig.agents.started).isEmpty();
        rig.advance(HeldRig.agent().deadlines().start().plusSeconds(1));
        fails(turn, HeldFailure.StartTimedOut.class);
        assertThat(rig.sessions.processes()).isZero();
        kept.forEach(Runnable::run);
        rig.background.work();
        assertThat(rig.agents.started).isEmpty();
    }

    // ---- limits

    @Test
    @Tag("HS-14")
    void memory_overItsLimitFromTheStart_isNoReasonBeforeTheFirstTurn() {
        rig(options -> options);
        rig.memory = 5L << 30;
        HeldTurn turn = rig.ask(A, "hi");
        FakeAgents.Fake agent = rig.agents.last();
        rig.ready(agent);
        assertThat(agent.stopped).isNull();
        rig.answers(agent, "x");
        assertThat(now(turn.result()).text()).isEqualTo("x");
        rig.advance(Duration.ofSeconds(20));
        HeldTurn second = rig.ask(A, "again");
        assertThat(agent.stopped).isNotNull();
        rig.exits(agent);
        assertThat(rig.agents.last()).isNotSameAs(agent);
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "y");
        assertThat(now(second.result()).text()).isEqualTo("y");
    }

    // ---- trouble that lasts

    private void crashes(String text, Duration delay) {
        HeldTurn turn = rig.ask(A, text);
        rig.advance(delay);
        rig.ready(rig.agents.last());
        rig.begins(rig.agents.last());
        rig.agents.last().exits("exit code 139", "segfault");
        rig.background.work();
        fails(turn, HeldFailure.DiedInTurn.class);
    }

    @Test
    @Tag("HS-13")
    void trouble_ofASessionNobodyUses_isAllThatIsKeptOfIt() {
        rig(options -> options);
        for (int delay : new int[] {0, 1, 5, 15}) {
            crashes("crash", Duration.ofSeconds(delay));
            assertThat(rig.sessions.awake()).isZero();
            assertThat(rig.background.pending()).isZero();
        }
        assertThat(rig.events(HeldEvent.RestartDelayed.class))
                .extracting(event -> event.delay().toSeconds())
                .containsExactly(1L, 5L, 15L);
        fails(rig.ask(A, "once more"), HeldFailure.Parked.class);
        fails(rig.ask(A, "and again"), HeldFailure.Parked.class);
        assertThat(rig.sessions.awake()).isZero();
        rig.sessions.unpark(A);
        HeldTurn free = rig.ask(A, "free");
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "fine");
        assertThat(now(free.result()).text()).isEqualTo("fine");
    }

    @Test
    @Tag("HS-13")
    void trouble_ofASessionThatIsClosed_isForgotten() {
        rig(options -> options);
        crashes("crash", Duration.ZERO);
        assertThat(rig.sessions.close(A).toCompletableFuture()).isCompleted();
        crashes("crash", Duration.ZERO); // at once
        assertThat(rig.events(HeldEvent.RestartDelayed.class))
                .extracting(HeldEvent.RestartDelayed::delay)
                .containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(1));
    }

    // ---- closing

    @Test
    @Tag("HS-08")
    void start_thatClosingOvertakes_startsNoAgent() {
        rig(options -> options);
        rig.background.atNextLook = rig.sessions::close; // inside start, which has seen them open
        HeldTurn turn = rig.ask(A, "hi");
        fails(turn, HeldFailure.Closed.class);
        assertThat(rig.agents.started).isEmpty();
        assertThat(rig.sessions.awake()).isZero();
    }

    @Test
    @Tag("HS-08")
    void spare_closedBeforeItWasStarted_isNotStarted() throws InterruptedException {
        var agent = HeldRig.agent();
        rig(options -> options.spares(agent, 2));
        for (FakeAgents.Fake spare : List.copyOf(rig.agents.started)) {
            rig.ready(spare);
            rig.exits(spare);
        }
        var closing = new Thread(rig.sessions::close);
        Runnable closes = () -> { // while the first of two new spares is being started
            closing.start();
            await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
        };
        rig.background.atNextLook = () -> rig.background.atNextLook = () -> rig.background.atNextLook = closes;
        rig.background.advance(Duration.ofSeconds(5));
        assertThat(rig.sessions.processes()).isEqualTo(1);
        rig.background.work();
        assertThat(closing.join(Duration.ofSeconds(30))).isTrue();
        assertThat(rig.agents.started).hasSize(2);
    }

    @Test
    @Tag("HS-04")
    void place_grantedToARequestThatWasGivenUp_isNotTakenFromTheNextOne() {
        rig(options -> options.processes(1));
        HeldTurn other = rig.ask(new SessionHandle("other"), "hi");
        rig.ready(rig.agents.last());
        FakeAgents.Fake first = rig.agents.last();
        rig.begins(first);
        TurnRequest queued = TurnRequest.of("in vain").ifBusy(IfBusy.QUEUE);
        HeldTurn one = rig.ask(A, queued);
        HeldTurn two = rig.ask(A, queued);
        rig.ends(first, "x");
        assertThat(other.isDone()).isTrue();
        assertThat(first.stopped).isNotNull();
        List<HeldTurn> next = new ArrayList<>();
        one.result().whenComplete((result, failure) -> { // within a step of the session: what follows waits for its end
            two.cancel();
            next.add(rig.sessions.start(A, HeldRig.agent(), TurnRequest.of("next")));
            rig.exits(first);
        });
        one.cancel();
        rig.background.work();
        assertThat(two.isDone()).isTrue();
        assertThat(rig.sessions.processes()).isEqualTo(1);
        rig.ready(rig.agents.last());
        rig.answers(rig.agents.last(), "y");
        assertThat(now(next.getFirst().result()).text()).isEqualTo("y");
        assertThat(rig.sessions.processes()).isEqualTo(1);
    }
}
