package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.text;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.FeedEnd;
import dev.holdfast.Mailbox;
import dev.holdfast.Mailbox.Feed;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The feeds of a mailbox, one after the other, on real files. */
final class FeedTest {
    @TempDir
    Path data;

    private Station station;
    private Mailbox mailbox;

    @BeforeEach
    void open() {
        station = new Station(data);
        mailbox = now(station.host().mailbox(NAME));
    }

    @AfterEach
    void close() {
        station.close();
    }

    private Feed feed() {
        return feed(FeedOptions.none());
    }

    private Feed feed(FeedOptions options) {
        return now(mailbox.feed(options));
    }

    private static Received take(Feed feed) {
        return now(feed.next()).orElseThrow(() -> new AssertionError("the feed ended: " + feed.end()));
    }

    private static void settle(Feed feed, Received message) {
        assertThat(now(feed.settle(message, Outcome.ANSWERED, "done"))).isTrue();
    }

    @Tag("MB-01")
    @Test
    void messages_ofManySenders_comeInTheOrderOfAcceptance() {
        var receipts = IntStream.range(0, 60)
                .mapToObj(i -> mailbox.session().sendAsync(Message.of("m" + i)))
                .toList();
        var byNumber = new String[receipts.size()];
        for (int i = 0; i < receipts.size(); i++) {
            byNumber[(int) Station.stored(now(receipts.get(i))).number() - 1] = "m" + i;
        }
        var feed = feed();
        var given = new ArrayList<String>();
        for (int i = 0; i < byNumber.length; i++) {
            var message = take(feed);
            given.add(text(message));
            settle(feed, message);
        }
        assertThat(given).containsExactly(byNumber);
    }

    @Tag("MB-01")
    @Test
    void peek_repeatedly_looksWithoutTaking() {
        assertThat(now(mailbox.peek())).isEmpty();
        send(mailbox.session(), "first", "second");
        assertThat(text(mailbox.peek())).contains("first");
        assertThat(text(mailbox.peek())).contains("first");
        assertThat(mailbox.session().status().queued()).isEqualTo(2);
        var feed = feed();
        assertThat(text(take(feed))).isEqualTo("first");
        assertThat(text(mailbox.peek())).contains("second");
        assertThat(text(take(feed))).isEqualTo("second");
        assertThat(now(mailbox.peek())).isEmpty();
    }

    @Tag("MB-01")
    @Test
    void peek_afterARestart_doesNotShowWhatEnded() {
        send(mailbox.session(), "first", "second");
        var feed = feed();
        settle(feed, take(feed));
        station.restart();
        mailbox = now(station.host().mailbox(NAME));
        assertThat(text(mailbox.peek())).contains("second");
    }

    @Tag("MB-02")
    @Test
    void message_taken_isInFlightUntilItIsSettled() {
        long number = send(mailbox.session(), "work").getFirst();
        var feed = feed();
        var message = take(feed);
        var reply = mailbox.session().reply(number);
        var status = mailbox.session().status();
        assertThat(status.inFlight()).isEqualTo(1);
        assertThat(status.queued()).isZero();
        assertThat(status.awaitingMail()).isFalse();
        assertThat(reply.toCompletableFuture()).isNotDone();
        assertThat(now(feed.settle(message, Outcome.FAILED, "could not"))).isTrue();
        assertThat(now(reply).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(now(reply).text()).isEqualTo("could not");
        assertThat(awaitStatus(mailbox.session(), s -> s.inFlight() == 0).awaitingMail())
                .isTrue();
    }

    @Tag("MB-02")
    @Test
    void settle_twice_isDoneOnce() {
        long number = send(mailbox.session(), "work").getFirst();
        var feed = feed();
        var message = take(feed);
        var first = feed.settle(message, Outcome.ANSWERED, "one");
        var second = feed.settle(message, Outcome.FAILED, "two");
        assertThat(List.of(now(first), now(second))).containsExactly(true, false);
        assertThat(now(mailbox.session().reply(number)).text()).isEqualTo("one");
        assertThat(now(feed.settle(message, Outcome.ANSWERED, "three"))).isFalse();
    }

    @Tag("MB-03")
    @Test
    void feed_newer_fencesTheParkedOne() {
        var old = feed();
        var parked = old.next();
        var fresh = feed();
        assertThat(now(parked)).isEmpty();
        assertThat(old.end()).contains(FeedEnd.FENCED);
        send(mailbox.session(), "for the newer");
        assertThat(now(old.next())).isEmpty();
        assertThat(text(take(fresh))).isEqualTo("for the newer");
        assertThat(fresh.end()).isEmpty();
    }

    @Tag("MB-03")
    @Test
    void feed_fenced_settlesNothingOfItsSuccessor() {
        long number = send(mailbox.session(), "work").getFirst();
        var old = feed();
        var first = take(old);
        var fresh = feed();
        var again = take(fresh);
        assertThat(again.number()).isEqualTo(first.number());
        assertThat(now(old.settle(first, Outcome.FAILED, "stale"))).isFalse();
        settle(fresh, again);
        assertThat(now(mailbox.session().reply(number)).text()).isEqualTo("done");
    }

    @Tag("MB-03")
    @Test
    void feeds_openedAtOnce_onlyTheLastGives() {
        var opening = IntStream.range(0, 8)
                .mapToObj(i -> mailbox.feed(FeedOptions.none()))
                .toList();
        var feeds = opening.stream().map(Station::now).toList();
        var nexts = feeds.stream().map(Feed::next).toList();
        send(mailbox.session(), "one");
        assertThat(text(nexts.getLast())).contains("one");
        for (var stale : nexts.subList(0, 7)) {
            assertThat(now(stale)).isEmpty();
        }
    }

    @Tag("MB-04")
    @Test
    void push_betweenTwoFeeds_isForTheNext() {
        var old = feed();
        var parked = old.next();
        now(mailbox.drainFeed());
        send(mailbox.session(), "meanwhile");
        assertThat(now(parked)).isEmpty();
        assertThat(mailbox.session().status().queued()).isEqualTo(1);
        assertThat(text(take(feed()))).isEqualTo("meanwhile");
    }

    @Tag("MB-05")
    @Test
    void feed_openedOverUnsettledMessages_givesThemFirstAndCountsThemOnce() {
        send(mailbox.session(), "one", "two", "three");
        var old = feed();
        take(old);
        take(old);
        assertThat(mailbox.session().status().consumed()).isEqualTo(2);
        var fresh = feed();
        assertThat(awaitStatus(mailbox.session(), s -> s.queued() == 3).consumed())
                .isZero();
        for (String text : List.of("one", "two", "three")) {
            var message = take(fresh);
            assertThat(text(message)).isEqualTo(text);
            settle(fresh, message);
        }
        assertThat(awaitStatus(mailbox.session(), s -> s.inFlight() == 0).consumed())
                .isEqualTo(3);
        feed();
        assertThat(awaitStatus(mailbox.session(), s -> s.lastEnd().equals("FENCED"))
                        .consumed())
                .as("nothing was in flight, so nothing is undone")
                .isEqualTo(3);
    }

    @Tag("MB-06")
    @Test
    void feed_openedAfterSettling_doesNotGiveTheMessageAgain() {
        send(mailbox.session(), "one", "two");
        var old = feed();
        settle(old, take(old));
        var fresh = feed();
        assertThat(text(take(fresh))).isEqualTo("two");
    }

    // ---- drained --------------------------------------------------------------------------------------------------

    @Tag("MB-09")
    @Test
    void drainFeed_withOneInFlight_returnsTheOthersAndLetsItFinish() {
        long number = send(mailbox.session(), "one", "two", "three").getFirst();
        var feed = feed();
        var inFlight = take(feed);
        assertThat(texts(now(mailbox.drainFeed()))).containsExactly("two", "three");
        assertThat(feed.end()).contains(FeedEnd.DRAINED);
        assertThat(now(feed.next())).as("nothing more is taken here").isEmpty();
        settle(feed, inFlight);
        assertThat(now(mailbox.session().reply(number)).outcome()).isEqualTo(Outcome.ANSWERED);
        send(mailbox.session(), "meanwhile");
        var successor = feed();
        assertThat(List.of(text(take(successor)), text(take(successor)), text(take(successor))))
                .containsExactly("two", "three", "meanwhile");
    }

    @Tag("MB-09")
    @Test
    void drainFeed_wakesAParkedConsumer() {
        var feed = feed();
        var parked = feed.next();
        assertThat(now(mailbox.drainFeed())).isEmpty();
        assertThat(now(parked)).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.DRAINED);
        assertThat(awaitStatus(mailbox.session(), s -> s.lastEnd().equals("DRAINED"))
                        .phase())
                .isEqualTo("OPEN");
    }

    @Tag("MB-09")
    @Test
    void drainFeed_wakesAConsumerParkedAtABoundary() {
        var feed = feed(FeedOptions.none().stopBefore(text -> false));
        send(mailbox.session(), "one");
        settle(feed, take(feed));
        var parked = feed.next();
        assertThat(now(mailbox.drainFeed())).isEmpty();
        assertThat(now(parked)).isEmpty();
    }

    @Tag("MB-09")
    @Test
    void drainFeed_keepsWhatIsInFlight_whileTheSessionHasNothingElseToDo() {
        send(mailbox.session(), "one");
        var feed = feed();
        var inFlight = take(feed);
        now(mailbox.drainFeed());
        assertThat(now(mailbox.session().evict())).isNotNull(); // wakes whoever sleeps
        now(mailbox.session()
                .awaitMessage()
                .toCompletableFuture()
                .completeOnTimeout(false, 1, java.util.concurrent.TimeUnit.MILLISECONDS));
        settle(feed, inFlight);
    }

    @Tag("MB-09")
    @Test
    void drainFeed_whileMessagesAreTaken_putsNoneInBothHands() {
        for (int round = 0; round < 20; round++) {
            send(mailbox.session(), "a" + round, "b" + round);
            var feed = feed();
            var taking = feed.next();
            var left = now(mailbox.drainFeed());
            var taken = now(taking);
            var all = new ArrayList<>(texts(left));
            taken.ifPresent(t -> all.addFirst(text(t)));
            assertThat(all).containsExactly("a" + round, "b" + round);
            taken.ifPresent(t -> settle(feed, t));
            var successor = feed();
            for (var unused : left) {
                settle(successor, take(successor));
            }
        }
    }

    // ---- boundary and idle exit -----------------------------------------------------------------------------------

    @Tag("MB-10")
    @Test
    void boundary_rejectsAMessage_whichIsTheFirstOfTheNextFeed() {
        var asked = new CopyOnWriteArrayList<String>();
        send(mailbox.session(), "new one", "more", "new two");
        var options = FeedOptions.none().stopBefore(text -> {
            asked.add(text);
            return text.startsWith("new");
        });
        var feed = feed(options);
        settle(feed, take(feed));
        settle(feed, take(feed));
        assertThat(now(feed.next())).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.BOUNDARY);
        var status = awaitStatus(mailbox.session(), s -> s.lastEnd().equals("BOUNDARY"));
        assertThat(status.queued()).isEqualTo(1);
        assertThat(asked).as("never asked about the first").containsExactly("more", "new two");
        assertThat(text(take(feed(options)))).isEqualTo("new two");
        assertThat(asked).doesNotContain("new one").hasSize(2);
    }

    @Tag("MB-10")
    @Test
    void boundary_off_rejectsNothing() {
        send(mailbox.session(), "one", "two");
        var feed = feed();
        settle(feed, take(feed));
        assertThat(text(take(feed))).isEqualTo("two");
    }

    @Tag("MB-10")
    @Test
    void boundary_thatThrows_letsTheMessageThrough() {
        send(mailbox.session(), "one", "two");
        var feed = feed(FeedOptions.none().stopBefore(text -> {
            throw new IllegalStateException("broken on purpose");
        }));
        settle(feed, take(feed));
        assertThat(text(take(feed))).isEqualTo("two");
    }

    @Tag("MB-12")
    @Test
    void boundary_withAMessageInFlight_waitsForItsEnd() {
        var asked = new CopyOnWriteArrayList<String>();
        send(mailbox.session(), "one", "two");
        var feed = feed(FeedOptions.none().stopBefore(asked::add));
        var first = take(feed);
        var ahead = feed.next();
        Awaitility.await().atMost(Station.PATIENCE).until(() -> asked.contains("two"));
        assertThat(feed.end()).isEmpty();
        assertThat(ahead.toCompletableFuture()).isNotDone();
        settle(feed, first);
        assertThat(now(ahead)).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.BOUNDARY);
    }

    @Tag("MB-12")
    @Tag("MB-13")
    @Test
    void boundary_withAnActiveAgent_waitsForItsRest() {
        var asked = new CopyOnWriteArrayList<String>();
        send(mailbox.session(), "one", "two");
        var feed = feed(FeedOptions.none().stopBefore(asked::add));
        settle(feed, take(feed));
        feed.active(true);
        var ahead = feed.next();
        Awaitility.await().atMost(Station.PATIENCE).until(() -> asked.contains("two"));
        assertThat(feed.end()).isEmpty();
        feed.active(false);
        assertThat(now(ahead)).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.BOUNDARY);
    }

    @Tag("MB-11")
    @Test
    void idleExit_withNothingQueued_endsTheFeed() {
        var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(50)));
        long begun = System.nanoTime();
        assertThat(now(feed.next())).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofMillis(50));
        assertThat(feed.end()).contains(FeedEnd.IDLE);
        assertThat(awaitStatus(mailbox.session(), s -> s.lastEnd().equals("IDLE"))
                        .phase())
                .isEqualTo("OPEN");
        send(mailbox.session(), "later");
        assertThat(text(take(feed()))).isEqualTo("later");
    }

    @Tag("MB-11")
    @Test
    void idleExit_parkedAtABoundary_endsTheFeed() {
        var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(50)).stopBefore(text -> true));
        send(mailbox.session(), "one");
        settle(feed, take(feed));
        assertThat(now(feed.next())).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.IDLE);
    }

    @Tag("MB-11")
    @Test
    void idleExit_withSomethingQueued_doesNotEnd() {
        send(mailbox.session(), "one", "two", "three");
        var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(1)));
        for (int i = 0; i < 3; i++) {
            settle(feed, take(feed));
        }
        assertThat(now(feed.next())).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.IDLE);
    }

    @Tag("MB-11")
    @Test
    void idleExit_off_leavesTheConsumerParked() {
        var feed = feed();
        var parked = feed.next();
        var other = now(new Station(data.resolve("other")).host().mailbox(NAME));
        var idle = now(other.feed(FeedOptions.none().idleExit(Duration.ofMillis(100))));
        assertThat(now(idle.next())).isEmpty();
        assertThat(parked.toCompletableFuture()).isNotDone();
        assertThat(feed.end()).isEmpty();
    }

    @Tag("MB-12")
    @Test
    void idleExit_withAMessageInFlight_beginsWhenItIsSettled() {
        var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(60)));
        send(mailbox.session(), "one");
        var first = take(feed);
        var ahead = feed.next();
        var watch = idleElsewhere(Duration.ofMillis(200));
        assertThat(feed.end()).as("after more than three windows").isEmpty();
        assertThat(watch).isTrue();
        long settled = System.nanoTime();
        settle(feed, first);
        assertThat(now(ahead)).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - settled)).isGreaterThanOrEqualTo(Duration.ofMillis(60));
        assertThat(feed.end()).contains(FeedEnd.IDLE);
    }

    @Tag("MB-12")
    @Tag("MB-13")
    @Test
    void idleExit_withAnActiveAgent_beginsWhenItRests() {
        var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(60)));
        feed.active(true);
        var ahead = feed.next();
        assertThat(idleElsewhere(Duration.ofMillis(200))).isTrue();
        assertThat(feed.end()).isEmpty();
        feed.active(false);
        assertThat(now(ahead)).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.IDLE);
    }

    /** Lets a time pass as another feed measures it. */
    private boolean idleElsewhere(Duration time) {
        try (var other = new Station(data.resolve("clock"))) {
            var clock =
                    now(now(other.host().mailbox(NAME)).feed(FeedOptions.none().idleExit(time)));
            return now(clock.next()).isEmpty() && clock.end().equals(Optional.of(FeedEnd.IDLE));
        }
    }

    @Tag("MB-11")
    @Test
    void idleExit_notPositive_isRefused() {
        assertThatThrownBy(() -> FeedOptions.none().idleExit(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("positive");
    }

    @Tag("MB-12")
    @Test
    void idleExit_racingAMessage_losesNoneAndGivesNoneTwice() {
        var given = new ArrayList<String>();
        for (int i = 0; i < 40; i++) {
            var feed = feed(FeedOptions.none().idleExit(Duration.ofMillis(1 + i % 5)));
            var next = feed.next();
            send(mailbox.session(), "m" + i);
            var message = now(next);
            if (message.isEmpty()) {
                assertThat(feed.end()).contains(FeedEnd.IDLE);
                var again = feed();
                message = now(again.next());
                settle(again, message.orElseThrow());
            } else {
                settle(feed, message.get());
            }
            given.add(text(message.get()));
        }
        assertThat(given)
                .containsExactlyElementsOf(
                        IntStream.range(0, 40).mapToObj(i -> "m" + i).toList());
    }

    @Test
    void next_whileAnotherWaits_isRefused() {
        var feed = feed();
        var parked = feed.next();
        assertThatThrownBy(feed::next).isInstanceOf(IllegalStateException.class);
        mailbox.close();
        assertThat(now(parked)).isEmpty();
    }
}
