package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.StopMode;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pause with a deadline that begins when nothing is in flight any more (MB-09). */
class DrainTest extends CoreScenario {
    private static final Duration LONG = Duration.ofMinutes(5);

    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    @Test
    @Tag("MB-09")
    @Tag("MB-19")
    void drain_withNothingInFlight_pausesAtOnce() {
        session.exchange("1");
        session.drain(LONG);
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().phaseReason()).startsWith(Core.DRAIN);
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        session.ended("end of input", "");
        assertThat(session.durable().lastEnd()).isEqualTo("DRAINED");
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-08")
    @Tag("MB-09")
    void drain_ofAPausedSession_leavesItPausedAsItWas() {
        running();
        session.pause("budget");
        session.drain(LONG);
        assertThat(session.durable().phase()).isEqualTo(Phase.DRAINING);
        session.result("1");
        session.idle();

        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().phaseReason())
                .as("no drain: who takes the session up does not resume it")
                .isEqualTo("budget");
    }

    @Test
    @Tag("MB-09")
    void drain_inATurn_letsItEndAndTakesNothingMore() {
        running();
        long before = session.message();
        session.drain(LONG);
        long meanwhile = session.message();
        assertThat(session.durable().phase()).isEqualTo(Phase.DRAINING);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("1");
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().turn()).isEmpty();
        session.idle();
        session.ended("end of input", "");
        assertThat(session.durable().lastEnd()).isEqualTo("DRAINED");
        assertThat(session.outcome(before)).isEmpty();

        session.resume();
        session.up(session.remembers(1));
        assertThat(session.inTurn()).containsExactly(before);
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(meanwhile);
    }

    @Test
    @Tag("MB-09")
    void drain_isSticky_whateverArrives() {
        running();
        session.drain(LONG);
        session.steer();
        session.arrive(ArrivalKind.CLEAR);
        assertThat(session.told()).isEmpty();
        session.replace();
        session.interruptAnswered();
        session.idle();
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().forgotten()).isZero();
    }

    @Test
    @Tag("IN-17")
    @Tag("MB-09")
    @Tag("MB-19")
    void drain_atItsDeadline_pausesAndTheTurnGoesOnAfterTheResume() {
        running();
        var id = session.line();
        session.drain(LONG);
        var by = session.now().plus(LONG);
        assertThat(session.durable().drainBy()).contains(by);
        assertThat(session.dueAt()).contains(by);
        session.tick(LONG);

        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().phaseReason()).contains("turn 1 open");
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.BUSY);
        session.ended("asked to", "");
        assertThat(session.durable().lastEnd()).isEqualTo("DRAINED");
        assertThat(session.turn().agentDeaths()).isZero();
        assertThat(session.sleepable()).isTrue();
        session.resume();
        session.up(session.hasOpen(id));
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("IN-17")
    @Tag("MB-09")
    void drain_overAHostDeath_keepsItsDeadline() {
        running();
        session.drain(LONG);
        var by = session.now().plus(LONG);
        session.sleep(Duration.ofMinutes(4));
        session.hostCrash();
        assertThat(session.durable().drainBy()).contains(by);
        assertThat(session.wakeAt()).contains(by);
        assertThat(session.live().stage()).as("the turn may end").isEqualTo(AgentStage.PLANNED);
        session.tick(Duration.ofMinutes(1));
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.effects()).isEmpty();
        assertThat(session.durable().turn()).isPresent();
    }

    @Test
    @Tag("MB-09")
    void crash_whileDraining_isMendedWithinTheDeadline() {
        running();
        var id = session.line();
        session.drain(LONG);
        session.died();
        session.tickDue();
        session.up(session.hasOpen(id));
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
    }

    @Test
    @Tag("MB-09")
    @Tag("MB-12")
    void drain_betweenResultAndIdle_waitsForTheIdle() {
        running();
        session.result("1");
        session.drain(LONG);
        assertThat(session.durable().phase()).as("nothing is in flight").isEqualTo(Phase.PAUSED);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("end of input", "");
        assertThat(session.durable().lastEnd()).isEqualTo("DRAINED");
    }

    @Test
    @Tag("MB-12")
    @Tag("MB-13")
    void drain_inATurnOfTheAgentsOwn_closesNothingInMidTurn() {
        session.exchange("1");
        session.busy();
        session.drain(LONG);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("MB-09")
    void drain_ofASessionThatIsPausedWithItsTurnRunning_waitsForTheTurn() {
        running();
        session.pause("money");
        session.drain(LONG);
        assertThat(session.durable().phase()).isEqualTo(Phase.DRAINING);
        session.result("1");
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-08")
    @Tag("MB-09")
    @Tag("TN-04")
    void drain_ofAPausedSessionWithoutAProcess_hasNothingInFlight() {
        session.message();
        session.pause("money");
        session.sleep(Duration.ofHours(1));
        long drain = session.drain(LONG);
        assertThat(session.done(drain)).isEqualTo("nothing to drain");
        assertThat(session.durable().phaseReason()).isEqualTo("money");
        assertThat(session.effects()).as("a pause is no reason to begin").isEmpty();
        assertThat(session.outcome(1))
                .as("its time did not run out in the pause")
                .isEmpty();
    }

    @Test
    @Tag("MB-09")
    void drain_twice_keepsTheFirstDeadline() {
        running();
        session.drain(LONG);
        var by = session.durable().drainBy();
        long again = session.drain(Duration.ofHours(1));
        assertThat(session.done(again)).isEqualTo("nothing to drain");
        assertThat(session.durable().drainBy()).isEqualTo(by);
    }

    @Test
    @Tag("MB-09")
    void resume_whileDraining_goesOnAsIfNothingHadBeen() {
        running();
        long waiting = session.message();
        session.drain(LONG);
        session.resume();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.durable().drainBy()).isEmpty();
        session.tick(LONG);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.result("1");
        assertThat(session.inTurn()).containsExactly(waiting);
    }

    @Test
    void pause_whileDraining_hasNoDeadline() {
        running();
        session.drain(LONG);
        session.pause("money");
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().drainBy()).isEmpty();
        session.tick(LONG);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
    }

    @Test
    @Tag("P2")
    void close_whileDraining_endsEverything() {
        running();
        long waiting = session.message();
        session.drain(LONG);
        session.close("given up");
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        assertThat(session.outcome(waiting)).contains(Outcome.CLOSED);
        assertThat(session.durable().drainBy()).isEmpty();
    }

    @Test
    @Tag("HS-13")
    void fatalResult_whileDraining_parks() {
        running();
        session.drain(LONG);
        session.result(
                new TurnResult(TurnResult.Ending.FAILED, "", "no credit", Usage.unknown(), List.of(), "", "r", true));
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.durable().drainBy()).isEmpty();
    }

    @Test
    void drain_whileParked_hasNothingToDo() {
        running();
        session.ended("not installed", "not_found");
        long drain = session.drain(LONG);
        assertThat(session.done(drain)).isEqualTo("nothing to drain");
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
    }

    @Test
    @Tag("MB-09")
    @Tag("P2")
    void steer_writtenWhenTheDrainedTurnEnds_isStillInFlight() {
        running();
        long steer = session.steer();
        session.drain(LONG);
        session.result("1");
        assertThat(session.durable().phase()).isEqualTo(Phase.DRAINING);
        session.idle();
        session.answered("2");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
    }
}
