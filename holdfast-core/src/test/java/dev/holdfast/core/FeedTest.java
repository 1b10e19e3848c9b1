package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.FeedEnd;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a reading surface gets, one feed at a time, in flight until settled (MB-01 to MB-06, CH-08, IN-04). */
class FeedTest extends CoreScenario {
    private final CoreDriver inbox = new CoreDriver(Limits.standard(), Settings.of(Settings.Taker.READER));

    private FeedEnd end() {
        return inbox.newest(Event.FeedEnded.class).cause();
    }

    @Test
    @Tag("IN-04")
    @Tag("MB-01")
    @Tag("MB-02")
    void next_takesTheHeadInOrder_andItIsInFlightUntilSettled() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        assertThat(inbox.newest(Event.MessagesTaken.class).messages())
                .extracting(Taken::number)
                .containsExactly(1L);
        assertThat(inbox.inHand()).containsExactly(1L);
        assertThat(inbox.durable().consumed()).isEqualTo(1);
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(1L, 2L);
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(inbox.newest(Event.MessageEnded.class).text()).isEqualTo("answer to 1");
        assertThat(inbox.inHand()).containsExactly(2L);
    }

    @Test
    @Tag("IN-04")
    void next_ofAnEmptyQueue_waitsForTheNextMessage() {
        inbox.openFeed();
        inbox.next();
        assertThat(inbox.live().demand()).isPresent();
        long message = inbox.message();
        assertThat(inbox.inHand()).containsExactly(message);
        inbox.message();
        assertThat(inbox.inHand()).as("one was asked for").containsExactly(message);
    }

    @Test
    @Tag("IN-04")
    void takeAll_takesWhatWasAcceptedSoFar_andDoesNotWait() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.takeAll();
        assertThat(inbox.inHand()).containsExactly(1L, 2L);
        inbox.takeAll();
        assertThat(inbox.live().demand()).as("nothing is an answer").isEmpty();
        assertThat(inbox.live().takes()).isEqualTo(2);
    }

    @Test
    @Tag("IN-04")
    void takeAll_beforeEverythingWasRead_waitsForTheReading() {
        inbox.openFeed();
        inbox.accept(ArrivalKind.MESSAGE);
        inbox.takeAll();
        assertThat(inbox.live().demand()).isPresent();
        inbox.read();
        assertThat(inbox.inHand()).containsExactly(1L);
    }

    @Test
    @Tag("CH-02")
    void take_withdrawn_takesNothing() {
        long feed = inbox.openFeed();
        inbox.next();
        inbox.take(new Input.TakeWithdrawn(feed));
        inbox.message();
        assertThat(inbox.inHand()).isEmpty();
        assertThat(inbox.durable().named(1)).isFalse();
    }

    @Test
    @Tag("IN-02")
    @Tag("IN-06")
    void reader_getsEveryKindInItsPlace_andOnlyWordsAreInFlight() {
        long message = inbox.accept(ArrivalKind.MESSAGE);
        long cancel = inbox.accept(ArrivalKind.CANCEL);
        long reset = inbox.accept(ArrivalKind.RESET);
        long clear = inbox.accept(ArrivalKind.CLEAR);
        long timeOut = inbox.accept(ArrivalKind.SESSION_TIMEOUT, CoreDriver.ofOwner(1));
        long replace = inbox.accept(ArrivalKind.REPLACE);
        inbox.openFeed();
        inbox.readUrgent();
        inbox.takeAll();
        assertThat(inbox.durable().named(cancel))
                .as("not ahead of what is unread")
                .isFalse();
        inbox.read();
        assertThat(inbox.newest(Event.MessagesTaken.class).messages())
                .extracting(Taken::number)
                .containsExactly(message, cancel, reset, clear, timeOut, replace);
        assertThat(inbox.inHand()).containsExactly(message, replace);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(inbox.durable().consumed()).isEqualTo(2);
    }

    // ---- one feed after the other ---------------------------------------------------------------------------------

    @Test
    @Tag("MB-03")
    @Tag("MB-05")
    void feed_openedAnew_fencesTheOldOneAndTakesBackWhatItHeld() {
        inbox.message();
        inbox.message();
        long old = inbox.openFeed();
        inbox.next();
        inbox.openFeed();
        assertThat(end()).isEqualTo(FeedEnd.FENCED);
        assertThat(inbox.durable().lastEnd()).isEqualTo("FENCED");
        assertThat(inbox.front()).containsExactly(1L);
        assertThat(inbox.durable().consumed()).as("its count is undone").isZero();

        inbox.take(new Input.TakeWanted(old, 1, true, 0));
        assertThat(inbox.inHand()).as("a stale reader takes nothing").isEmpty();
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(1L);
        inbox.take(new Input.ReadSettled(old, 1, Outcome.ANSWERED, "late"));
        assertThat(inbox.outcome(1)).as("and settles nothing").isEmpty();
        inbox.take(new Input.ReadReturned(old, java.util.List.of(1L), "late"));
        inbox.take(new Input.FeedOver(old, FeedEnd.ENDED, false));
        inbox.take(new Input.TakeWithdrawn(old));
        assertThat(inbox.inHand()).containsExactly(1L);
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-03")
    @Tag("MB-04")
    void message_betweenTwoFeeds_goesToTheSecond() {
        inbox.openFeed();
        inbox.next();
        inbox.feedOver(FeedEnd.ENDED, false);
        inbox.message();
        assertThat(inbox.inHand()).isEmpty();
        inbox.openFeed();
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(1L);
    }

    @Test
    @Tag("MB-05")
    @Tag("MB-17")
    void hostDeath_withMessagesInFlight_putsThemInFrontOnce() {
        inbox.message();
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.next();
        inbox.hostCrash();
        assertThat(inbox.durable().lastEnd()).isEqualTo("CRASHED");
        assertThat(inbox.front()).containsExactly(1L, 2L);
        assertThat(inbox.durable().consumed()).isZero();
        inbox.hostCrash();
        assertThat(inbox.front()).containsExactly(1L, 2L);
        inbox.openFeed();
        inbox.takeAll();
        assertThat(inbox.inHand()).containsExactly(1L, 2L, 3L);
    }

    @Test
    @Tag("MB-06")
    void hostDeath_afterASettlement_doesNotGiveItAgain() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.settle(1);
        inbox.hostCrash();
        assertThat(inbox.front()).isEmpty();
        assertThat(inbox.durable().consumed()).isEqualTo(1);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("CH-08")
    void return_ofSome_putsThemInFrontAndKeepsTheRest() {
        inbox.message();
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.takeAll();
        inbox.giveBack(2);
        assertThat(inbox.inHand()).containsExactly(1L, 3L);
        assertThat(inbox.front()).containsExactly(2L);
        inbox.next();
        assertThat(inbox.inHand()).containsExactlyInAnyOrder(1L, 2L, 3L);
    }

    @Test
    @Tag("CH-08")
    @Tag("MB-01")
    void returns_oneAfterTheOther_standInFrontInTheirOrder() {
        inbox.message();
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.takeAll();
        inbox.giveBack(1);
        inbox.giveBack(3);
        inbox.giveBack(2);
        assertThat(inbox.front()).containsExactly(1L, 2L, 3L);
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(1L);
    }

    @Test
    @Tag("CH-08")
    void end_ofTheReadersScope_givesBackWhatItHeld() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.feedOver(FeedEnd.ENDED, false);
        assertThat(inbox.front()).containsExactly(1L);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("CH-08")
    @Tag("MB-09")
    void end_ofADrainedFeed_keepsWhatIsInFlightUntilItIsSettled() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.feedOver(FeedEnd.DRAINED, true);
        assertThat(inbox.inHand()).containsExactly(1L);
        assertThat(inbox.sleepable()).as("its reader has it and may settle it").isFalse();
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.ANSWERED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("CH-08")
    void end_ofTheScopeAfterADrain_givesBackWhatWasKept() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.feedOver(FeedEnd.DRAINED, true);
        inbox.feedOver(FeedEnd.ENDED, false);
        assertThat(inbox.front()).containsExactly(1L);
        assertThat(inbox.durable().lastEnd()).as("the feed ended before").isEqualTo("DRAINED");
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

    @Test
    @Tag("MB-08")
    void pause_endsTheFeedThatAsks_andKeepsWhatIsInFlight() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.pause("money");
        inbox.next();
        assertThat(end()).isEqualTo(FeedEnd.PAUSED);
        assertThat(inbox.inHand()).containsExactly(1L);
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.ANSWERED);
        inbox.resume();
        inbox.openFeed();
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(2L);
    }

    @Test
    @Tag("MB-09")
    @Tag("MB-19")
    void drain_wakesAndEndsAWaitingReader_andTakesNothingMore() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.next();
        inbox.drain(Duration.ofMinutes(5));
        assertThat(end()).isEqualTo(FeedEnd.DRAINED);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.DRAINING);
        inbox.message();
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(1L);
        assertThat(inbox.sleepable()).isFalse();
        inbox.settle(1);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-09")
    @Tag("MB-19")
    void drain_withNothingInFlight_endsTheFeedAsDrained() {
        inbox.openFeed();
        inbox.next();
        inbox.drain(Duration.ofMinutes(5));
        assertThat(inbox.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(end()).isEqualTo(FeedEnd.DRAINED);
        assertThat(inbox.durable().lastEnd()).isEqualTo("DRAINED");
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-09")
    void drain_atItsDeadline_pausesWithTheMessageStillInHand() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.drain(Duration.ofMinutes(5));
        inbox.tickDue();
        assertThat(inbox.durable().phase()).isEqualTo(Phase.PAUSED);
        assertThat(inbox.durable().phaseReason()).contains("1 messages in flight");
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-07")
    void finish_givesWhatIsQueuedAndThenEndsTheFeed() {
        inbox.message();
        inbox.message();
        inbox.finish("done");
        inbox.openFeed();
        inbox.next();
        inbox.settle(1);
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(2L);
        inbox.next();
        assertThat(end()).isEqualTo(FeedEnd.CLOSED);
        assertThat(inbox.durable().phase()).as("one is in flight").isEqualTo(Phase.OPEN);
        inbox.settle(2);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.CLOSED);
        assertThat(inbox.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-07")
    void finish_withAMessageGivenBack_givesItAgainFirst() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.finish("done");
        inbox.giveBack(1);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.OPEN);
        inbox.next();
        inbox.settle(1);
        assertThat(inbox.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("P2")
    void close_endsWhatIsInHandAndWhatWaits() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.next();
        inbox.message();
        inbox.giveBack(2);
        inbox.openFeed();
        inbox.next();
        inbox.close("done");
        for (long m = 1; m <= 3; m++) {
            assertThat(inbox.outcome(m)).contains(Outcome.CLOSED);
        }
        inbox.settle(1);
        assertThat(inbox.outcome(1)).contains(Outcome.CLOSED);
        inbox.next();
        assertThat(end()).isEqualTo(FeedEnd.CLOSED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("P4")
    void feed_ofAClosedSession_isOverAtOnce() {
        inbox.close("done");
        long feed = inbox.openFeed();
        assertThat(feed).isEqualTo(1);
        assertThat(end()).isEqualTo(FeedEnd.CLOSED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    void leaving_givesBackWhatIsInHand() {
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.leave();
        assertThat(inbox.front()).containsExactly(1L);
        assertThat(end()).isEqualTo(FeedEnd.ENDED);
        assertThat(inbox.sleepable()).isTrue();
    }

    @Test
    @Tag("IN-17")
    void reading_isUseOfTheSession() {
        var most = Limits.standard().unused().minusDays(1);
        inbox.sleep(most);
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.settle(1);
        inbox.feedOver(FeedEnd.ENDED, false);
        inbox.sleep(most);
        inbox.tick(Duration.ofMinutes(2));
        assertThat(inbox.durable().phase()).isEqualTo(Phase.OPEN);
        inbox.tick(Duration.ofDays(1));
        assertThat(inbox.durable().phase()).isEqualTo(Phase.CLOSED);
    }

    @Test
    @Tag("MB-18")
    void returned_messages_countNoMoreAgainstTheLimit() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.takeAll();
        inbox.giveBack(1, 2);
        assertThat(inbox.durable().ordinaryDone()).isEqualTo(2);
        assertThat(inbox.durable().ordinaryDoneBytes()).isEqualTo(30);
    }

    // ---- addresses given up ---------------------------------------------------------------------------------------

    @Test
    @Tag("IN-10")
    void release_ofAReadersAddresses_returnsEverythingUnreadInOrder() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.giveBack(1);
        long cancel = inbox.arrive(ArrivalKind.CANCEL);
        inbox.arrive(ArrivalKind.RELEASE);
        assertThat(inbox.newest(Event.MessagesReleased.class).messages())
                .extracting(Taken::number)
                .containsExactly(1L, 2L, cancel);
        assertThat(inbox.front()).isEmpty();
        long later = inbox.message();
        inbox.next();
        assertThat(inbox.inHand()).containsExactly(later);
    }

    @Test
    @Tag("IN-10")
    void release_leavesWhatIsInFlight_andTheSecondIsEmpty() {
        inbox.message();
        inbox.message();
        inbox.openFeed();
        inbox.next();
        inbox.arrive(ArrivalKind.RELEASE);
        assertThat(inbox.inHand()).containsExactly(1L);
        inbox.arrive(ArrivalKind.RELEASE);
        assertThat(inbox.newest(Event.MessagesReleased.class).messages()).isEmpty();
        assertThat(inbox.durable().released()).hasSize(1);
    }

    @Test
    @Tag("IN-05")
    @Tag("IN-10")
    void release_readAheadOfTheQueue_waitsForIt() {
        inbox.accept(ArrivalKind.MESSAGE);
        inbox.accept(ArrivalKind.RELEASE);
        inbox.accept(ArrivalKind.MESSAGE);
        inbox.readUrgent();
        assertThat(inbox.journal(Event.MessagesReleased.class)).isEmpty();
        inbox.read();
        assertThat(inbox.newest(Event.MessagesReleased.class).messages())
                .extracting(Taken::number)
                .containsExactly(1L);
    }

    @Test
    @Tag("IN-11")
    void restore_putsThemInFrontInTheirOrder_whateverOrderIsAskedFor() {
        inbox.message();
        inbox.message();
        inbox.message();
        inbox.arrive(ArrivalKind.RELEASE);
        long later = inbox.message();
        inbox.restore(3, 1, 99);
        inbox.restore(2);
        assertThat(inbox.front()).containsExactly(1L, 2L, 3L);
        assertThat(inbox.durable().released()).isEmpty();
        inbox.openFeed();
        inbox.takeAll();
        assertThat(inbox.inHand()).containsExactly(1L, 2L, 3L, later);
    }

    @Test
    @Tag("IN-11")
    @Tag("MB-17")
    void released_messages_survivAHostDeathAndCanBeRestored() {
        inbox.message();
        inbox.arrive(ArrivalKind.RELEASE);
        inbox.hostCrash();
        assertThat(inbox.front()).isEmpty();
        inbox.restore(1);
        inbox.restore(1);
        assertThat(inbox.front()).containsExactly(1L);
    }

    @Test
    @Tag("IN-10")
    @Tag("IN-11")
    void release_ofAnAgentsAddresses_takesWordsThatWait_andRestoreRunsThemFirst() {
        session.message();
        session.up();
        session.landed();
        long second = session.message();
        long clear = session.arrive(ArrivalKind.CLEAR);
        session.arrive(ArrivalKind.RELEASE);
        assertThat(session.newest(Event.MessagesReleased.class).messages())
                .extracting(Taken::number)
                .containsExactly(second);
        assertThat(session.durable().named(clear)).isFalse();
        long later = session.message();
        session.restore(second);
        session.result("1");
        assertThat(session.inTurn()).containsExactly(second);
        session.idle();
        session.answered("2");
        session.ended("end of input", "");
        assertThat(session.durable().forgotten()).isEqualTo(2);
        assertThat(session.inTurn()).containsExactly(later);
    }

    @Test
    @Tag("IN-10")
    @Tag("P2")
    void release_ofASteerThatIsBeingTold_leavesIt() {
        session.message();
        session.up();
        session.landed();
        long steer = session.steer();
        session.arrive(ArrivalKind.RELEASE);
        assertThat(session.newest(Event.MessagesReleased.class).messages()).isEmpty();
        session.landed();
        session.result("both");
        assertThat(session.outcome(steer)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("P2")
    void close_withReleasedMessages_endsThemToo_andARestoreComesTooLate() {
        inbox.message();
        inbox.arrive(ArrivalKind.RELEASE);
        inbox.close("done");
        assertThat(inbox.outcome(1)).contains(Outcome.CLOSED);
        inbox.restore(1);
        assertThat(inbox.newest(Event.MessagesRestored.class).messages()).isEmpty();
        assertThat(inbox.front()).isEmpty();
    }

    @Test
    @Tag("P2")
    void release_behindAClose_takesNothingFromWhatWasClosed() {
        session.accept(ArrivalKind.MESSAGE);
        session.accept(ArrivalKind.CLOSE);
        session.accept(ArrivalKind.RELEASE);
        session.readUrgent();
        session.read();
        assertThat(session.outcome(1)).contains(Outcome.CLOSED);
        assertThat(session.newest(Event.MessagesReleased.class).messages()).isEmpty();
    }

    @Test
    @Tag("P2")
    @Tag("P4")
    void restored_arrivalsWithoutWords_openNoTurnOfAnAgent() {
        inbox.arrive(ArrivalKind.CANCEL);
        inbox.arrive(ArrivalKind.CLEAR);
        inbox.arrive(ArrivalKind.RELEASE);
        inbox.restore(1, 2);
        assertThat(inbox.front()).containsExactly(1L, 2L);
        inbox.hostCrash(Settings.standard());
        assertThat(inbox.front()).isEmpty();
        assertThat(inbox.turnsOpened()).isZero();
        assertThat(inbox.journal(Event.MemoryDropped.class)).hasSize(1);
        long message = inbox.message();
        assertThat(inbox.inTurn()).containsExactly(message);
    }

    @Test
    @Tag("IN-22")
    void close_withRestoredArrivalsWithoutWords_givesThemNoTerminalRecord() {
        inbox.arrive(ArrivalKind.CANCEL);
        inbox.arrive(ArrivalKind.RELEASE);
        inbox.restore(1);
        inbox.close("done");
        assertThat(inbox.journal(Event.MessageEnded.class)).isEmpty();
        assertThat(inbox.front()).isEmpty();
    }
}
