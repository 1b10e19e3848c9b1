package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Knowledge;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.TurnResult;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the agent remembers, and what it is told again (TN-16). */
class MemoryTest extends CoreScenario {
    private Effect.RunAgent run() {
        return session.effect(Effect.RunAgent.class).orElseThrow();
    }

    private void threeTurns() {
        session.exchange("1");
        session.exchange("2");
        session.exchange("3");
        session.died();
        session.message();
        session.slotGranted();
    }

    @Test
    @Tag("TN-16")
    void question_toTheAgent_namesTheMarksOfItsNativeSession() {
        threeTurns();

        var ask = session.effect(Effect.AskKnowledge.class).orElseThrow();
        assertThat(ask.nativeSession()).isEqualTo(session.durable().nativeSession());
        assertThat(ask.marks()).extracting(m -> m.turn()).containsExactly(1L, 2L, 3L);
        assertThat(ask.open()).containsExactly(session.line());
    }

    @Test
    @Tag("HS-05")
    @Tag("TN-16")
    @Tag("P2")
    void tail_lost_tellsExactlyTheMissingTurns() {
        threeTurns();
        session.known(session.remembers(1));

        assertThat(run().resume()).isTrue();
        var catchUp = run().catchUp().orElseThrow();
        assertThat(catchUp.from()).isEqualTo(2);
        assertThat(catchUp.through()).isEqualTo(3);
        assertThat(catchUp.known()).isEmpty();
        session.verified();
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isZero();
        assertThat(session.newest(Event.IncarnationVerified.class).covers()).isEqualTo(1);
    }

    @Test
    @Tag("TN-16")
    void answer_lost_tellsOnlyTheAnswerAgain() {
        threeTurns();
        session.known(new Knowledge(
                Knowledge.RecordState.PRESENT, 2, List.of("a line"), List.of(), new Knowledge.Tail.None()));

        assertThat(run().resume()).isTrue();
        assertThat(run().catchUp().orElseThrow())
                .extracting("from", "through", "known")
                .containsExactly(3L, 3L, List.of("a line"));
    }

    @Test
    @Tag("TN-16")
    void firstAnswer_lost_isToldInTheSameNativeSession() {
        session.exchange("1");
        session.died();
        session.message();
        session.slotGranted();
        session.known(new Knowledge(
                Knowledge.RecordState.PRESENT, 0, List.of("a line"), List.of(), new Knowledge.Tail.None()));

        assertThat(run().resume()).isTrue();
        assertThat(run().catchUp().orElseThrow())
                .extracting("from", "through", "known")
                .containsExactly(1L, 1L, List.of("a line"));
    }

    @Test
    @Tag("TN-16")
    void catchUp_isAMarkOfItsLastTurn() {
        threeTurns();
        session.known(session.remembers(1));

        var mark = session.durable().marks().getLast();
        assertThat(mark.turn()).isEqualTo(3);
        assertThat(mark.asked())
                .containsExactly(run().catchUp().orElseThrow().delivery().toString());
    }

    @Test
    @Tag("HS-05")
    @Tag("TN-16")
    void record_gone_startsANewNativeSessionAndTellsEverything() {
        threeTurns();
        var before = session.durable().nativeSession().orElseThrow();
        session.known(Knowledge.nothing());

        assertThat(run().resume()).isFalse();
        assertThat(run().nativeSession()).isNotEqualTo(before);
        assertThat(run().catchUp().orElseThrow()).extracting("from", "through").containsExactly(1L, 3L);
        assertThat(session.durable().marks()).hasSize(1);
        session.verified();
        assertThat(session.newest(Event.IncarnationVerified.class).resumed()).isFalse();
    }

    @Test
    @Tag("TN-08")
    void record_damaged_startsANewNativeSessionWithTheOpenTurn() {
        threeTurns();
        session.known(session.remembers(3));
        session.verified();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.DAMAGED,
                1,
                List.of(),
                List.of(id),
                new Knowledge.Tail.Open(List.of(), List.of())));

        assertThat(run().resume()).isFalse();
        assertThat(run().catchUp().orElseThrow()).extracting("from", "through").containsExactly(1L, 3L);
        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
    }

    @Test
    @Tag("TN-16")
    void record_withAHoleBeforeTheOpenTurn_startsANewNativeSession() {
        threeTurns();
        session.known(session.remembers(3));
        session.verified();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT,
                1,
                List.of(),
                List.of(id),
                new Knowledge.Tail.Open(List.of(), List.of())));

        assertThat(run().resume()).isFalse();
        assertThat(run().catchUp().orElseThrow()).extracting("from", "through").containsExactly(1L, 3L);
        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
    }

    @Test
    @Tag("TN-16")
    void record_thatLacksEverythingOfOurs_isNotResumed() {
        session.exchange("1");
        session.died();
        session.message();
        session.slotGranted();
        session.known(session.remembers(0));

        assertThat(run().resume()).isFalse();
        assertThat(run().catchUp().orElseThrow()).extracting("from", "through").containsExactly(1L, 1L);
    }

    @Test
    @Tag("TN-16")
    @Tag("P2")
    void turn_endedBeforeItWasTold_isToldInFrontOfTheNextLine() {
        session.exchange("1");
        session.message();
        session.cancel();
        session.landed();
        session.interruptAnswered();
        session.result("2");
        session.idle();
        assertThat(session.newest(Event.TurnSettled.class).mark().asked())
                .as("turn 2 was told")
                .isNotEmpty();

        session.busy();
        session.result("a turn of its own");
        session.message();
        session.cancel();
        assertThat(session.newest(Event.TurnSettled.class).mark().asked())
                .as("turn 3 was not")
                .isEmpty();
        session.message();
        session.idle();

        assertThat(session.turn().number()).isEqualTo(4);
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isEqualTo(3);
        session.answered("4");
        session.message();
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isZero();
    }

    /** Turn 2 never got a line of its own and was told in front of turn 3's, which is in the record. */
    private void turnTwoToldWithTurnThree() {
        session.exchange("1");
        session.busy();
        session.result("a turn of its own");
        session.message();
        session.cancel();
        session.message();
        session.idle();
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isEqualTo(2);
    }

    @Test
    @Tag("TN-16")
    @Tag("P2")
    void turn_toldInFrontOfALineThatIsThere_isNotAHole() {
        turnTwoToldWithTurnThree();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));

        assertThat(run().resume()).isTrue();
        assertThat(run().catchUp())
                .as("turn 2 stands in front of turn 3's line already")
                .isEmpty();
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isZero();
    }

    @Test
    @Tag("TN-16")
    @Tag("P2")
    void turn_toldInFrontOfALineThatIsLost_isToldAgain() {
        turnTwoToldWithTurnThree();
        session.hostCrash();
        session.up(session.remembers(1));

        assertThat(run().catchUp().orElseThrow()).extracting("from", "through").containsExactly(2L, 2L);
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isZero();
    }

    @Test
    @Tag("TN-16")
    @Tag("P2")
    void answer_lostOfALineThatCarriedOthers_tellsNoQuestionTwice() {
        turnTwoToldWithTurnThree();
        session.answered("3");
        session.died();
        session.message();
        session.slotGranted();
        session.known(new Knowledge(
                Knowledge.RecordState.PRESENT, 1, List.of("a line"), List.of(), new Knowledge.Tail.None()));

        assertThat(run().catchUp().orElseThrow())
                .extracting("from", "through", "known")
                .containsExactly(3L, 3L, List.of("a line"));
    }

    @Test
    @Tag("TN-16")
    void marks_areBounded() {
        var limits = new Limits(
                Limits.standard().turn(),
                Limits.standard().interrupt(),
                Limits.standard().idle(),
                Limits.standard().restartDelays(),
                3,
                10,
                3,
                Limits.standard().unused(),
                2);
        var small = new CoreDriver(limits);
        small.exchange("1");
        small.exchange("2");
        small.exchange("3");

        assertThat(small.durable().marks()).extracting(m -> m.turn()).containsExactly(2L, 3L);
    }

    @Test
    @Tag("TN-16")
    void turn_cancelledWithItsLineWritten_keepsAMarkOfIt() {
        session.message();
        session.up();
        session.cancel();
        session.tickDue();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.newest(Event.TurnSettled.class).mark().asked()).hasSize(1);
    }

    @Test
    @Tag("TN-16")
    void turn_thatFailed_isRememberedByItsQuestionAlone() {
        session.message();
        session.up();
        session.landed();
        session.result(CoreDriver.result(TurnResult.Ending.FAILED, "api error", List.of()));

        assertThat(session.newest(Event.TurnSettled.class).mark().asked()).hasSize(1);
        assertThat(session.newest(Event.TurnSettled.class).mark().answered())
                .as("an agent may keep no entry of an error")
                .isEmpty();
    }

    @Test
    @Tag("TN-16")
    @Tag("P2")
    void turn_endedBeforeItsContinuationWasTold_isNotToldAgain() {
        session.message();
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.slotGranted();
        session.known(session.hasOpen(id));
        session.cancel();
        session.verified();

        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom())
                .as("its words are in the agent's memory")
                .isZero();
    }

    @Test
    void harness_thatSaysItHasARecordBeforeAnySession_isGivenANewOne() {
        session.message();
        session.slotGranted();
        session.known(session.remembers(0));

        assertThat(run().resume()).isFalse();
    }
}
