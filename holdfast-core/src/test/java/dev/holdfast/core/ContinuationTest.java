package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Knowledge;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.TurnResult;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Going on after the agent's limit of steps, and not for ever (MB-15). */
class ContinuationTest extends CoreScenario {
    private void running() {
        session.message();
        session.up();
        session.landed();
    }

    private void limit() {
        session.result(CoreDriver.result(TurnResult.Ending.TURN_LIMIT, "half", List.of()));
        session.idle();
    }

    /** The told line lands and its turn reaches the limit. */
    private void onToTheLimit() {
        session.landed();
        limit();
    }

    @Test
    @Tag("MB-15")
    @Tag("TN-12")
    void turnLimit_settlesItsMessageAndGoesOnInATurnOfItsOwn() {
        running();
        var line = session.line();
        limit();

        assertThat(session.outcome(1)).contains(Outcome.TURN_LIMIT);
        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
        assertThat(session.turn().original().messages()).isEmpty();
        assertThat(session.line()).isNotEqualTo(line);
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
        session.answered("whole");
        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(session.durable().turn()).as("once").isEmpty();
        assertThat(session.durable().consumed()).as("it is no message").isEqualTo(1);
        assertThat(session.durable().ordinaryDone()).isEqualTo(1);
    }

    @Test
    @Tag("MB-15")
    void continuation_waitsForWhatWaited_andGoesBeforeWhatCameLater() {
        running();
        long second = session.message();
        long third = session.message();
        limit();
        long later = session.message();
        assertThat(session.inTurn()).containsExactly(second);
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(third);
        session.answered("3");
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
        session.answered("rest of 1");
        assertThat(session.inTurn()).containsExactly(later);
    }

    @Test
    @Tag("MB-15")
    void continuations_threeInARow_parkTheSessionWithAReason() {
        running();
        limit();
        onToTheLimit();
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.durable().phaseReason()).contains("3 times").contains("limit");
        assertThat(session.durable().turn()).isEmpty();
        session.ended("asked to", "");
        assertThat(session.sleepable()).isTrue();

        session.resume();
        assertThat(session.turn().original().kind()).as("it goes on").isEqualTo(Told.Kind.AFTER_LIMIT);
        session.up(session.remembers(4));
        session.answered("whole");
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
    }

    @Test
    @Tag("MB-15")
    void message_betweenContinuations_beginsTheCountAnew() {
        running();
        limit();
        onToTheLimit();
        session.message();
        onToTheLimit();
        session.answered("a real message");
        onToTheLimit();
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
    }

    @Test
    @Tag("MB-15")
    void steer_thatLandsInAContinuation_isARealMessage() {
        running();
        limit();
        onToTheLimit();
        session.landed();
        session.steer();
        session.landed();
        limit();
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
    }

    @Test
    @Tag("MB-15")
    @Tag("MB-16")
    void requestOfTheHost_betweenContinuations_isNoProgress() {
        running();
        limit();
        onToTheLimit();
        session.landed();
        session.internal();
        limit();
        session.answered("summary");
        onToTheLimit();
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
    }

    @Test
    @Tag("IN-06")
    @Tag("MB-15")
    void turnLimit_ofATurnThatWasCancelled_isNoReasonToGoOn() {
        running();
        session.cancel();
        limit();
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().continueAfter()).isEmpty();
    }

    @Test
    @Tag("IN-06")
    void cancel_ofAContinuation_endsIt() {
        running();
        limit();
        session.landed();
        session.cancel();
        session.interruptAnswered();
        session.idle();
        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("IN-06")
    void cancel_acceptedJustBeforeTheContinuationWasOpened_endsIt() {
        session.message();
        session.up();
        session.landed();
        session.pause("");
        limit();
        session.ended("asked to", "");
        session.accept(ArrivalKind.RESUME);
        session.accept(ArrivalKind.CANCEL);
        session.readAgain(session.durable().takenThrough() + 1);
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
        session.read();
        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.CANCELLED);
    }

    @Test
    @Tag("MB-15")
    @Tag("MB-17")
    void continuation_overAHostDeath_waitsForTheSameMessages() {
        running();
        long second = session.message();
        limit();
        session.hostCrash();
        session.newOwner();
        assertThat(session.inTurn()).containsExactly(second);
        session.up(session.remembers(1));
        session.answered("2");
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
    }

    @Test
    @Tag("MB-15")
    void continuation_ofAnOwnerThatHasReadNothing_waitsForItsMail() {
        running();
        session.pause("");
        long second = session.message();
        limit();
        session.resume();
        session.hostCrash(Settings.of(Settings.Taker.NOBODY));
        session.newOwner();
        session.hostCrash(Settings.standard());
        assertThat(session.inTurn()).containsExactly(second);
    }

    @Test
    @Tag("MB-15")
    @Tag("TN-08")
    void continuation_whoseAgentDies_isTakenUpLikeAnyTurn() {
        running();
        limit();
        var id = session.line();
        session.landed();
        session.died();
        session.tickDue();
        session.up(session.hasOpen(id));
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        session.answered("whole");
        assertThat(session.turnsOpened()).isEqualTo(2);
    }

    @Test
    @Tag("MB-15")
    @Tag("TN-08")
    void turnLimit_foundInTheRecord_goesOnToo() {
        running();
        var id = session.line();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT,
                0,
                List.of(),
                List.of(id),
                new Knowledge.Tail.Answered(CoreDriver.result(TurnResult.Ending.TURN_LIMIT, "half", List.of()))));
        assertThat(session.outcome(1)).contains(Outcome.TURN_LIMIT);
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
    }

    @Test
    @Tag("IN-20")
    @Tag("MB-15")
    void clear_beforeTheContinuation_leavesNothingToGoOnWith() {
        running();
        session.arrive(ArrivalKind.CLEAR);
        limit();
        session.ended("end of input", "");
        assertThat(session.durable().forgotten()).isEqualTo(1);
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().continueAfter()).isEmpty();
    }

    @Test
    @Tag("MB-15")
    @Tag("TN-09")
    void afterIdle_withAContinuationQueued_waitsForItsEnd() {
        running();
        long patient = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        session.pause("");
        limit();
        session.ended("asked to", "");
        session.resume();
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
        session.up(session.remembers(1));
        session.answered("whole");
        assertThat(session.inTurn()).containsExactly(patient);
    }

    @Test
    @Tag("MB-08")
    @Tag("MB-15")
    void turnLimit_whilePaused_goesOnAfterTheResume() {
        running();
        session.pause("money");
        limit();
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().continueAfter()).isPresent();
        session.ended("end of input", "");
        assertThat(session.sleepable()).isTrue();
        session.hostCrash();
        session.resume();
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
    }

    @Test
    @Tag("MB-15")
    void continuations_howMany_isConfigurable() {
        var standard = Limits.standard();
        var one = new CoreDriver(new Limits(
                standard.turn(),
                standard.interrupt(),
                standard.idle(),
                standard.restartDelays(),
                3,
                10,
                1,
                standard.unused(),
                64));
        one.message();
        one.up();
        for (int i = 0; i < 2; i++) {
            one.landed();
            one.result(CoreDriver.result(TurnResult.Ending.TURN_LIMIT, "half", List.of()));
            one.idle();
        }
        assertThat(one.durable().phase()).isEqualTo(Phase.PARKED);
    }
}
