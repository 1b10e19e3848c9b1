package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CloseReason;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.StopMode;
import dev.holdfast.TurnResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pauses: accepting, giving nothing, and nothing lost (MB-08). */
class PauseTest extends CoreScenario {
    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    @Test
    @Tag("MB-08")
    void pause_inATurn_letsItEndAndGivesNothingMore() {
        running();
        long waiting = session.message();
        session.pause("money");
        session.result("1");
        session.idle();

        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().phaseReason()).isEqualTo("money");
        assertThat(session.durable().turn()).isEmpty();
        session.ended("end of input", "");
        assertThat(session.durable().lastEnd()).isEqualTo("PAUSED");
        long later = session.message();
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.waits()).isTrue();
        assertThat(session.sleepable()).isTrue();

        session.resume();
        assertThat(session.inTurn()).containsExactly(waiting);
        session.up(session.remembers(1));
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(later);
    }

    @ParameterizedTest
    @ValueSource(strings = {CloseReason.TOKEN_BUDGET, CloseReason.MONEY_BUDGET})
    @Tag("MB-08")
    void close_forABudget_isAPause(String reason) {
        running();
        session.message();
        session.close(reason);
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.durable().phaseReason()).isEqualTo(reason);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        assertThat(session.outcome(2)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "something", "TOKEN-BUDGET", "token-budget "})
    @Tag("MB-08")
    void close_forAnyOtherReason_isTheEnd(String reason) {
        running();
        session.close(reason);
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
    }

    @Test
    @Tag("MB-08")
    @Tag("MB-17")
    void pause_survivesAHostDeathAndItsResumeLosesNothing() {
        running();
        var id = session.line();
        long waiting = session.message();
        session.pause("money");
        session.hostCrash();
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.effects()).as("nothing runs").isEmpty();
        assertThat(session.durable().consumed()).as("given back").isZero();
        assertThat(session.sleepable()).isTrue();

        session.resume();
        session.up(session.hasOpen(id));
        session.answered("1");
        session.answered("2");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(session.outcome(waiting)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-08")
    @Tag("TN-04")
    void resume_withATurnOpen_givesItItsWholeTimeAgain() {
        session.message();
        session.pause("money");
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        session.sleep(Duration.ofHours(3));
        session.resume();
        session.up();
        assertThat(session.told()).isPresent();
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-08")
    void pause_betweenTurns_endsTheProcess() {
        session.exchange("1");
        session.pause("");
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        session.ended("end of input", "");
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.PAUSED);
    }

    @Test
    @Tag("MB-12")
    void pause_betweenResultAndIdle_waitsForTheIdle() {
        running();
        session.result("1");
        session.pause("");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("MB-12")
    @Tag("MB-13")
    void pause_inATurnOfTheAgentsOwn_waitsForItsEnd() {
        session.exchange("1");
        session.busy();
        session.pause("");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("MB-08")
    void pause_twice_keepsTheFirstReason() {
        session.pause("first");
        long again = session.pause("second");
        assertThat(session.done(again)).isEqualTo("nothing to pause");
        assertThat(session.durable().phaseReason()).isEqualTo("first");
        long budget = session.close(CloseReason.TOKEN_BUDGET);
        assertThat(session.done(budget)).isEqualTo("nothing to pause");
        assertThat(session.durable().phaseReason()).isEqualTo("first");
    }

    @Test
    @Tag("MB-08")
    void steer_whilePaused_isNotTold() {
        running();
        session.pause("");
        long steer = session.steer();
        assertThat(session.told()).isEmpty();
        session.result("1");
        session.idle();
        session.ended("end of input", "");
        assertThat(session.outcome(steer)).isEmpty();
        session.resume();
        assertThat(session.inTurn()).containsExactly(steer);
    }

    @Test
    @Tag("MB-08")
    void crash_whilePaused_isMendedOnlyAfterTheResume() {
        running();
        var id = session.line();
        session.pause("");
        session.died();
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        assertThat(session.sleepable()).isTrue();
        session.tick(Duration.ofHours(1));
        assertThat(session.effects()).isEmpty();
        session.resume();
        assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
        session.up(session.hasOpen(id));
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-08")
    void resume_ofAnOpenSession_doesNothing() {
        running();
        long resume = session.resume();
        assertThat(session.done(resume)).isEqualTo("nothing to resume");
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
    }

    @Test
    @Tag("HS-13")
    @Tag("MB-08")
    void pause_ofAParkedSession_doesNothing_andAFatalResultParksAPausedOne() {
        running();
        session.pause("money");
        session.result(new TurnResult(
                TurnResult.Ending.FAILED, "", "not logged in", dev.holdfast.Usage.unknown(), List.of(), "", "r", true));
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        long pause = session.pause("money");
        assertThat(session.done(pause)).isEqualTo("nothing to pause");
        assertThat(session.durable().phaseReason()).isEqualTo("not logged in");
    }

    @Test
    @Tag("P2")
    void close_ofAPausedSession_endsWhatWaits() {
        running();
        session.pause("");
        long waiting = session.message();
        session.close("given up");
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        assertThat(session.outcome(waiting)).contains(Outcome.CLOSED);
    }

    @Test
    @Tag("IN-06")
    @Tag("MB-08")
    void cancel_ofAPausedSessionsTurn_endsItWithoutAProcess() {
        session.message();
        session.pause("");
        long next = session.message();
        session.cancelTurn(1);
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
        session.cancel();
        assertThat(session.outcome(next)).as("the message next to run").contains(Outcome.CANCELLED);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-14")
    void waits_tellsWhetherMailIsThere_andIdleWhetherTheAgentRests() {
        assertThat(session.waits()).isFalse();
        assertThat(session.rests()).as("no process").isFalse();
        session.accept(ArrivalKind.MESSAGE);
        session.pause("");
        assertThat(session.waits()).isTrue();
        session.resume();
        assertThat(session.waits()).as("it is in its turn").isFalse();
        session.up();
        session.landed();
        assertThat(session.rests()).isFalse();
        session.result("1");
        assertThat(session.rests()).as("it has not said idle").isFalse();
        session.idle();
        assertThat(session.rests()).isTrue();
        session.busy();
        assertThat(session.rests()).as("it works by itself").isFalse();
    }

    @Test
    @Tag("MB-14")
    void process_ofASessionWithoutMail_isNotStarted() {
        session.pause("");
        session.resume();
        session.tick(Duration.ofDays(1));
        assertThat(session.effects()).isEmpty();
        assertThat(session.journal(Event.IncarnationPlanned.class)).isEmpty();
    }

    // ---- the process between turns --------------------------------------------------------------------------------

    @Test
    @Tag("CH-05")
    @Tag("MB-11")
    void idle_forItsTime_endsTheProcessAndALaterMessageGoesOnByResume() {
        session.exchange("1");
        session.tick(Limits.standard().idle().minusMillis(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.tick(Duration.ofMillis(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("end of input", "");
        assertThat(session.durable().lastEnd()).isEqualTo("IDLE");
        assertThat(session.sleepable()).isTrue();

        session.message();
        session.slotGranted();
        session.known(session.remembers(1));
        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().resume()).isTrue();
    }

    @Test
    @Tag("MB-11")
    @Tag("MB-19")
    void message_whileTheIdleProcessEnds_doesNotChangeWhyItEnded() {
        session.exchange("1");
        session.tick(Limits.standard().idle());
        session.message();
        session.ended("end of input", "");
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.IDLE);
        assertThat(session.durable().lastEnd()).isEqualTo("IDLE");
        assertThat(session.durable().consumed())
                .as("given back for the next process")
                .isEqualTo(2);
    }

    @Test
    @Tag("MB-12")
    void idleWindow_beginsAgainAfterATurnAndAfterATurnOfTheAgentsOwn() {
        var most = Limits.standard().idle().minusSeconds(1);
        session.exchange("1");
        session.tick(most);
        session.exchange("2");
        session.tick(most);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.busy();
        session.tick(Duration.ofHours(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        session.tick(most);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.tick(Duration.ofSeconds(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("CH-05")
    void idle_ofASessionThatStaysOpen_keepsTheProcessUntilItsPlaceIsNeeded() {
        var staying = new CoreDriver(Limits.standard(), new Settings(true, false, false, Settings.Taker.AGENT));
        staying.exchange("1");
        staying.tick(Duration.ofHours(5));
        assertThat(staying.live().stage()).isEqualTo(AgentStage.READY);
        assertThat(staying.dueAt())
                .as("no idle exit is due, only that of a process that is a day old (HS-14)")
                .hasValueSatisfying(at -> assertThat(at).isAfter(staying.now().plus(Duration.ofHours(18))));
        staying.slot(Input.SlotAnswer.PLEASE_FREE);
        staying.ended("end of input", "");
        assertThat(staying.durable().lastEnd()).isEqualTo("EVICTED");
    }
}
