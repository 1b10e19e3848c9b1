package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Knowledge;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages for the running turn (TN-09), and what becomes of them when something goes wrong. */
class SteerTest extends CoreScenario {
    /** Message 1 is in the agent's context. */
    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    @Test
    @Tag("TN-09")
    @Tag("TN-12")
    void steer_intoARunningTurn_isToldUnderAnIdOfItsOwn() {
        running();
        session.steer();

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.SteerPlanned.class);
        var told = session.told().orElseThrow();
        assertThat(told.kind()).isEqualTo(Told.Kind.STEER);
        assertThat(told.id()).isNotEqualTo(session.line());
        assertThat(session.durable().named(2))
                .as("a steer stays queued until it lands")
                .isFalse();
    }

    @Test
    @Tag("TN-09")
    void steer_landed_settlesWithTheTurnItLandedIn() {
        running();
        session.steer();
        session.landed();
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.SteerLanded.class);
        session.result("both");

        assertThat(session.newest(Event.TurnSettled.class).messages())
                .extracting(Taken::number)
                .containsExactly(1L, 2L);
        assertThat(session.newest(Event.TurnSettled.class).mark().asked()).hasSize(2);
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().consumed()).isEqualTo(2);
    }

    @Test
    @Tag("TN-13")
    void steers_two_areToldOneAfterTheOther() {
        running();
        session.steer();
        var first = session.told().orElseThrow();
        session.steer();
        assertThat(session.told().orElseThrow()).isEqualTo(first);

        session.landed();
        assertThat(session.told().orElseThrow().messages())
                .extracting(Taken::number)
                .containsExactly(3L);
        session.landed();
        session.result("all");
        assertThat(session.newest(Event.TurnSettled.class).messages()).hasSize(3);
    }

    @Test
    @Tag("TN-13")
    void steer_beforeTheMessageLanded_waits() {
        session.message();
        session.up();
        session.steer();

        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.MESSAGE);
        session.landed();
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.STEER);
    }

    @Test
    @Tag("TN-13")
    void steer_unacknowledgedWhenItsTurnMustBeContinued_goesFirst() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.steer();
        var steer = session.told().orElseThrow();
        session.report(new Report.Noticed("deduplicated", id.toString()));
        session.idle();

        assertThat(session.told()).as("one unacknowledged line at a time").contains(steer);
        session.landed();
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        session.answered("both");
        assertThat(session.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-09")
    void steer_withNoTurnRunning_becomesATurnOfItsOwn() {
        long steer = session.steer();
        session.up();

        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.MESSAGE);
        session.answered("1");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P2")
    @Tag("TN-13")
    void steer_notLandedAtTheResult_runsNextUnderTheSameId() {
        running();
        long waiting = session.message();
        long steer = session.steer();
        var id = session.told().orElseThrow().id();
        session.result("1");

        assertThat(session.newest(Event.TurnSettled.class).messages())
                .extracting(Taken::number)
                .containsExactly(1L);
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(steer);
        assertThat(session.line()).isEqualTo(id);
        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
        session.idle();
        session.answered("2");
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(waiting);
    }

    @Test
    @Tag("P2")
    @Tag("TN-08")
    void steer_lostByACrash_waitsAgainAndIsToldUnderANewId() {
        running();
        var id = session.line();
        session.steer();
        var lost = session.told().orElseThrow().id();
        session.hostCrash();
        session.up(session.hasOpen(id));

        assertThat(session.journal(Event.SteerReturned.class)).hasSize(1);
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        session.landed();
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.STEER);
        assertThat(session.told().orElseThrow().id()).isNotEqualTo(lost);
        session.landed();
        session.result("both");
        assertThat(session.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P2")
    @Tag("TN-08")
    void steer_foundInTheRecord_hasLanded() {
        running();
        var id = session.line();
        session.steer();
        var steer = session.told().orElseThrow().id();
        session.hostCrash();
        session.up(session.hasOpen(id, steer));

        assertThat(session.journal(Event.SteerLanded.class)).hasSize(1);
        session.answered("both");
        assertThat(session.newest(Event.TurnSettled.class).messages()).hasSize(2);
    }

    @Test
    @Tag("P2")
    @Tag("MB-05")
    void steer_landedAndLostByTheAgent_comesBackToTheFront() {
        running();
        var id = session.line();
        long steer = session.steer();
        session.landed();
        long waiting = session.message();
        session.hostCrash();
        session.up(session.hasAnswered("1", id));

        assertThat(session.durable().consumed()).isEqualTo(2);
        assertThat(session.turn().original().messages())
                .as("a steer given back goes before what waited")
                .extracting(Taken::number)
                .containsExactly(steer);
        session.answered("2");
        session.answered("3");
        assertThat(session.outcome(waiting)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P2")
    void steer_inTheRecordWithoutItsTurn_isNoReasonToLoseIt() {
        running();
        long steer = session.steer();
        var id = session.told().orElseThrow().id();
        session.landed();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT,
                0,
                List.of(),
                List.of(id),
                new Knowledge.Tail.Open(List.of(), List.of())));

        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().resume())
                .as("a record that has the steer and not its turn cannot be told the turn in order")
                .isFalse();
        session.landed();
        session.result("1");
        session.idle();
        session.answered("2");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P2")
    void steer_writtenWhenItsTurnIsCancelled_runsNextUnderTheSameId() {
        running();
        long steer = session.steer();
        var id = session.told().orElseThrow().id();
        session.cancel();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(steer);
        assertThat(session.line())
                .as("it may be in the agent's record, which is asked by this id")
                .isEqualTo(id);
        session.up(session.hasOpen(id));
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
    }

    @Test
    @Tag("P2")
    void steer_writtenWhenTheHostDiesInACancelledTurn_runsNextUnderTheSameId() {
        running();
        session.steer();
        var id = session.told().orElseThrow().id();
        session.cancel();
        session.hostCrash();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.line()).isEqualTo(id);
    }

    @Test
    @Tag("P2")
    void steer_writtenWhenItsTurnIsCancelledBeforeTheRecordIsRead_runsNextUnderTheSameId() {
        running();
        session.steer();
        var id = session.told().orElseThrow().id();
        session.hostCrash();
        session.slotGranted();
        session.cancel();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.line()).isEqualTo(id);
    }

    @Test
    @Tag("P2")
    void steer_writtenWhenItsTurnIsADeadLetter_runsNextUnderTheSameId() {
        running();
        var id = session.line();
        for (int death = 1; death <= 2; death++) {
            session.died();
            session.tickDue();
            session.up(session.hasOpen(id));
            session.landed();
        }
        session.steer();
        var steer = session.told().orElseThrow().id();
        session.died();

        assertThat(session.outcome(1)).contains(Outcome.DEAD_LETTER);
        assertThat(session.line()).isEqualTo(steer);
    }

    @Test
    void steer_writtenWhenTheSessionIsClosed_isClosedWithIt() {
        running();
        long steer = session.steer();
        session.close("done");

        assertThat(session.outcome(steer)).contains(Outcome.CLOSED);
        assertThat(session.newest(Event.MessageEnded.class).inHand())
                .as("the agent may have it: the closer is not to take it for unread")
                .isTrue();
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    void steer_landedThenCancelled_isCancelledWithItsTurn() {
        running();
        session.steer();
        session.landed();
        session.cancel();
        session.interruptAnswered();
        session.idle();

        assertThat(session.outcome(2)).contains(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
    }
}
