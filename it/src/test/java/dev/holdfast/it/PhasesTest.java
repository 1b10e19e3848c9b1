package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.failure;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.refused;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.CloseReason;
import dev.holdfast.FeedEnd;
import dev.holdfast.Inbox;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.Withdrawal;
import dev.holdfast.runtime.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a session gives and takes while it is paused, drained, finished or closed, and what is known of it; real files. */
final class PhasesTest {
    @TempDir
    Path data;

    private Station station;
    private Inbox inbox;

    @BeforeEach
    void open() {
        station = new Station(data);
        inbox = now(station.host().inbox(NAME));
    }

    @AfterEach
    void close() {
        station.close();
    }

    private void restart() {
        station.restart();
        inbox = now(station.host().inbox(NAME));
    }

    private void awaitPhase(String phase) {
        awaitStatus(inbox.session(), s -> s.phase().equals(phase));
    }

    // ---- finish and close -----------------------------------------------------------------------------------------

    @Tag("MB-07")
    @Test
    void finish_deliversWhatIsQueuedAndThenEnds() {
        send(inbox.session(), "one", "two");
        stored(now(inbox.session().finish("enough")));
        awaitStatus(inbox.session(), s -> s.finishing().isPresent());
        var refusal = refused(inbox.session().send(Message.of("three")));
        assertThat(refusal.message()).contains("being finished").contains("enough");
        assertThat(text(inbox.next())).contains("one");
        var second = now(inbox.next()).orElseThrow();
        var end = inbox.next();
        assertThat(now(end)).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.CLOSED);
        assertThat(inbox.session().status().phase())
                .as("while something is in flight")
                .isEqualTo("OPEN");
        assertThat(now(inbox.settle(second, "done"))).isTrue();
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        now(inbox.settle(now(inbox.next()).orElseThrow(), "done"));
        var status = awaitStatus(inbox.session(), s -> s.phase().equals("CLOSED"));
        assertThat(status.phaseReason()).isEqualTo("enough");
        assertThat(refused(inbox.session().send(Message.of("four"))).message()).contains("enough");
    }

    @Tag("MB-07")
    @ParameterizedTest
    @ValueSource(strings = {"", "the first"})
    void finish_firstCloseWins_withOrWithoutAReason(String reason) {
        send(inbox.session(), "one");
        stored(now(inbox.session().finish(reason)));
        stored(now(inbox.session().finish("the second")));
        assertThat(awaitStatus(inbox.session(), s -> s.finishing().isPresent()).finishing())
                .contains(reason);
        restart();
        assertThat(inbox.session().status().finishing()).as("after a restart").contains(reason);
        assertThat(refused(inbox.session().send(Message.of("no"))).message()).doesNotContain("second");
        inbox.session().close("the third");
        var status = awaitStatus(inbox.session(), s -> s.phase().equals("CLOSED"));
        assertThat(status.phaseReason()).isEqualTo(reason);
    }

    @Tag("MB-07")
    @Test
    void close_twice_keepsTheFirstReason() {
        inbox.session().close("the first");
        awaitPhase("CLOSED");
        assertThat(refused(inbox.session().close("the second")).message()).contains("the first");
        assertThat(inbox.session().status().phaseReason()).isEqualTo("the first");
        assertThat(refused(now(inbox.session().finish("late"))).message()).contains("the first");
    }

    @Tag("MB-07")
    @Test
    void finish_withNothingQueued_closesAtOnce() {
        var parked = inbox.next();
        stored(now(inbox.session().finish("enough")));
        assertThat(now(parked)).isEmpty();
        awaitPhase("CLOSED");
    }

    // ---- pause ----------------------------------------------------------------------------------------------------

    @Tag("MB-08")
    @ParameterizedTest
    @ValueSource(strings = {CloseReason.TOKEN_BUDGET, CloseReason.MONEY_BUDGET})
    void close_forABudget_isAPauseThatLosesNothing(String reason) {
        send(inbox.session(), "before");
        stored(inbox.session().close(reason));
        awaitPhase("PAUSED");
        assertThat(inbox.session().status().phaseReason()).isEqualTo(reason);
        send(inbox.session(), "while paused");
        assertThat(now(inbox.session().awaitMessage())).isFalse();
        assertThat(now(inbox.next())).as("gives nothing").isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.PAUSED);
        restart();
        assertThat(inbox.session().status().phase()).as("through a restart").isEqualTo("PAUSED");
        assertThat(now(inbox.session().awaitMessage())).isFalse();
        send(inbox.session(), "after the restart");
        assertThat(now(inbox.next())).isEmpty();
        stored(now(inbox.session().resume()));
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("before", "while paused", "after the restart");
        assertThat(now(inbox.hasPending())).isFalse();
    }

    @Tag("MB-08")
    @ParameterizedTest
    @ValueSource(strings = {"", "crash", "token-budget ", "budget", "usd"})
    void close_forAnyOtherReason_isFinal(String reason) {
        long number = send(inbox.session(), "unread").getFirst();
        stored(inbox.session().close(reason));
        awaitPhase("CLOSED");
        assertThat(now(inbox.session().reply(number)).outcome()).isEqualTo(Outcome.CLOSED);
        assertThat(inbox.session().send(Message.of("late"))).isInstanceOf(Receipt.Refused.class);
        assertThat(now(inbox.session().awaitMessage())).isFalse();
        assertThat(refused(now(inbox.session().resume())).message()).contains("closed");
        assertThat(CloseReason.recoverable(reason)).isFalse();
    }

    @Tag("MB-08")
    @Test
    void pause_leavesWhatIsInFlightToItsHolder() {
        long number = send(inbox.session(), "one").getFirst();
        var taken = now(inbox.next()).orElseThrow();
        stored(now(inbox.session().pause("lunch")));
        awaitPhase("PAUSED");
        assertThat(now(inbox.settle(taken, "done"))).isTrue();
        assertThat(now(inbox.session().reply(number)).text()).isEqualTo("done");
        stored(now(inbox.session().resume()));
        send(inbox.session(), "two");
        assertThat(text(inbox.next()))
                .as("nobody asked meanwhile, so the inbox goes on")
                .contains("two");
    }

    @Tag("MB-08")
    @Test
    void pause_ofAParkedConsumer_endsItsFeed() {
        var parked = inbox.next();
        stored(now(inbox.session().pause("lunch")));
        assertThat(now(parked)).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.PAUSED);
    }

    // ---- drain ----------------------------------------------------------------------------------------------------

    @Tag("MB-09")
    @Test
    void drain_endsWhenNothingIsInFlight() {
        send(inbox.session(), "one", "two");
        var taken = now(inbox.next()).orElseThrow();
        var drained = inbox.session().drain(Duration.ofMinutes(1));
        awaitPhase("DRAINING");
        assertThat(now(inbox.next())).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.DRAINED);
        send(inbox.session(), "meanwhile");
        assertThat(drained.toCompletableFuture()).isNotDone();
        assertThat(now(inbox.settle(taken, "done"))).isTrue();
        assertThat(now(drained).queued()).isEqualTo(2);
        assertThat(now(drained).inFlight()).isEmpty();
        var status = awaitStatus(inbox.session(), s -> s.phase().equals("PAUSED"));
        assertThat(status.phaseReason()).isEqualTo("drained");
        assertThat(status.lastEnd()).isEqualTo("DRAINED");
    }

    @Tag("MB-09")
    @Test
    void drain_atItsDeadline_isAPause() {
        send(inbox.session(), "one", "two");
        var taken = now(inbox.next()).orElseThrow();
        assertThat(now(inbox.session().drain(Duration.ofMillis(50))).queued()).isEqualTo(1);
        var status = awaitStatus(inbox.session(), s -> s.phase().equals("PAUSED"));
        assertThat(status.phaseReason()).contains("deadline passed").contains("1 messages in flight");
        assertThat(now(inbox.settle(taken, "late, and still its holder's"))).isTrue();
        assertThatThrownBy(() -> inbox.session().drain(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Tag("MB-09")
    @Test
    void drain_byTwoAtOnce_isJoined() {
        send(inbox.session(), "one");
        var taken = now(inbox.next()).orElseThrow();
        var first = inbox.session().drain(Duration.ofMinutes(1));
        awaitPhase("DRAINING");
        var second = inbox.session().drain(Duration.ofMinutes(1));
        now(inbox.session().clear());
        assertThat(second.toCompletableFuture()).isNotDone();
        now(inbox.settle(taken, "done"));
        assertThat(now(first)).isEqualTo(now(second));
    }

    @Tag("MB-09")
    @Test
    void drain_wakesAParkedConsumerAndTheNextTakerGoesOn() {
        var parked = inbox.next();
        now(inbox.session().drain(Duration.ofSeconds(5)));
        assertThat(now(parked)).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.DRAINED);
        send(inbox.session(), "for the successor");
        restart();
        assertThat(text(inbox.next())).as("taken up again, it is resumed").contains("for the successor");
    }

    @Tag("MB-09")
    @Test
    void pause_withAReasonLikeADrain_isNotResumedByTakingUp() {
        stored(now(inbox.session().pause("drain the swamp")));
        awaitPhase("PAUSED");
        restart();
        assertThat(inbox.session().status().phase()).isEqualTo("PAUSED");
    }

    @Tag("MB-09")
    @Test
    void drain_ofAClosedSession_isRefused() {
        inbox.session().close("over");
        awaitPhase("CLOSED");
        assertThat(failure(inbox.session().drain(Duration.ofSeconds(1)))).hasMessageContaining("over");
    }

    // ---- awaiting mail --------------------------------------------------------------------------------------------

    @Tag("MB-14")
    @Test
    void awaitMessage_resolvesTrueOnceSomethingCanBeTaken() {
        var waiting = inbox.session().awaitMessage();
        assertThat(inbox.session().status().awaitingMail()).isTrue();
        assertThat(waiting.toCompletableFuture()).isNotDone();
        send(inbox.session(), "one");
        assertThat(now(waiting)).isTrue();
        assertThat(now(inbox.session().awaitMessage())).as("and takes nothing").isTrue();
        stored(now(inbox.session().finish("enough")));
        awaitStatus(inbox.session(), s -> s.finishing().isPresent());
        assertThat(now(inbox.session().awaitMessage()))
                .as("finished with items left")
                .isTrue();
        now(inbox.settle(now(inbox.next()).orElseThrow(), "done"));
        assertThat(now(inbox.session().awaitMessage())).isFalse();
    }

    @Tag("MB-14")
    @ParameterizedTest
    @ValueSource(strings = {"close", "pause", "drain", "host", "finish"})
    void awaitMessage_resolvesFalse_whenThatComesFirst(String what) {
        var waiting = inbox.session().awaitMessage();
        var more = inbox.session().awaitMessage();
        switch (what) {
            case "close" -> inbox.session().close("over");
            case "pause" -> now(inbox.session().pause("lunch"));
            case "drain" -> now(inbox.session().drain(Duration.ofSeconds(1)));
            case "finish" -> now(inbox.session().finish("enough"));
            default -> station.restart();
        }
        assertThat(now(waiting)).isFalse();
        assertThat(now(more)).isFalse();
    }

    @Tag("MB-14")
    @Test
    void awaitMessage_whereNobodyTakesTheMail_resolvesAsWell() {
        station.restart();
        var session = station.host().mail(NAME);
        var waiting = session.awaitMessage();
        assertThat(waiting.toCompletableFuture()).isNotDone();
        send(session, "one");
        assertThat(now(waiting)).isTrue();
        now(session.pause("lunch"));
        awaitStatus(session, s -> s.phase().equals("PAUSED"));
        assertThat(now(session.awaitMessage())).isFalse();
    }

    @Tag("MB-14")
    @Test
    void awaitMessage_ofASleepingMailbox_resolvesByLaterMail() {
        inbox.close();
        var mailbox = now(station.host().mailbox(NAME));
        var waiting = mailbox.awaitMessage();
        send(mailbox.session(), "one");
        assertThat(now(waiting)).isTrue();
        assertThat(text(now(mailbox.feed(FeedOptions.none())).next())).contains("one");
    }

    @Tag("MB-14")
    @Test
    void awaitMessage_afterAResume_doesNotAnswerFromBefore() {
        now(inbox.session().pause("lunch"));
        awaitPhase("PAUSED");
        for (int i = 0; i < 20; i++) {
            stored(now(inbox.session().resume()));
            var waiting = inbox.session().awaitMessage();
            send(inbox.session(), "m" + i);
            assertThat(now(waiting)).isTrue();
            now(inbox.session().pause("lunch"));
            awaitPhase("PAUSED");
        }
    }

    // ---- what is known --------------------------------------------------------------------------------------------

    @Tag("MB-17")
    @Tag("MB-19")
    @Test
    void status_isReadableAtAnyTime_andTheSameAfterARestart() {
        assertThat(inbox.session().status().lastEnd()).isEqualTo("none yet");
        send(inbox.session(), "one", "two", "three", "four");
        now(inbox.settle(now(inbox.next()).orElseThrow(), "done"));
        now(inbox.next());
        var status = awaitStatus(inbox.session(), s -> s.inFlight() == 1);
        assertThat(status.queued()).isEqualTo(2);
        assertThat(status.consumed()).as("spans feeds, counts real mail").isEqualTo(2);
        assertThat(status.phase()).isEqualTo("OPEN");
        assertThat(status.finishing()).isEmpty();
        assertThat(status.awaitingMail()).isFalse();
        station.restart();
        var asleep = station.host().mail(NAME).status();
        assertThat(asleep.queued()).as("the one in flight is in front again").isEqualTo(3);
        assertThat(asleep.inFlight()).isZero();
        assertThat(asleep.consumed()).as("falls only by what was given back").isEqualTo(1);
        assertThat(asleep.lastEnd()).isEqualTo("ENDED");
        assertThat(asleep.process()).isEqualTo("asleep");
        inbox = now(station.host().inbox(NAME));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("two", "three", "four");
        stored(now(inbox.session().finish("enough")));
        awaitStatus(inbox.session(), s -> s.finishing().isPresent());
        station.restart();
        assertThat(station.host().mail(NAME).status().finishing()).contains("enough");
    }

    @Tag("MB-19")
    @Test
    void lastEnd_saysEachCause() {
        assertThat(inbox.lastEnd()).isEmpty();
        now(inbox.session().pause("lunch"));
        assertThat(now(inbox.next())).isEmpty();
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("PAUSED"));
        now(inbox.session().resume());
        inbox.close();
        var mailbox = now(station.host().mailbox(NAME));
        now(mailbox.feed(FeedOptions.none()));
        now(mailbox.feed(FeedOptions.none()));
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("FENCED"));
        var idle = now(mailbox.feed(FeedOptions.none().idleExit(Duration.ofMillis(20))));
        assertThat(now(idle.next())).isEmpty();
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("IDLE"));
        var bounded = now(mailbox.feed(FeedOptions.none().stopBefore(text -> true)));
        send(mailbox.session(), "one", "two");
        var one = now(bounded.next()).orElseThrow();
        now(bounded.settle(one, Outcome.ANSWERED, ""));
        assertThat(now(bounded.next())).isEmpty();
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("BOUNDARY"));
        now(mailbox.feed(FeedOptions.none()));
        now(mailbox.drainFeed());
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("DRAINED"));
        now(mailbox.feed(FeedOptions.none()));
        mailbox.session().close("over");
        awaitStatus(inbox.session(), s -> s.lastEnd().equals("CLOSED"));
    }

    @Tag("MB-18")
    @Test
    void limit_ofUnreadMessages_refusesTheNewestAndExemptsWhatMustPass() {
        station.close();
        station = new Station(data.resolve("small"), Options.standard().unread(new SessionLimits(3, 1_000)));
        inbox = now(station.host().inbox(NAME));
        now(inbox.session().addresses().claim("hook"));
        send(inbox.session(), "one", "two", "three");
        var refusal = refused(inbox.session().send(Message.of("four")));
        assertThat(refusal).isEqualTo(new Receipt.Full(3, 3, "messages"));
        assertThat(refusal.message()).contains("3 of 3 unread messages").contains("send again");
        stored(inbox.session().interrupt());
        stored(now(inbox.session().reset()));
        assertThat(text(inbox.next())).as("never the oldest").contains("one");
        send(inbox.session(), "five");
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        assertThat(inbox.session().status().queued())
                .as("one that was given back stands beside a full queue")
                .isEqualTo(4);
        var released = now(inbox.session().addresses().release());
        assertThat(released)
                .filteredOn(r -> r.payload() instanceof Payload.Words)
                .hasSize(4);
        send(inbox.session(), "six", "seven", "eight");
        now(inbox.session().addresses().restore(released));
        var words = now(inbox.takeAll()).stream()
                .filter(r -> r.payload() instanceof Payload.Words)
                .map(Station::text)
                .toList();
        assertThat(words).containsExactly("one", "two", "three", "five", "six", "seven", "eight");
        assertThat(inbox.session().send(Message.of("x".repeat(1_001))))
                .as("bytes are bounded as well")
                .isEqualTo(new Receipt.Full(0, 1_000, "bytes"));
    }

    // ---- withdraw -------------------------------------------------------------------------------------------------

    @Tag("MB-21")
    @Test
    void withdraw_ofAQueuedMessage_winsAndItsSenderSeesIt() {
        var numbers = send(inbox.session(), "one", "two", "three");
        var reply = inbox.session().reply(numbers.get(1));
        assertThat(now(inbox.session().withdraw(numbers.get(1)))).isEqualTo(new Withdrawal.Withdrawn(numbers.get(1)));
        assertThat(now(reply).outcome()).isEqualTo(Outcome.WITHDRAWN);
        assertThat(now(inbox.session().withdraw(numbers.get(1)))).isInstanceOf(Withdrawal.TooLate.class);
        assertThat(text(inbox.next())).contains("one");
        assertThat(now(inbox.session().withdraw(numbers.getFirst())))
                .isEqualTo(new Withdrawal.TooLate(1, "too late: a reader has taken message 1"));
        assertThat(now(inbox.session().withdraw(999))).isEqualTo(new Withdrawal.Unknown(999));
        restart();
        assertThat(now(inbox.session().reply(numbers.get(1))).outcome()).isEqualTo(Outcome.WITHDRAWN);
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one", "three");
    }

    @Tag("MB-21")
    @Test
    void withdraw_racingATake_exactlyOneWinsAndTheAnswerSaysWhich() {
        for (int i = 0; i < 40; i++) {
            long number = send(inbox.session(), "m" + i).getFirst();
            var withdrawn = inbox.session().withdraw(number);
            var taken = inbox.takeAll();
            boolean won = now(withdrawn) instanceof Withdrawal.Withdrawn;
            var got = now(taken);
            assertThat(got.isEmpty()).as("round %d: %s", i, now(withdrawn)).isEqualTo(won);
            if (!won) {
                assertThat(now(inbox.settle(got.getFirst(), "done"))).isTrue();
            }
            assertThat(now(inbox.session().reply(number)).outcome())
                    .isEqualTo(won ? Outcome.WITHDRAWN : Outcome.ANSWERED);
        }
    }

    @Tag("MB-20")
    @Test
    void resend_ofAnEndedMessage_isANewOne() {
        var numbers = send(inbox.session(), "one", "two");
        assertThat(failure(inbox.session().resend(numbers.getFirst()))).hasMessageContaining("has not ended");
        assertThat(failure(inbox.session().resend(0))).hasMessageContaining("no message 0");
        assertThat(failure(inbox.session().resend(77))).hasMessageContaining("no message 77");
        now(inbox.settle(now(inbox.next()).orElseThrow(), Outcome.FAILED, "no"));
        var again = stored(now(inbox.session().resend(numbers.getFirst())));
        assertThat(again.number()).isEqualTo(3);
        assertThat(texts(now(inbox.takeAll()))).containsExactly("two", "one");
        assertThat(now(inbox.session().deadLetters(10))).isEmpty();
    }

    // ---- nobody is left waiting -----------------------------------------------------------------------------------

    @Tag("P4")
    @ParameterizedTest
    @ValueSource(strings = {"session", "host"})
    void futures_ofEveryKind_completeWhenItIsClosed(String what) {
        var session = inbox.session();
        long queued = send(session, "queued").getFirst();
        now(session.pause("so that nothing moves"));
        awaitPhase("PAUSED");
        var reply = session.reply(queued);
        var never = session.reply(4_711);
        var wordless = session.reply(2);
        var question = session.question("q-1", "Anybody?", Duration.ofHours(1));
        Station.events(session).await("QuestionAsked");
        var internal = session.internal("nobody is there to answer");
        assertThat(now(internal)).as("without an agent there is nobody").isEmpty();
        assertThat(failure(wordless)).hasMessageContaining("has no reply");
        if (what.equals("session")) {
            session.close("over");
            assertThat(now(reply).outcome()).isEqualTo(Outcome.CLOSED);
            assertThat(failure(never)).hasMessageContaining("never had a message 4711");
            assertThat(now(question)).isEmpty();
            assertThat(failure(session.reply(4_712))).hasMessageContaining("4712");
        } else {
            station.restart();
            assertThat(failure(reply)).hasMessageContaining("what was accepted is kept");
            assertThat(failure(never)).hasMessageContaining("the host stops");
            assertThat(failure(question)).hasMessageContaining("what was accepted is kept");
            assertThat(failure(session.reply(queued))).hasMessageContaining("this host is closed");
            assertThat(failure(session.sendAsync(Message.of("late")))).hasMessageContaining("nothing was stored");
            assertThat(failure(session.withdraw(1)))
                    .as("asked of a host that is gone")
                    .isNotNull();
            assertThat(now(session.awaitMessage())).isFalse();
            assertThat(now(session.internal("late"))).isEmpty();
            assertThat(now(inbox.next())).isEmpty();
        }
    }

    @Test
    void cancel_namesAMessageOrATurn() {
        var numbers = send(inbox.session(), "one");
        stored(now(
                inbox.session().cancel(new Payload.Cancel(OptionalLong.empty(), OptionalLong.of(numbers.getFirst())))));
        assertThat(texts(now(inbox.takeAll())))
                .as("a reader gets the cancel in its place, and decides")
                .containsExactly("one", Payload.Cancel.message(1).toString());
        assertThat(List.of(Optional.empty())).hasSize(1);
    }
}
