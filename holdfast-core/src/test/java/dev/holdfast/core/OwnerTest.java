package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.FeedEnd;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Owners that take no mail, sessions nobody uses, and the end of every arrival (IN-17, IN-21, IN-22). */
class OwnerTest extends CoreScenario {
    private static final Settings NOBODY = Settings.of(Settings.Taker.NOBODY);

    // ---- nobody takes the mail ------------------------------------------------------------------------------------

    @Test
    @Tag("IN-21")
    void mail_thatNobodyTakes_waitsAndLetsTheOwnerGo() {
        var nobody = new CoreDriver(Limits.standard(), NOBODY);
        nobody.message();
        assertThat(nobody.effects()).isEmpty();
        assertThat(nobody.waits()).isTrue();
        assertThat(nobody.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-06")
    void cancelsAndWithdrawals_areActedOnThoughNobodyTakesTheMail() {
        var nobody = new CoreDriver(Limits.standard(), NOBODY);
        nobody.message();
        nobody.message();
        nobody.cancel();
        nobody.withdraw(2);
        assertThat(nobody.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(nobody.outcome(2)).contains(Outcome.WITHDRAWN);
    }

    @Test
    @Tag("P4")
    void turn_leftByAnAgentsHost_doesNotHoldAnOwnerThatCannotRunIt() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash(NOBODY);
        assertThat(session.effects()).isEmpty();
        assertThat(session.sleepable())
                .as("it stands in the way of the one who can")
                .isTrue();
        session.hostCrash(Settings.standard());
        session.up(session.hasOpen(id));
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P4")
    void cancel_ofATurnLeftByAnAgentsHost_isActedOnByAnyOwner() {
        session.message();
        session.up();
        session.landed();
        session.hostCrash(NOBODY);
        session.cancelTurn(1);
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-05")
    void messages_leftInAReadersHand_areGivenBackByTheNextOwner() {
        var inbox = new CoreDriver(Limits.standard(), Settings.of(Settings.Taker.READER));
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.hostCrash(Settings.standard());
        assertThat(inbox.inTurn()).containsExactly(1L);
        assertThat(inbox.durable().ordinaryDone()).isEqualTo(1);
    }

    // ---- unused sessions ------------------------------------------------------------------------------------------

    @Test
    @Tag("IN-17")
    void session_withoutATurnForThirtyDays_isClosed_andARestartDoesNotPushItOut() {
        session.exchange("1");
        session.tick(Duration.ofMinutes(5));
        session.ended("end of input", "");
        var due = session.durable().usedAt().plus(Limits.standard().unused());
        assertThat(session.wakeAt()).contains(due);
        session.sleep(Duration.ofDays(29));
        session.hostCrash();
        assertThat(session.wakeAt()).contains(due);
        session.tick(Duration.between(session.now(), due).minusMillis(1));
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.sleepable()).as("it is due within a minute").isFalse();
        session.tick(Duration.ofMillis(1));
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().phaseReason()).contains("30 days");
        assertThat(session.wakeAt()).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-17")
    @Tag("P2")
    void message_acceptedWhileNobodyWasAwakeForLonger_isRunAndNotClosedOver() {
        session.exchange("1");
        session.evict();
        session.ended("end of input", "");
        session.sleep(Duration.ofDays(31));
        long message = session.accept(ArrivalKind.MESSAGE);
        session.newOwner();
        assertThat(session.durable().phase())
                .as("what woke it was not read yet")
                .isEqualTo(Phase.OPEN);
        session.tick(Duration.ZERO);
        session.read();
        assertThat(session.inTurn()).containsExactly(message);
    }

    @Test
    @Tag("IN-17")
    void owner_thatWokeForAnUnusedSession_closesItOnceItsMailCouldBeRead() {
        session.sleep(Duration.ofDays(31));
        session.newOwner();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.sleepable()).isFalse();
        session.tickDue();
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("IN-17")
    @Tag("P4")
    void unusedSession_withAReaderThatWaits_tellsItOfTheEnd() {
        var inbox = new CoreDriver(Limits.standard(), Settings.of(Settings.Taker.READER));
        inbox.openFeed();
        inbox.next();
        inbox.tickDue();
        assertThat(inbox.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(inbox.newest(Event.FeedEnded.class).cause()).isEqualTo(FeedEnd.CLOSED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-17")
    @Tag("P2")
    void unusedSession_whoseMailWasNotReadYet_isNotClosedOverIt() {
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.EVICT);
        session.sleep(Duration.ofDays(31));
        session.readUrgent();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        session.read();
        assertThat(session.inTurn()).containsExactly(1L);
    }

    @Test
    @Tag("IN-17")
    void unusedSession_withMailThatWaits_isNotClosed() {
        session.pause("");
        session.message();
        session.tick(Duration.ofDays(60));
        assertThat(session.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(session.wakeAt()).isEmpty();
    }

    @Test
    @Tag("IN-17")
    void timeOut_ofThisOwner_closesAnIdleSession() {
        session.exchange("1");
        session.timeOut(session.epoch());
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
    }

    @Test
    @Tag("IN-17")
    void timeOut_ofAFormerOwner_doesNothing() {
        session.exchange("1");
        session.accept(ArrivalKind.SESSION_TIMEOUT, CoreDriver.ofOwner(session.epoch()));
        session.hostCrash();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.done(2)).contains("former owner");
        long nameless = session.arrive(ArrivalKind.SESSION_TIMEOUT);
        assertThat(session.done(nameless)).contains("former owner");
    }

    @Test
    @Tag("IN-17")
    void timeOut_inATurn_doesNothing() {
        session.message();
        long timeOut = session.timeOut(session.epoch());
        assertThat(session.done(timeOut)).contains("not idle");
        assertThat(session.durable().turn()).isPresent();
    }

    @Test
    @Tag("IN-17")
    @Tag("P2")
    void timeOut_behindAMessage_findsTheSessionNotIdle() {
        session.exchange("1");
        long message = session.accept(ArrivalKind.MESSAGE);
        long timeOut = session.accept(ArrivalKind.SESSION_TIMEOUT, CoreDriver.ofOwner(session.epoch()));
        session.readUrgent();
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        session.read();
        assertThat(session.done(timeOut)).contains("not idle");
        assertThat(session.inTurn()).containsExactly(message);
    }

    private static Header.Wish wish(ArrivalKind kind) {
        return switch (kind) {
            case ANSWER -> CoreDriver.to("q");
            case WITHDRAW -> CoreDriver.about(2);
            default -> Header.Wish.none();
        };
    }

    // ---- every arrival --------------------------------------------------------------------------------------------

    @Test
    @Tag("IN-22")
    void arrivals_ofEveryKind_areEachNamedOnce() {
        var left = EnumSet.allOf(ArrivalKind.class);
        session.question("q", Duration.ofHours(1));
        for (ArrivalKind kind : ArrivalKind.values()) {
            if (kind != ArrivalKind.CLOSE && kind != ArrivalKind.FINISH) {
                session.accept(kind, wish(kind));
                left.remove(kind);
            }
        }
        session.accept(ArrivalKind.FINISH);
        session.read();
        session.resume();
        for (int i = 0; i < 20 && session.durable().phase() == Phase.OPEN; i++) {
            switch (session.live().stage()) {
                case PLANNED -> session.up(session.remembers(session.newestMark()));
                case READY -> session.answered("words");
                default -> session.ended("asked to", "");
            }
        }
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        session.close("again");
        left.removeAll(EnumSet.of(ArrivalKind.CLOSE, ArrivalKind.FINISH));
        assertThat(left).isEmpty();
        assertThat(session.durable().takenThrough()).isEqualTo(ArrivalKind.values().length + 1);
        assertThat(session.durable().ahead()).isEmpty();
    }

    @Test
    @Tag("IN-22")
    @Tag("IN-21")
    void arrivals_ofEveryKind_readAheadAndByAnotherOwner_areEachNamedOnce() {
        Arrays.stream(ArrivalKind.values()).forEach(kind -> session.accept(kind, wish(kind)));
        session.readUrgent();
        session.hostCrash();
        assertThat(session.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(session.durable().takenThrough()).isEqualTo(ArrivalKind.values().length);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-18")
    void countedArrivals_thatAreNamed_countNoMore_andNoOthersDo() {
        session.exchange("1");
        session.arrive(ArrivalKind.CLEAR);
        session.ended("end of input", "");
        session.replace();
        session.cancel();
        assertThat(session.durable().ordinaryDone()).isEqualTo(3);
        assertThat(session.durable().ordinaryDoneBytes()).isEqualTo(10 + 20 + 30);
    }
}
