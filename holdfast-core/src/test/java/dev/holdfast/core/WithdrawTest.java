package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Taking a waiting message out by its number: exactly one of take and withdraw wins (MB-21). */
class WithdrawTest extends CoreScenario {
    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAWaitingMessage_endsItAndTheQueueGoesOn() {
        running();
        long waiting = session.message();
        long after = session.message();
        long withdraw = session.withdraw(waiting);

        assertThat(session.outcome(waiting)).contains(Outcome.WITHDRAWN);
        assertThat(session.done(withdraw)).isEqualTo(Event.ArrivalDone.WITHDRAWN);
        session.result("1");
        assertThat(session.inTurn()).containsExactly(after);
    }

    @Test
    @Tag("MB-21")
    void withdraw_readWithItsMessage_winsOverTheTake() {
        long message = session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.WITHDRAW, CoreDriver.about(message));
        session.read();

        assertThat(session.outcome(message)).contains(Outcome.WITHDRAWN);
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.journal(Event.TurnOpened.class)).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAMessageInItsTurn_isTooLateAndChangesNothing() {
        running();
        long withdraw = session.withdraw(1);

        assertThat(session.done(withdraw)).isEqualTo("too late: message 1 is in turn 1");
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAMessageThatHasEnded_isTooLate() {
        session.exchange("1");
        long withdraw = session.withdraw(1);
        assertThat(session.done(withdraw)).startsWith("too late");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-21")
    void withdraw_twice_isTooLateTheSecondTime() {
        running();
        long waiting = session.message();
        session.withdraw(waiting);
        long second = session.withdraw(waiting);
        assertThat(session.done(second)).startsWith("too late");
        assertThat(session.outcome(waiting)).contains(Outcome.WITHDRAWN);
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofASteerThatIsBeingTold_isTooLateAndItLands() {
        running();
        long steer = session.steer();
        long withdraw = session.withdraw(steer);
        assertThat(session.done(withdraw)).isEqualTo("too late: message " + steer + " is in turn 1");
        session.landed();
        session.result("both");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofASteerBehindOneThatIsBeingTold_takesItOut() {
        running();
        session.steer();
        long second = session.steer();
        session.withdraw(second);
        session.landed();

        assertThat(session.told()).isEmpty();
        assertThat(session.outcome(second)).contains(Outcome.WITHDRAWN);
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofASteerThatCameBack_takesItOutOfTheFront() {
        running();
        var id = session.line();
        long steer = session.steer();
        session.landed();
        session.pause("");
        session.hostCrash();
        session.resume();
        session.slotGranted();
        session.pause("");
        session.known(session.hasOpen(id));
        assertThat(session.front()).containsExactly(steer);
        long withdraw = session.withdraw(steer);

        assertThat(session.done(withdraw)).isEqualTo(Event.ArrivalDone.WITHDRAWN);
        assertThat(session.outcome(steer)).contains(Outcome.WITHDRAWN);
        assertThat(session.front()).isEmpty();
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofWhatIsNotThere_saysSo() {
        running();
        long withdraw = session.withdraw(1_000);
        assertThat(session.done(withdraw)).isEqualTo(Event.ArrivalDone.UNKNOWN_MESSAGE);
        long itself = session.withdraw(session.durable().takenThrough() + 1);
        assertThat(session.done(itself)).isEqualTo(Event.ArrivalDone.UNKNOWN_MESSAGE);
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAnArrivalWithoutWords_isTooLate() {
        running();
        long clear = session.arrive(ArrivalKind.CLEAR);
        long withdraw = session.withdraw(clear);
        assertThat(session.done(withdraw)).startsWith("too late");
        assertThat(session.durable().named(clear)).isFalse();
    }

    @Test
    @Tag("IN-05")
    @Tag("MB-21")
    void withdraw_readAheadOfItsMessage_waitsForIt() {
        long first = session.accept(ArrivalKind.MESSAGE);
        long second = session.accept(ArrivalKind.MESSAGE);
        long withdraw = session.accept(ArrivalKind.WITHDRAW, CoreDriver.about(second));
        session.readUrgent();
        assertThat(session.done(withdraw)).isEmpty();
        session.read();

        assertThat(session.outcome(second)).contains(Outcome.WITHDRAWN);
        assertThat(session.inTurn()).containsExactly(first);
    }

    @Test
    @Tag("MB-21")
    @Tag("IN-22")
    void withdraw_readAgainAfterAHostDeath_isNotDoneTwice() {
        running();
        long waiting = session.message();
        session.withdraw(waiting);
        session.hostCrash();
        assertThat(session.journal(Event.MessageEnded.class)).hasSize(1);
        assertThat(session.outcome(waiting)).contains(Outcome.WITHDRAWN);
    }
}
