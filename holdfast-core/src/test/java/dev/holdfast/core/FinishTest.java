package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.TurnResult;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Working off what is queued, and then the end (MB-07). */
class FinishTest extends CoreScenario {
    @Test
    @Tag("MB-07")
    void finish_withMessagesWaiting_runsThemAndThenCloses() {
        session.message();
        long second = session.message();
        session.finish("done for today");
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        session.up();
        session.answered("1");
        assertThat(session.inTurn()).containsExactly(second);
        session.answered("2");

        assertThat(session.outcome(second)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().phaseReason()).isEqualTo("done for today");
        session.ended("asked to", "");
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-07")
    void finish_withNothingLeft_closesAtOnce() {
        session.exchange("1");
        session.finish("");
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().phaseReason()).isEmpty();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
    }

    @Test
    @Tag("MB-07")
    void finish_withItsLastTurnCancelledBeforeItWasTold_closes() {
        session.message();
        session.finish("done");
        session.cancel();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().phaseReason()).isEqualTo("done");
    }

    @Test
    @Tag("MB-07")
    void finish_twice_keepsTheFirstReason() {
        session.message();
        session.finish("first");
        long again = session.finish("second");
        assertThat(session.done(again)).isEqualTo("being finished already");
        session.up();
        session.answered("1");
        assertThat(session.durable().phaseReason()).isEqualTo("first");
        long late = session.finish("third");
        assertThat(session.done(late)).isEqualTo("closed already");
        assertThat(session.durable().phaseReason()).isEqualTo("first");
    }

    @Test
    @Tag("MB-07")
    void finish_withoutAReason_isTheFirstAllTheSame() {
        session.message();
        session.finish("");
        session.finish("second");
        session.up();
        session.answered("1");
        assertThat(session.durable().phaseReason()).isEmpty();
    }

    @Test
    @Tag("MB-07")
    void close_ofASessionBeingFinished_endsItNowForTheFirstReason() {
        session.message();
        session.finish("first");
        session.close("second");
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        assertThat(session.durable().phaseReason()).isEqualTo("first");
    }

    @Test
    @Tag("IN-05")
    @Tag("MB-07")
    void finish_readAheadOfTheQueue_waitsForIt() {
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.FINISH);
        session.readUrgent();
        assertThat(session.durable().finishing()).isPresent();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        session.read();
        session.up();
        session.answered("1");
        assertThat(session.outcome(message)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("MB-07")
    @Tag("P2")
    void message_acceptedInTheMomentOfTheFinish_isNotDropped() {
        session.accept(ArrivalKind.FINISH);
        long late = session.accept(ArrivalKind.MESSAGE);
        session.read();
        session.up();
        session.answered("1");
        assertThat(session.outcome(late)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        long afterwards = session.message();
        assertThat(session.outcome(afterwards)).contains(Outcome.CLOSED);
    }

    @Test
    @Tag("MB-07")
    @Tag("MB-17")
    void finish_survivesAHostDeath() {
        session.message();
        long second = session.message();
        session.finish("done");
        session.hostCrash();
        session.up(session.remembers(0));
        session.answered("1");
        session.answered("2");
        assertThat(session.outcome(second)).contains(Outcome.ANSWERED);
        assertThat(session.durable().phaseReason()).isEqualTo("done");
    }

    @Test
    @Tag("MB-07")
    @Tag("MB-15")
    void finish_withAContinuationQueued_waitsForItsEnd() {
        session.message();
        session.up();
        session.landed();
        session.finish("done");
        session.result(CoreDriver.result(TurnResult.Ending.TURN_LIMIT, "half", List.of()));
        session.idle();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        session.answered("whole");
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("MB-07")
    @Tag("MB-08")
    void finish_ofAPausedSession_closesOnceItIsResumedAndWorkedOff() {
        session.message();
        session.pause("");
        session.finish("done");
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        session.resume();
        session.up();
        session.answered("1");
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("MB-07")
    @Tag("MB-21")
    void withdraw_ofTheLastMessage_finishesTheSession() {
        session.exchange("1");
        session.pause("");
        long last = session.message();
        session.finish("done");
        session.withdraw(last);
        session.ended("asked to", "");
        session.resume();
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
    }
}
