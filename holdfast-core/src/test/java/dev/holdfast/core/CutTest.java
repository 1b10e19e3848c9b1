package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Knowledge;
import dev.holdfast.Outcome;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Throwing turns away, beginning as a fork, and another harness: what the agent remembers is never relied on. */
class CutTest extends CoreScenario {
    @Test
    @Tag("HN-04")
    void cut_betweenTurns_endsTheProcessAndItsMemoryBeforeTheNextMessage() {
        session.exchange("1");
        session.exchange("2");
        var before = session.durable().nativeSession();
        long cut = session.arrive(ArrivalKind.CUT, CoreDriver.from(2));
        long next = session.message();
        assertThat(session.durable().turn())
                .as("waits for the end of the process")
                .isEmpty();
        session.ended("end of input", "");
        assertThat(session.newest(Event.TranscriptCut.class).from()).isEqualTo(2);
        assertThat(session.done(cut)).contains("thrown away");
        assertThat(session.durable().nativeSession()).isEmpty();
        assertThat(session.durable().marks()).isEmpty();
        assertThat(session.inTurn()).containsExactly(next);
        session.slotGranted();
        session.known(Knowledge.nothing());
        var run = session.effect(Effect.RunAgent.class).orElseThrow();
        assertThat(run.resume()).isFalse();
        assertThat(run.catchUp().orElseThrow().from()).isEqualTo(1);
        assertThat(session.durable().nativeSession()).isPresent().isNotEqualTo(before);
    }

    @Test
    @Tag("HN-04")
    void cut_inATurn_waitsForItsEnd() {
        session.exchange("1");
        session.message();
        session.landed();
        session.busy();
        session.arrive(ArrivalKind.CUT, CoreDriver.from(1));
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("2");
        session.idle();
        session.ended("end of input", "");
        assertThat(session.newest(Event.TranscriptCut.class).from()).isEqualTo(1);
    }

    @Test
    @Tag("HN-04")
    void cut_ofEverything_leavesNothingToTellAgain() {
        session.exchange("1");
        session.arrive(ArrivalKind.CUT, CoreDriver.from(1));
        session.ended("end of input", "");
        session.message();
        session.slotGranted();
        session.known(Knowledge.nothing());
        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().catchUp())
                .isEmpty();
    }

    @Test
    @Tag("HN-04")
    void cut_ofATurnThatIsNotThere_saysSoAndTouchesNothing() {
        session.exchange("1");
        var before = session.durable().nativeSession();
        long cut = session.arrive(ArrivalKind.CUT, CoreDriver.from(2));
        assertThat(session.done(cut)).isEqualTo("there is no such turn");
        assertThat(session.durable().nativeSession()).isEqualTo(before);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
    }

    @Test
    @Tag("HN-14")
    void past_atTheBeginning_isTakenInOrder_andToldToTheAgent() {
        session.arrive(ArrivalKind.PAST, past(1));
        session.arrive(ArrivalKind.PAST, past(2));
        assertThat(session.newest(Event.TurnCopied.class)).isEqualTo(new Event.TurnCopied(2, 2, Outcome.ANSWERED, 2));
        session.message();
        session.slotGranted();
        session.known(Knowledge.nothing());
        var catchUp =
                session.effect(Effect.RunAgent.class).orElseThrow().catchUp().orElseThrow();
        assertThat(catchUp.from()).isEqualTo(1);
        assertThat(catchUp.through()).isEqualTo(2);
        assertThat(session.turn().number()).isEqualTo(3);
    }

    @Test
    @Tag("HN-14")
    void past_ofASessionWithTurns_isNotTaken() {
        session.exchange("1");
        long late = session.arrive(ArrivalKind.PAST, past(2));
        assertThat(session.done(late)).contains("turns of its own");
        assertThat(session.durable().lastTurn()).isEqualTo(1);
    }

    @Test
    @Tag("HN-14")
    void past_outOfOrder_isNotTaken() {
        long second = session.arrive(ArrivalKind.PAST, past(2));
        assertThat(session.done(second)).contains("not taken");
    }

    @Test
    @Tag("HN-04")
    void harness_anotherThanBefore_givesUpWhatTheOneBeforeRemembered() {
        session.exchange("1");
        session.swap("another");
        assertThat(session.newest(Event.HarnessSwapped.class))
                .isEqualTo(new Event.HarnessSwapped("scripted", "another"));
        assertThat(session.durable().nativeSession()).isEmpty();
        assertThat(session.durable().harness()).isEqualTo("another");
        session.message();
        session.slotGranted();
        session.known(Knowledge.nothing());
        var catchUp =
                session.effect(Effect.RunAgent.class).orElseThrow().catchUp().orElseThrow();
        assertThat(catchUp.through()).isEqualTo(1);
    }

    private static Header.Wish past(long turn) {
        return CoreDriver.wish("", OptionalLong.of(turn), OptionalLong.of(2), Outcome.ANSWERED.name());
    }
}
