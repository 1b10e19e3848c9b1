package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Closing a session, in every state of its process. */
class PhaseTest extends CoreScenario {
    @Test
    @Tag("P2")
    @Tag("HS-08")
    void close_withATurnOpenAndMessagesWaiting_endsThemAll() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.message();
        session.close("the customer left");

        for (long m : new long[] {1, 2, 3}) {
            assertThat(session.outcome(m)).contains(Outcome.CLOSED);
        }
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().phaseReason()).isEqualTo("the customer left");
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");
        assertThat(session.sleepable()).isTrue();
        assertThat(session.durable().lastEnd()).isEqualTo("CLOSED");
    }

    @Test
    @Tag("P2")
    void message_acceptedBeforeTheCloseWasRead_isClosedToo() {
        session.accept(ArrivalKind.MESSAGE);
        session.close("done");
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        long late = session.message();
        assertThat(session.outcome(late)).contains(Outcome.CLOSED);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-05")
    @Tag("P2")
    void close_readAheadOfTheQueue_endsTheQueueWhenItIsRead() {
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CLOSE);
        session.readUrgent();
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        session.read();
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        assertThat(session.durable().takenThrough()).isEqualTo(2);
    }

    @Test
    @Tag("IN-22")
    void close_withUrgentArrivalsBehindIt_namesEachAsWhatItIs() {
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CLOSE);
        long cancel = session.accept(ArrivalKind.CANCEL);
        long close = session.accept(ArrivalKind.CLOSE);
        long resume = session.accept(ArrivalKind.RESUME);
        long evict = session.accept(ArrivalKind.EVICT);
        session.read();

        assertThat(session.durable().ordinaryDone()).isEqualTo(1);
        assertThat(session.done(cancel)).contains("nothing");
        assertThat(session.done(close)).isEqualTo("closed already");
        assertThat(session.done(resume)).isEqualTo("nothing to resume");
        assertThat(session.done(evict)).isEqualTo("nothing to evict");
        assertThat(session.durable().takenThrough()).isEqualTo(evict);
    }

    @Test
    void close_whileWaitingForAPlace_leavesTheLine() {
        session.message();
        session.close("done");
        assertThat(session.effects()).isEmpty();
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
    }

    @Test
    @Tag("HS-08")
    void close_whileTheAgentIsAsked_leavesNoProcess() {
        session.message();
        session.slotGranted();
        session.close("done");
        assertThat(session.effects()).hasExactlyElementsOfTypes(Effect.HoldSlot.class, Effect.StopAgent.class);
        session.ended("stopped before it was started", "");
        assertThat(session.effects()).isEmpty();
    }

    @Test
    @Tag("HS-08")
    void close_whileTheAgentStarts_leavesNoProcess() {
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.close("done");
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.report(new dev.holdfast.Report.Verified("1.0", "x"));
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("asked to", "");
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    void close_ofAParkedSession_closesIt() {
        session.message();
        session.up();
        session.ended("not installed", "not_found");
        session.close("given up");

        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
    }

    @Test
    @Tag("MB-17")
    void close_survivesAHostDeath() {
        session.exchange("1");
        session.close("done");
        session.hostCrash();

        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.effects()).isEmpty();
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.HOST_LOST);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("P2")
    void close_withASteerGivenBack_endsItOnce() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        long steer = session.steer();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        session.close("done");

        assertThat(session.outcome(steer)).contains(Outcome.CLOSED);
        assertThat(session.durable().front()).isEmpty();
    }
}
