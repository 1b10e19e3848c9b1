package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Outcome;
import dev.holdfast.TurnResult;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests of the host's own to the present incarnation (MB-16). */
class InternalTest extends CoreScenario {
    @Test
    @Tag("MB-16")
    void request_betweenTurns_isToldUnderItsOwnIdAndCountsAsNoMessage() {
        session.exchange("1");
        var before = session.durable();
        var id = session.internal();

        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.INTERNAL);
        assertThat(session.line()).isEqualTo(id);
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.INTERNAL);
        session.answered("a summary");
        var settled = session.newest(Event.TurnSettled.class);
        assertThat(settled.kind()).isEqualTo(Told.Kind.INTERNAL);
        assertThat(settled.text()).isEqualTo("a summary");
        assertThat(settled.messages()).isEmpty();
        assertThat(session.durable().consumed()).isEqualTo(before.consumed());
        assertThat(session.durable().ordinaryDone()).isEqualTo(before.ordinaryDone());
        assertThat(session.durable().lastWords()).as("no reply to anybody").isEqualTo("1");
    }

    @Test
    @Tag("MB-16")
    void request_inATurn_waitsForItsEndAndGoesBeforeMail() {
        session.message();
        session.up();
        session.landed();
        long waiting = session.message();
        session.internal();
        assertThat(session.turn().number()).isEqualTo(1);
        session.result("1");
        session.idle();
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.INTERNAL);
        session.answered("summary");
        assertThat(session.inTurn()).containsExactly(waiting);
    }

    @Test
    @Tag("MB-16")
    void request_withNoProcessThatTakesLines_isDroppedAndLookedAt() {
        session.internal();
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.live().asked()).isEqualTo(1);
        session.message();
        session.internal();
        assertThat(session.live().internal()).isEmpty();
        session.up();
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.MESSAGE);
        session.answered("1");
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("MB-16")
    void request_withdrawnWhileItWaits_isNeverTold() {
        session.message();
        session.up();
        session.landed();
        var id = session.internal();
        var other = session.internal();
        session.take(new Input.InternalWithdrawn(id));
        session.result("1");
        session.idle();
        assertThat(session.line()).isEqualTo(other);
        session.answered("2");
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("MB-16")
    void request_withdrawnOnceItWasTold_goesOn() {
        session.exchange("1");
        var id = session.internal();
        session.take(new Input.InternalWithdrawn(id));
        assertThat(session.line()).isEqualTo(id);
        session.answered("summary");
        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-16")
    void requests_withAnAgentThatDies_areNotInherited() {
        session.exchange("1");
        session.internal();
        session.internal();
        session.landed();
        session.died();

        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.live().internal()).isEmpty();
        assertThat(session.effects()).as("no process is started for it").isEmpty();
        session.message();
        session.up(session.remembers(2));
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.MESSAGE);
        session.answered("2");
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("MB-16")
    void request_withAHostThatDies_isNotInherited() {
        session.exchange("1");
        session.internal();
        session.landed();
        session.hostCrash();
        assertThat(session.newest(Event.TurnSettled.class).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(session.effects()).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-09")
    @Tag("MB-16")
    void requests_onADrain_vanishButForTheOneInFlight() {
        session.exchange("1");
        var first = session.internal();
        session.internal();
        session.drain(Duration.ofMinutes(1));
        assertThat(session.live().internal()).isEmpty();
        assertThat(session.line()).isEqualTo(first);
        session.internal();
        assertThat(session.live().internal()).as("none is taken any more").isEmpty();
        session.answered("summary");
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        session.ended("end of input", "");
        session.resume();
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("MB-16")
    @Tag("TN-09")
    void steer_duringARequest_waitsForATurnOfItsOwn() {
        session.exchange("1");
        session.internal();
        session.landed();
        long steer = session.steer();
        assertThat(session.told()).as("a request of the host takes no mail").isEmpty();
        session.died();
        assertThat(session.outcome(steer)).as("it is not lost with the request").isEmpty();
        assertThat(session.inTurn()).containsExactly(steer);
    }

    @Test
    @Tag("MB-16")
    void request_thatReachesTheLimitOfSteps_doesNotGoOn() {
        session.exchange("1");
        session.internal();
        session.landed();
        session.result(CoreDriver.result(TurnResult.Ending.TURN_LIMIT, "half", List.of()));
        session.idle();
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().continueAfter()).isEmpty();
    }

    @Test
    @Tag("IN-17")
    @Tag("MB-16")
    void request_isNoUseOfTheSession() {
        session.exchange("1");
        var used = session.durable().usedAt();
        session.tick(Duration.ofMinutes(1));
        session.internal();
        session.answered("summary");
        assertThat(session.durable().usedAt()).isEqualTo(used);
    }

    @Test
    @Tag("IN-06")
    @Tag("MB-16")
    void cancel_ofAMessageNextToRun_doesNotHitARequestThatWasOpenedMeanwhile() {
        session.exchange("1");
        long message = session.accept(dev.holdfast.ArrivalKind.MESSAGE);
        session.accept(dev.holdfast.ArrivalKind.WITHDRAW, CoreDriver.about(message));
        session.accept(dev.holdfast.ArrivalKind.CANCEL);
        session.internal();
        session.read();
        assertThat(session.outcome(message)).contains(Outcome.WITHDRAWN);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
    }

    @Test
    @Tag("MB-16")
    @Tag("TN-16")
    void request_behindATurnThatWasNeverTold_bringsItsWords() {
        session.message();
        session.up();
        session.landed();
        session.result("1");
        session.message();
        session.cancel();
        assertThat(session.outcome(2)).contains(Outcome.CANCELLED);
        session.idle();
        session.internal();
        assertThat(session.effect(Effect.Tell.class).orElseThrow().retellFrom()).isEqualTo(2);
    }
}
