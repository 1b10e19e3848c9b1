package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.EventListener;
import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Subscribe against publish, in every order (IN-07, LV-08). */
final class ObserverOrdersTest {

    private static CompletionStage<Boolean> takeAndSettle(Inbox inbox) {
        return inbox.next().thenCompose(next -> {
            return next.isPresent() ? inbox.settle(next.get(), "done") : CompletableFuture.completedFuture(false);
        });
    }

    /** Those who subscribe see what is unread then, and all that comes, once; what is read before need not be seen. */
    static void observed(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        race.now(inbox.session().sendAsync(Message.of("one")));
        race.now(inbox.session().sendAsync(Message.of("two")));
        observes(race, inbox.session(), () -> CompletableFuture.completedFuture(inbox));
    }

    /** As above, of a session that sleeps, and is taken up at the same time. */
    static void observedAsleep(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        race.now(inbox.session().sendAsync(Message.of("one")));
        race.now(inbox.session().sendAsync(Message.of("two")));
        inbox.close();
        race.rest();
        race.restart();
        observes(
                race,
                race.now(race.holdfast().mailAsync(Race.NAME)),
                () -> race.holdfast().inbox(Race.NAME));
    }

    private static void observes(Race race, Session session, Supplier<CompletionStage<Inbox>> opens) {
        var readBefore = new ArrayList<Long>();
        var seen = new ArrayList<Long>();
        var subscription = race.atOnce(() -> {
            readBefore.addAll(read(race));
            return CompletableFuture.<Subscription>completedFuture(session.onDelivery(r -> seen.add(r.number())));
        });
        var reader = race.atOnce(() -> opens.get().thenCompose(ObserverOrdersTest::takeAndSettle));
        var sent = race.sends(session, "three", "four");
        race.go();
        assertThat(Race.done("sending", sent)).hasSize(2);
        assertThat(Race.done("the reader", reader)).isTrue();
        assertThat(seen)
                .as("no duplicate, in order")
                .isEqualTo(seen.stream().distinct().sorted().toList());
        var unread = LongStream.rangeClosed(1, 4)
                .boxed()
                .filter(n -> !readBefore.contains(n))
                .toList();
        assertThat(seen).as("no gap; read before: " + readBefore).containsAll(unread);
        Race.done("the subscription", subscription).close();
        var later = race.sends(session, "five");
        int told = seen.size();
        race.rest();
        Race.done("sending", later);
        assertThat(seen).as("no call after the close").hasSize(told);
    }

    private static List<Long> read(Race race) {
        return race.stored().stream()
                .flatMap(s -> s instanceof Race.Stored.Recorded e && e.is("MessagesTaken")
                        ? Race.numbers(e).stream()
                        : Stream.empty())
                .toList();
    }

    /** After a close no call comes, whatever was under way. */
    static void closed(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        race.now(inbox.session().sendAsync(Message.of("one")));
        var seen = new ArrayList<Long>();
        var whenClosed = new ArrayList<Integer>();
        var subscription = inbox.session().onDelivery(r -> seen.add(r.number()));
        var sent = race.sends(inbox.session(), "two", "three");
        var closing = race.atOnce(() -> {
            subscription.close();
            subscription.close();
            whenClosed.add(seen.size());
            return CompletableFuture.completedFuture(true);
        });
        race.go();
        Race.done("sending", sent);
        assertThat(Race.done("the close", closing)).isTrue();
        assertThat(seen).hasSize(whenClosed.getFirst());
        assertThat(seen)
                .isEqualTo(LongStream.rangeClosed(1, seen.size()).boxed().toList());
    }

    /** Followers of events see every one once, from where they begin. */
    static void followed(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        race.now(inbox.session().sendAsync(Message.of("one")));
        var fromTheStart = new ArrayList<Long>();
        var fromTheThird = new ArrayList<Long>();
        var first = race.atOnce(
                () -> CompletableFuture.completedFuture(inbox.session().events(0, into(fromTheStart))));
        var third = race.atOnce(
                () -> CompletableFuture.completedFuture(inbox.session().events(2, into(fromTheThird))));
        var reader = race.atOnce(() -> takeAndSettle(inbox));
        var sent = race.sends(inbox.session(), "two");
        race.go();
        Race.done("sending", sent);
        Race.done("the reader", reader);
        Race.done("a subscription", first);
        Race.done("the other", third);
        long last = race.record(inbox.session()).size();
        assertThat(fromTheStart)
                .isEqualTo(LongStream.rangeClosed(1, last).boxed().toList());
        assertThat(fromTheThird)
                .isEqualTo(LongStream.rangeClosed(3, last).boxed().toList());
    }

    private static EventListener into(List<Long> seen) {
        return new EventListener() {
            @Override
            public void onEvent(SessionEvent event) {
                seen.add(event.seq());
            }
        };
    }

    @Tag("IN-07")
    @Test
    void onDelivery_whileMessagesComeAndAreTaken_hasNoGapAndNoDouble(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, ObserverOrdersTest::observed);
        Race.catches("no signals", Race::mute, Race.TWO, reporter, ObserverOrdersTest::observed);
    }

    @Tag("IN-07")
    @Test
    void onDelivery_whileTheSessionIsTakenUp_hasNoGapAndNoDouble(TestReporter reporter) {
        Race.keeps(Race.ONE, reporter, ObserverOrdersTest::observedAsleep);
    }

    @Tag("IN-07")
    @Test
    void closeOfAnObserver_whileMessagesCome_isTheLastOfIt(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, ObserverOrdersTest::closed);
    }

    @Tag("LV-08")
    @Test
    void events_followedWhileTheyAreCommitted_haveNoGapAndNoDouble(TestReporter reporter) {
        Race.keeps(Race.ONE, reporter, ObserverOrdersTest::followed);
        Race.catches("an event twice", Race::repeats, Race.TWO, reporter, ObserverOrdersTest::followed);
    }
}
