package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deadlines are fields, and every one of them leads somewhere (TN-04, IN-17, P4). */
class DeadlineTest extends CoreScenario {
    private static final Limits LIMITS = Limits.standard();

    @Test
    @Tag("TN-04")
    void turn_overItsDeadline_isInterruptedAndFails() {
        session.message();
        session.up();
        session.landed();
        session.busy();
        assertThat(session.dueAt()).contains(session.now().plus(LIMITS.turn()));
        session.tickDue();

        assertThat(session.newest(Event.InterruptAsked.class).number()).isZero();
        assertThat(session.turn().cancelled()).isFalse();
        session.interruptAnswered();
        session.idle();
        assertThat(session.outcome(1)).contains(Outcome.FAILED);
        assertThat(session.newest(Event.TurnSettled.class).detail()).isEqualTo("deadline passed: turn");
    }

    @Test
    @Tag("IN-17")
    void deadline_ofATurn_isNotPushedOutByADeathThatLandedNothing() {
        session.message();
        var by = session.turn().deadline();
        session.up();
        session.tick(Duration.ofMinutes(1));
        session.hostCrash();
        session.up(session.remembers(0));

        assertThat(session.turn().openedAt()).isBefore(session.now());
        assertThat(session.newest(Event.TurnOpened.class).deadline()).isEqualTo(by);
        assertThat(session.fold().turn().orElseThrow().deadline())
                .isEqualTo(session.turn().deadline());
    }

    @Test
    @Tag("TN-04")
    void continuation_hasADeadlineOfItsOwn() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.tick(Duration.ofMinutes(9));
        session.died();
        session.tickDue();
        session.up(session.hasOpen(id));

        assertThat(session.turn().deadline()).isEqualTo(session.now().plus(LIMITS.turn()));
    }

    @Test
    @Tag("TN-04")
    void breach_namedByTheAttachment_endsTheTurnWithItsName() {
        session.message();
        session.up();
        session.landed();
        session.busy();
        session.breached("silence");
        session.interruptAnswered();
        session.idle();

        assertThat(session.newest(Event.TurnSettled.class).detail()).isEqualTo("deadline passed: silence");
        assertThat(session.outcome(1)).contains(Outcome.FAILED);
    }

    @Test
    @Tag("TN-04")
    void breach_ofTheStart_costsTheMessageNothing() {
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.breached("start");
        session.ended("the start did not finish", "");
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        assertThat(session.outcome(1)).isEmpty();
        session.tickDue();
        session.up();
        assertThat(session.told()).isPresent();
    }

    @Test
    @Tag("P4")
    void breach_inATurnOfTheAgentsOwn_endsTheProcess() {
        session.exchange("1");
        session.busy();
        session.breached("silence");

        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
    }

    @Test
    @Tag("P4")
    void breach_beforeTheLineIsWritten_endsTheProcessAndKeepsTheTurn() {
        session.message();
        long next = session.message();
        session.up();
        session.landed();
        session.result("1");
        session.breached("silence");

        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");
        session.up(session.remembers(1));
        session.answered("2");
        assertThat(session.outcome(next))
                .as("it was not this turn that was silent")
                .contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P4")
    void deadline_ofATurnThatCouldNotBeTold_endsTheProcess() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.result("1");
        session.tickDue();

        assertThat(session.effect(Effect.StopAgent.class))
                .as("an agent that never came to rest takes no later line either")
                .isPresent();
        session.ended("asked to", "");
        assertThat(session.outcome(2)).contains(Outcome.FAILED);
    }

    @Test
    void breach_ofATurnThatIsEnding_changesNothing() {
        session.message();
        session.up();
        session.landed();
        session.cancel();
        session.breached("silence");

        assertThat(session.journal(Event.InterruptAsked.class)).hasSize(1);
        assertThat(session.turn().cancelled()).isTrue();
    }

    @Test
    @Tag("P4")
    void slot_deniedAfterTheDeadline_failsTheTurn() {
        session.message();
        session.slot(Input.SlotAnswer.DENIED);
        assertThat(session.outcome(1)).isEmpty();
        session.tick(LIMITS.turn().plusSeconds(1));
        session.slot(Input.SlotAnswer.DENIED);

        assertThat(session.outcome(1)).contains(Outcome.FAILED);
        assertThat(session.newest(Event.TurnSettled.class).detail()).contains("no process slot");
        assertThat(session.journal(Event.Noticed.class))
                .extracting(Event.Noticed::what)
                .contains("no_slot");
        assertThat(session.effects()).isEmpty();
    }

    @Test
    void tick_withNothingDue_changesNothing() {
        session.message();
        session.up();
        session.landed();
        session.tick(Duration.ofSeconds(1));
        assertThat(session.last()).isEmpty();
    }

    @Test
    @Tag("HS-04")
    void process_idleForItsTime_isEnded() {
        session.exchange("1");
        assertThat(session.dueAt()).contains(session.now().plus(LIMITS.idle()));
        session.tick(LIMITS.idle().minusSeconds(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.tickDue();

        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(dev.holdfast.StopMode.IDLE);
        session.ended("end of input", "");
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.IDLE);
        assertThat(session.durable().failures()).isZero();
        assertThat(session.sleepable()).isTrue();
        assertThat(session.dueAt()).contains(session.durable().usedAt().plus(LIMITS.unused()));
    }

    @Test
    @Tag("HS-04")
    @Tag("MB-12")
    void process_atWork_isNotIdle() {
        session.exchange("1");
        session.busy();
        session.tick(LIMITS.idle().plusMinutes(1));
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.result("of its own");
        session.tick(LIMITS.idle().plusMinutes(1));
        assertThat(session.live().stage()).as("it has not said idle").isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.dueAt())
                .as("the idle window starts again")
                .contains(session.now().plus(LIMITS.idle()));
    }
}
