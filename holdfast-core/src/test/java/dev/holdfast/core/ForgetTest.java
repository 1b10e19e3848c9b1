package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import dev.holdfast.StopMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Dropping the agent's memory in its place, never by telling it to (IN-20). */
class ForgetTest extends CoreScenario {
    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    @Test
    @Tag("IN-20")
    void clear_inATurn_letsItEndAndDropsTheMemoryBeforeTheNextMessage() {
        running();
        var before = session.durable().nativeSession();
        long clear = session.arrive(ArrivalKind.CLEAR);
        long next = session.message();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(session.live().stage()).as("it has not said idle (MB-12)").isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        assertThat(session.durable().turn()).isEmpty();
        session.ended("end of input", "");

        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.FORGOTTEN);
        assertThat(session.newest(Event.MemoryDropped.class)).isEqualTo(new Event.MemoryDropped(1, "cleared"));
        assertThat(session.done(clear)).contains("dropped");
        assertThat(session.inTurn()).containsExactly(next);
        session.slotGranted();
        assertThat(session.effect(Effect.AskKnowledge.class).orElseThrow().marks())
                .isEmpty();
        session.known(dev.holdfast.Knowledge.nothing());
        var run = session.effect(Effect.RunAgent.class).orElseThrow();
        assertThat(run.resume()).isFalse();
        assertThat(run.catchUp()).as("what was forgotten is not told again").isEmpty();
        assertThat(session.durable().nativeSession()).isNotEqualTo(before);
        session.verified();
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isZero();
        session.answered("2");
        assertThat(session.outcome(next)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("IN-20")
    @Tag("TN-16")
    void turnsAfterAClear_areToldAgain_andNoneBefore() {
        session.exchange("1");
        session.arrive(ArrivalKind.CLEAR);
        session.ended("end of input", "");
        session.exchange("2");
        session.evict();
        session.ended("end of input", "");
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        var catchUp = session.effect(Effect.RunAgent.class).orElseThrow().catchUp();
        assertThat(catchUp.orElseThrow().from()).isEqualTo(2);
        assertThat(catchUp.orElseThrow().through()).isEqualTo(2);
    }

    @Test
    @Tag("IN-20")
    void reset_inATurn_interruptsItAndDropsTheMemoryInItsPlace() {
        running();
        long waiting = session.message();
        long reset = session.arrive(ArrivalKind.RESET);
        long after = session.message();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        session.interruptAnswered();
        session.idle();
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.inTurn()).as("what was accepted before it").containsExactly(waiting);
        assertThat(session.durable().named(reset)).isFalse();
        session.answered("2");
        session.ended("end of input", "");
        assertThat(session.newest(Event.MemoryDropped.class)).isEqualTo(new Event.MemoryDropped(2, "reset"));
        assertThat(session.inTurn()).containsExactly(after);
    }

    @Test
    @Tag("IN-06")
    @Tag("IN-20")
    void reset_readAheadOfTheQueue_interruptsAtOnceAndForgetsInItsPlace() {
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.RESET);
        session.readUrgent();
        assertThat(session.journal(Event.MemoryDropped.class))
                .as("message 1 comes before it")
                .isEmpty();
        session.read();
        assertThat(session.inTurn()).containsExactly(1L);
        session.up();
        session.answered("1");
        session.ended("end of input", "");
        assertThat(session.newest(Event.MemoryDropped.class).through()).isEqualTo(1);
    }

    @Test
    @Tag("IN-06")
    @Tag("IN-20")
    void reset_boundToATurnThatIsOver_interruptsNothing() {
        running();
        session.message();
        session.accept(ArrivalKind.RESET);
        session.result("1");
        session.idle();
        session.landed();
        session.read();
        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("2");
        session.idle();
        session.ended("end of input", "");
        assertThat(session.durable().forgotten()).isEqualTo(2);
    }

    @Test
    @Tag("IN-20")
    void reset_withNoProcess_isDoneAtOnceAndStartsNone() {
        session.exchange("1");
        session.evict();
        session.ended("end of input", "");
        session.arrive(ArrivalKind.RESET);
        assertThat(session.durable().forgotten()).isEqualTo(1);
        assertThat(session.durable().nativeSession()).isEmpty();
        assertThat(session.effects()).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-20")
    @Tag("MB-13")
    void clear_inATurnOfTheAgentsOwn_waits_andAResetDoesNot() {
        session.exchange("1");
        session.busy();
        session.arrive(ArrivalKind.CLEAR);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("end of input", "");
        session.exchange("2");
        session.busy();
        session.arrive(ArrivalKind.RESET);
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.BUSY);
        session.ended("asked to", "");
        assertThat(session.journal(Event.MemoryDropped.class)).hasSize(2);
    }

    @Test
    @Tag("IN-20")
    @Tag("MB-17")
    void clear_whenTheHostDies_isDoneOnceByTheNextOwner() {
        running();
        var id = session.line();
        session.arrive(ArrivalKind.CLEAR);
        session.hostCrash();
        assertThat(session.journal(Event.MemoryDropped.class))
                .as("turn 1 is open")
                .isEmpty();
        session.up(session.hasOpen(id));
        session.answered("1");
        session.hostCrash();
        assertThat(session.journal(Event.MemoryDropped.class)).hasSize(1);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-08")
    void clear_whilePaused_waitsForTheResume() {
        session.exchange("1");
        session.pause("");
        session.ended("end of input", "");
        session.arrive(ArrivalKind.CLEAR);
        assertThat(session.durable().forgotten()).isZero();
        assertThat(session.waits()).isTrue();
        session.resume();
        assertThat(session.durable().forgotten()).isEqualTo(1);
    }

    @Test
    void compact_isSaidToBeNotDone_andHoldsNothingUp() {
        session.exchange("1");
        long compact = session.accept(ArrivalKind.COMPACT);
        long next = session.accept(ArrivalKind.MESSAGE);
        session.read();
        assertThat(session.done(compact)).startsWith("not done");
        assertThat(session.inTurn()).containsExactly(next);
        assertThat(session.durable().forgotten()).isZero();
    }

    @Test
    @Tag("IN-06")
    @Tag("IN-20")
    void cancel_rightBehindASend_isNotLostBehindAClear() {
        session.accept(ArrivalKind.CLEAR);
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.read();
        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("IN-06")
    void cancel_rightBehindASend_isNotLostToAClearThatWasDoneMeanwhile() {
        long clear = session.accept(ArrivalKind.CLEAR);
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CANCEL);
        session.readAgain(clear);
        session.read();
        assertThat(session.outcome(message)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("P4")
    void clears_thousandsInARow_areDoneInOneDecision() {
        session.pause("");
        for (int i = 0; i < 3_000; i++) {
            session.accept(ArrivalKind.CLEAR);
        }
        session.accept(ArrivalKind.RESUME);
        session.read();
        assertThat(session.durable().takenThrough()).isEqualTo(3_002);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-22")
    void close_withAClearWaiting_namesIt() {
        running();
        long clear = session.arrive(ArrivalKind.CLEAR);
        long reset = session.accept(ArrivalKind.RESET);
        session.close("done");
        assertThat(session.done(clear)).isEqualTo("the session is closed");
        assertThat(session.done(reset)).isEqualTo("the session is closed");
        assertThat(session.durable().takenThrough()).isEqualTo(reset + 1);
    }
}
