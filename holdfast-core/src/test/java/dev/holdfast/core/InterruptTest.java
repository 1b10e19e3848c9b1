package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The interrupt window (TN-14): from writing an interrupt until it is answered and the agent is idle, no line. */
class InterruptTest extends CoreScenario {
    /** Turn 1 runs, message 2 waits, and an interrupt is written. */
    private void interrupted() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.busy();
        session.cancel();
        assertThat(session.effect(Effect.Interrupt.class)).isPresent();
    }

    @Test
    @Tag("TN-14")
    void interrupt_answeredThenIdle_settlesAndLetsTheNextLineGo() {
        interrupted();
        session.interruptAnswered();
        assertThat(session.outcome(1)).isEmpty();
        assertThat(session.told()).isEmpty();
        session.idle();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.newest(Event.TurnSettled.class).evidence()).isEqualTo(Event.Evidence.NONE);
        assertThat(session.told().orElseThrow().id()).isEqualTo(session.line());
    }

    @Test
    @Tag("TN-14")
    void interrupt_ofAnAgentThatDoesNotSayItWorks_waitsForIdleAllTheSame() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.cancel();
        session.interruptAnswered();

        assertThat(session.told()).as("a line before the agent is idle").isEmpty();
        assertThat(session.outcome(1))
                .as("settled before its result can be told apart")
                .isEmpty();
        session.result("interrupted");
        session.idle();
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.told()).isPresent();
    }

    @Test
    @Tag("TN-14")
    void result_beforeTheInterruptIsAnswered_keepsTheWindowOpen() {
        interrupted();
        session.result("1");
        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.effect(Effect.Interrupt.class))
                .as("an interrupt is for its own turn, never for the next")
                .isEmpty();
        session.idle();
        assertThat(session.told()).as("the interrupt may still be on its way").isEmpty();
        session.interruptAnswered();
        assertThat(session.told().orElseThrow().id()).isEqualTo(session.line());
    }

    @Test
    @Tag("TN-14")
    @Tag("P4")
    void interrupt_neverAnsweredAfterTheResult_endsTheProcessByItsDeadline() {
        interrupted();
        session.result("1");
        session.idle();
        assertThat(session.dueAt())
                .contains(session.now().plus(Limits.standard().interrupt()));
        session.tickDue();

        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");
        session.up(session.remembers(1));
        session.answered("2");
        assertThat(session.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-04")
    @Tag("TN-14")
    void interrupt_neverAnswered_endsTheProcessByItsDeadline() {
        interrupted();
        assertThat(session.dueAt())
                .contains(session.now().plus(Limits.standard().interrupt()));
        session.tickDue();
        session.ended("asked to", "");

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.turn().number()).isEqualTo(2);
    }

    @Test
    @Tag("TN-04")
    void interrupt_breached_endsTheProcess() {
        interrupted();
        session.breached("interrupt");
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
    }

    @Test
    @Tag("TN-14")
    void interrupt_deadlineOfASettledTurn_harmsNobodyLater() {
        interrupted();
        session.interruptAnswered();
        session.idle();
        session.tick(Limits.standard().interrupt().plusSeconds(1));

        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.answered("2");
        assertThat(session.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-03")
    @Tag("TN-15")
    void result_ofAnInterruptedTurn_doesNotSettleItsSuccessor() {
        interrupted();
        session.interruptAnswered();
        session.idle();
        session.result("late");

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.AgentTurnSeen.class);
        assertThat(session.turn().number()).isEqualTo(2);
    }

    @Test
    @Tag("TN-14")
    void steer_duringTheInterrupt_waitsForItsOwnTurn() {
        interrupted();
        long steer = session.steer();
        assertThat(session.told()).isEmpty();
        session.interruptAnswered();
        session.idle();
        session.landed();

        assertThat(session.told().orElseThrow().messages())
                .extracting(Taken::number)
                .containsExactly(steer);
    }

    @Test
    void interrupt_answeredTwice_isAnsweredOnce() {
        interrupted();
        session.interruptAnswered();
        session.interruptAnswered();
        session.idle();
        session.interruptAnswered();
        assertThat(session.last()).isEmpty();
        assertThat(session.told()).isPresent();
    }
}
