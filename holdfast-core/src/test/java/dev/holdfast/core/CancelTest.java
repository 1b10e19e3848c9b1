package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.StopMode;
import dev.holdfast.TurnResult;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Cancels in all timings (IN-06, IN-13). */
class CancelTest extends CoreScenario {
    @Test
    @Tag("IN-06")
    void cancel_ofAWaitingMessage_takesItOutOfTheQueue() {
        session.message();
        long waiting = session.message();
        long after = session.message();
        session.cancelMessage(waiting);

        assertThat(session.outcome(waiting)).contains(Outcome.CANCELLED);
        session.up();
        session.answered("1");
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(after);
        assertThat(session.turn().number()).isEqualTo(2);
    }

    @Test
    @Tag("IN-06")
    void cancel_rightBehindASend_isNeverLost() {
        long message = session.accept(ArrivalKind.MESSAGE);
        long next = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.read();

        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(next);
    }

    @Test
    @Tag("IN-06")
    void cancel_rightBehindASend_endsTheTurnThatWasOpenedMeanwhile() {
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.readAgain(message);
        session.up();
        session.landed();
        session.read();

        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        session.interruptAnswered();
        session.idle();
        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("IN-05")
    @Tag("IN-06")
    void cancel_readAheadOfItsMessage_waitsForIt() {
        long message = session.accept(ArrivalKind.MESSAGE);
        long next = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.readUrgent();
        assertThat(session.sleepable()).as("an owner with a cancel to act on").isFalse();
        session.read();

        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(next);
    }

    @Test
    @Tag("IN-06")
    @Tag("TN-09")
    void cancel_beforeAMessageThatRunsBeforeEverything_takesOutWhatWasNextThen() {
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        long replace = session.accept(ArrivalKind.REPLACE);
        session.readUrgent();
        session.read();

        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
        assertThat(session.outcome(replace)).isEmpty();
        assertThat(session.inTurn()).containsExactly(replace);
    }

    @Test
    @Tag("IN-06")
    @Tag("MB-21")
    void cancel_withALaterMessageWithdrawn_takesOutTheOneNextToRun() {
        session.accept(ArrivalKind.EVICT);
        long next = session.accept(ArrivalKind.MESSAGE);
        long later = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.accept(ArrivalKind.WITHDRAW, CoreDriver.about(later));
        session.readUrgent();
        session.read();

        assertThat(session.outcome(next)).contains(Outcome.CANCELLED);
        assertThat(session.outcome(later)).contains(Outcome.WITHDRAWN);
    }

    @Test
    @Tag("IN-05")
    @Tag("IN-06")
    void cancelOfAMessage_readAheadOfIt_waitsForIt() {
        session.accept(ArrivalKind.MESSAGE);
        long second = session.accept(ArrivalKind.MESSAGE);
        session.acceptCancelOfMessage(second);
        session.readUrgent();
        session.read();

        assertThat(session.outcome(second)).contains(Outcome.CANCELLED);
        assertThat(session.outcome(1)).isEmpty();
    }

    @Test
    @Tag("IN-05")
    void cancelOfTheTurn_readAheadOfEverything_actsAtOnce() {
        session.message();
        session.up();
        session.landed();
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.readUrgent();

        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
    }

    @Test
    @Tag("IN-06")
    void cancel_boundToAMessageThatHasRunSince_cancelsNothingElse() {
        long first = session.accept(ArrivalKind.MESSAGE);
        long cancel = session.accept(ArrivalKind.CANCEL);
        session.readAgain(first);
        session.up();
        session.answered("1");
        session.message();

        assertThat(session.done(cancel)).isNotEmpty();
        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
    }

    @Test
    @Tag("IN-06")
    void cancels_twoOfOneMessage_takeOnlyThatOne() {
        session.accept(ArrivalKind.MESSAGE);
        long second = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.accept(ArrivalKind.CANCEL);
        session.read();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.outcome(second)).isEmpty();
    }

    @Test
    @Tag("IN-06")
    void cancel_ofASteerThatLandedAhead_leavesTheNextMessageItsCancel() {
        session.message();
        long waiting = session.message();
        session.up();
        session.landed();
        session.steer();
        session.landed();
        session.result(new TurnResult(
                TurnResult.Ending.FAILED, "", "quota", dev.holdfast.Usage.unknown(), List.of(), "", "r", true));
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        session.cancel();

        assertThat(session.outcome(waiting)).as("it was next to run").contains(Outcome.CANCELLED);
    }

    @Test
    void cancel_withNothingThere_saysSo() {
        long cancel = session.cancel();
        assertThat(session.done(cancel)).contains("nothing");
        long message = session.message();
        assertThat(session.outcome(message)).isEmpty();
    }

    @Test
    void cancel_beforeThePlaceIsGranted_settlesAndGivesThePlaceBack() {
        session.message();
        session.cancel();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.effects()).isEmpty();
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.STOPPED);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-13")
    void cancel_whileTheProcessStarts_settlesWithoutAWord() {
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.cancel();
        session.verified();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.newest(Event.TurnSettled.class).messages()).hasSize(1);
        assertThat(session.told()).isEmpty();
    }

    @Test
    @Tag("TN-14")
    void cancel_ofAWrittenLine_waitsForItsLandingBeforeItInterrupts() {
        session.message();
        session.up();
        session.cancel();
        assertThat(session.effect(Effect.Interrupt.class)).isEmpty();

        session.landed();
        assertThat(session.effect(Effect.Interrupt.class).orElseThrow().turn()).isEqualTo(1);
    }

    @Test
    @Tag("TN-14")
    void cancel_ofAWrittenLineThatNeverLands_endsTheProcess() {
        session.message();
        session.up();
        session.cancel();
        session.tickDue();

        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.BUSY);
        session.ended("asked to", "");
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("IN-13")
    @Tag("TN-02")
    void cancel_ofARunningTurn_settlesCancelledWhateverTheResultSays() {
        session.message();
        session.up();
        session.landed();
        session.busy();
        session.cancel();
        session.result("done after all");

        var settled = session.newest(Event.TurnSettled.class);
        assertThat(settled.outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(settled.evidence()).isEqualTo(Event.Evidence.RESULT);
        assertThat(settled.detail()).isEqualTo("cancelled");
    }

    @Test
    @Tag("TN-14")
    void cancel_withASteerUnacknowledged_endsTheProcessInsteadOfInterrupting() {
        session.message();
        session.up();
        session.landed();
        session.steer();
        session.cancel();

        assertThat(session.effect(Effect.Interrupt.class)).isEmpty();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
    }

    @Test
    @Tag("TN-05")
    @Tag("IN-13")
    void cancel_boundToASettledTurn_touchesNothing() {
        session.message();
        session.up();
        session.landed();
        long cancel = session.accept(ArrivalKind.CANCEL);
        session.result("1");
        session.idle();
        session.message();

        assertThat(session.done(cancel)).contains("turn 1 is not open any more");
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
    }

    @Test
    @Tag("IN-13")
    void cancel_namingAnotherTurn_doesNothingAndSaysSo() {
        session.exchange("1");
        session.message();
        session.landed();
        long cancel = session.cancelTurn(1);

        assertThat(session.done(cancel)).contains("turn 1 is not open any more");
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
    }

    @Test
    @Tag("IN-06")
    void cancel_namingTheTurn_endsIt() {
        session.message();
        session.up();
        session.landed();
        session.cancelTurn(1);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        assertThat(session.turn().cancelled()).isTrue();
    }

    @Test
    @Tag("IN-06")
    void cancel_namingTheMessageOfTheTurn_endsIt() {
        session.message();
        session.up();
        session.landed();
        session.cancelMessage(1);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
    }

    @Test
    void cancel_namingASettledMessage_saysSo() {
        session.exchange("1");
        long cancel = session.cancelMessage(1);
        assertThat(session.done(cancel)).contains("message 1 is not waiting any more");
    }

    @Test
    void cancel_namingASteerThatIsWritten_leavesItToTheAgent() {
        session.message();
        session.up();
        session.landed();
        long steer = session.steer();
        long cancel = session.cancelMessage(steer);

        assertThat(session.done(cancel)).contains("not waiting any more");
        session.landed();
        session.result("both");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
    }

    @Test
    void cancel_namingAMessageGivenBack_takesItFromTheFront() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        long steer = session.steer();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        assertThat(session.durable().front()).extracting(Taken::number).containsExactly(steer);
        session.cancelMessage(steer);

        assertThat(session.durable().front()).isEmpty();
        assertThat(session.outcome(steer)).contains(Outcome.CANCELLED);
    }

    @Test
    void cancel_second_ofTheSameTurn_isOnlyRecorded() {
        session.message();
        session.up();
        session.landed();
        session.cancel();
        long second = session.cancel();

        assertThat(session.done(second)).contains("being ended already");
        assertThat(session.journal(Event.InterruptAsked.class)).hasSize(1);
    }

    @Test
    @Tag("P4")
    void cancel_whileWaitingForARestart_settlesAtOnce() {
        session.message();
        session.up();
        session.landed();
        session.died();
        session.cancel();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    void cancel_ofAContinuation_endsTheTurn() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        session.landed();
        session.cancel();
        session.interruptAnswered();
        session.idle();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("P2")
    void cancel_thenHostDeath_settlesOnWaking() {
        session.message();
        session.up();
        session.landed();
        session.cancel();
        session.hostCrash();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
    }

    @Test
    void cancel_whileParked_settlesTheOpenTurn() {
        session.message();
        session.up();
        session.ended("not installed", "not_found");
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        session.cancel();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
    }
}
