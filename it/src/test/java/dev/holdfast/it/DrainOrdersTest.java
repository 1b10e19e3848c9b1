package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Drained;
import dev.holdfast.FeedEnd;
import dev.holdfast.Inbox;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.testkit.SeededBug;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Submit against drain, in every order (MB-09). */
final class DrainOrdersTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    static void drained(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var session = inbox.session();
        race.now(session.sendAsync(Message.of("one")));
        var one = race.now(inbox.next()).orElseThrow();
        var receipts = race.sends(session, "two", "three");
        var before = new ArrayList<Integer>();
        var drain = race.atOnce(() -> {
            before.add(receipts.isDone() ? 2 : 0);
            return session.drain(LONG);
        });
        var settled = race.atOnce(() -> inbox.settle(one, "done"));
        var given = race.atOnce(inbox::next);
        var end = given.thenCompose(
                m -> m.isPresent() ? inbox.settle(m.get(), "done") : CompletableFuture.completedFuture(false));
        race.go();
        assertThat(Race.done("settling", settled)).isTrue();
        assertThat(Race.done("sending", receipts)).allMatch(r -> r instanceof Receipt.Accepted);
        var taken =
                Race.done("the parked reader", given).map(Race::text).stream().toList();
        assertThat(Race.done("the end of what it took", end)).isEqualTo(!taken.isEmpty());
        Drained drained = Race.done("the drain", drain);
        assertThat(drained.inFlight()).isEmpty();
        int left = 2 - taken.size();
        assertThat(drained.queued()).isBetween((long) before.getFirst() - taken.size(), (long) left);
        nothingInHandWhenDrained(race.record(session));
        inbox.close();
        var successor = race.now(race.holdfast().inbox(Race.NAME));
        var all = new ArrayList<>(taken);
        race.now(successor.takeAll()).forEach(m -> all.add(Race.text(m)));
        assertThat(all).as("each once, in order").containsExactly("two", "three");
    }

    private static void nothingInHandWhenDrained(List<Race.Stored.Recorded> record) {
        var inHand = new HashSet<Long>();
        for (var event : record) {
            switch (event.type()) {
                case "MessagesTaken" -> inHand.addAll(Race.numbers(event));
                case "MessageEnded", "MessagesReturned" -> inHand.removeAll(Race.numbers(event));
                case "PhaseChanged" -> {
                    if (event.body().path("trigger").asString().equals("DRAINED")) {
                        assertThat(inHand)
                                .as("in flight when it is said to be drained")
                                .isEmpty();
                        return;
                    }
                }
                default -> {}
            }
        }
        throw new AssertionError("no event says that it is drained: " + record);
    }

    static void feedDrained(Race race) {
        var mailbox = race.now(race.holdfast().mailbox(Race.NAME));
        var session = mailbox.session();
        var feed = race.now(mailbox.feed(FeedOptions.none()));
        var receipts = race.sends(session, "one", "two");
        var before = new ArrayList<Boolean>();
        var drain = race.atOnce(() -> {
            before.add(receipts.isDone());
            return mailbox.drainFeed();
        });
        var given = race.atOnce(feed::next);
        race.go();
        assertThat(Race.done("sending", receipts)).allMatch(r -> r instanceof Receipt.Accepted);
        var taken = Race.done("the parked consumer", given);
        var left = Race.done("the drain", drain);
        assertThat(feed.end()).contains(FeedEnd.DRAINED);
        var both = new ArrayList<String>();
        taken.map(Race::text).ifPresent(both::add);
        left.forEach(m -> both.add(Race.text(m)));
        assertThat(List.of("one", "two").subList(0, both.size()))
                .as("in one hand each, in order")
                .isEqualTo(both);
        if (before.getFirst()) {
            assertThat(both).as("accepted before the drain").hasSize(2);
        }
        assertThat(race.now(feed.next())).as("nothing more is taken here").isEmpty();
        taken.ifPresent(m -> assertThat(race.now(feed.settle(m, Outcome.ANSWERED, "done")))
                .as("what is in flight may finish")
                .isTrue());
        var all = new ArrayList<>(taken.map(Race::text).stream().toList());
        var successor = race.now(mailbox.feed(FeedOptions.none()));
        while (all.size() < 2) {
            var next = race.atOnce(successor::next);
            race.rest();
            all.add(Race.text(Race.done("a message left over", next).orElseThrow()));
        }
        assertThat(all).containsExactly("one", "two");
    }

    /** A reader goes to sleep between messages: none comes too late to wake it. */
    static void woken(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var receipts = race.sends(inbox.session(), "one", "two");
        var all = new ArrayList<Received>();
        var end = race.atOnce(() -> inbox.next()
                .thenCompose(first -> taken(all, first, inbox))
                .thenCompose(done -> inbox.next())
                .thenCompose(second -> taken(all, second, inbox)));
        var eviction = race.atOnce(inbox.session()::evict);
        race.go();
        Race.done("sending", receipts);
        Race.done("an eviction", eviction);
        assertThat(Race.done("a message", end)).isTrue();
        assertThat(Race.texts(all)).isEqualTo("one two");
    }

    private static CompletionStage<Boolean> taken(List<Received> all, Optional<Received> next, Inbox inbox) {
        all.add(next.orElseThrow());
        return inbox.settle(next.orElseThrow(), "done");
    }

    @Tag("MB-09")
    @Test
    void drain_whileMessagesComeAndEnd_losesNoneAndMissesNothing(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, DrainOrdersTest::drained);
        Race.catches(SeededBug.DRAINED_TOO_EARLY, Race.TWO, reporter, DrainOrdersTest::drained);
    }

    @Tag("MB-09")
    @Test
    void drainFeed_whileMessagesComeAndAreTaken_putsNoneInBothHands(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, DrainOrdersTest::feedDrained);
        Race.catches(SeededBug.STALE_CONSUMER_TAKES, Race.TWO, reporter, DrainOrdersTest::feedDrained);
    }

    @Test
    void next_whileMessagesCome_isWokenByEach(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, DrainOrdersTest::woken);
        Race.catches("no signals", Race::mute, Race.TWO, reporter, DrainOrdersTest::woken);
    }
}
