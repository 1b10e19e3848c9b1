package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Received;
import dev.holdfast.Session;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Those who watch the deliveries of a session and take none, on real files. */
@SuppressWarnings("try") // subscriptions are closed with their block
final class ObserversTest {
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

    private static List<String> await(List<Received> seen, int count) {
        Awaitility.await(count + " deliveries").atMost(Station.PATIENCE).until(() -> seen.size() >= count);
        return seen.stream().map(Station::text).toList();
    }

    @Tag("IN-07")
    @Test
    void onDelivery_replaysTheUnreadAndThenFollows_withoutTaking() {
        send(inbox.session(), "read", "settled", "unread");
        var first = now(inbox.next()).orElseThrow();
        var second = now(inbox.next()).orElseThrow();
        assertThat(now(inbox.settle(second, "done"))).isTrue();
        var seen = new CopyOnWriteArrayList<Received>();
        try (var unused = inbox.session().onDelivery(seen::add)) {
            send(inbox.session(), "live one", "live two");
            assertThat(await(seen, 3)).containsExactly("unread", "live one", "live two");
            assertThat(now(inbox.takeAll()).stream().map(Station::text))
                    .as("observing takes nothing")
                    .containsExactly("unread", "live one", "live two");
            send(inbox.session(), "last");
            assertThat(await(seen, 4)).containsExactly("unread", "live one", "live two", "last");
        }
        assertThat(text(first)).isEqualTo("read");
    }

    @Tag("IN-07")
    @Test
    void onDelivery_withMessagesGivenBack_replaysThemOnce() {
        send(inbox.session(), "one", "two", "three");
        now(inbox.next());
        now(inbox.next());
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        var seen = new CopyOnWriteArrayList<Received>();
        try (var unused = inbox.session().onDelivery(seen::add)) {
            send(inbox.session(), "four");
            assertThat(await(seen, 4)).containsExactly("one", "two", "three", "four");
        }
    }

    @Tag("IN-07")
    @Test
    void onDelivery_ofASleepingSession_replaysWhatIsUnreadThere() {
        send(inbox.session(), "one", "two", "three");
        now(inbox.settle(now(inbox.next()).orElseThrow(), "done"));
        station.restart();
        var session = station.host().mail(NAME);
        var seen = new CopyOnWriteArrayList<Received>();
        try (var unused = session.onDelivery(seen::add)) {
            send(session, "four");
            assertThat(await(seen, 3)).containsExactly("two", "three", "four");
        }
    }

    @Tag("IN-07")
    @Test
    void onDelivery_subscribedWhileMessagesAreTaken_hasNoGapAndNoDouble() {
        var sent = new ArrayList<String>();
        for (int i = 0; i < 60; i++) {
            var seen = new CopyOnWriteArrayList<Received>();
            var taking = inbox.next();
            try (var unused = inbox.session().onDelivery(seen::add)) {
                stored(now(inbox.session().sendAsync(Message.of("m" + i))));
                sent.add("m" + i);
                assertThat(now(inbox.settle(now(taking).orElseThrow(), "done"))).isTrue();
                assertThat(await(seen, 1)).containsExactly("m" + i);
                stored(now(inbox.session().sendAsync(Message.of("n" + i))));
                assertThat(await(seen, 2)).containsExactly("m" + i, "n" + i);
                assertThat(now(inbox.settle(now(inbox.next()).orElseThrow(), "done")))
                        .isTrue();
            }
        }
        assertThat(sent).hasSize(60);
    }

    @Tag("IN-07")
    @Test
    void onDelivery_justAfterAWake_hasNoGap() {
        for (int i = 0; i < 15; i++) {
            inbox.close();
            station.restart();
            inbox = now(station.host().inbox(NAME));
            var seen = new CopyOnWriteArrayList<Received>();
            try (var unused = inbox.session().onDelivery(seen::add)) {
                var taken = inbox.next();
                send(inbox.session(), "m" + i);
                assertThat(now(inbox.settle(now(taken).orElseThrow(), "done"))).isTrue();
                assertThat(await(seen, 1)).containsExactly("m" + i);
            }
        }
    }

    @Tag("IN-07")
    @Test
    void onDelivery_aHandlerThatThrows_harmsNobody() {
        var seen = new CopyOnWriteArrayList<Received>();
        var calls = new CopyOnWriteArrayList<Received>();
        try (var broken = inbox.session().onDelivery(r -> {
                    calls.add(r);
                    throw new IllegalStateException("broken on purpose");
                });
                var sound = inbox.session().onDelivery(seen::add)) {
            send(inbox.session(), "one", "two");
            assertThat(await(seen, 2)).containsExactly("one", "two");
            assertThat(await(calls, 2)).as("it is told of the next as well").containsExactly("one", "two");
            assertThat(now(inbox.takeAll())).hasSize(2);
            assertThat(broken).isNotSameAs(sound);
        }
    }

    @Tag("IN-07")
    @Test
    void onDelivery_aSlowHandler_slowsNobody() throws InterruptedException {
        var held = new CountDownLatch(1);
        var seen = new CopyOnWriteArrayList<Received>();
        var slow = new CopyOnWriteArrayList<Received>();
        try (var one = inbox.session().onDelivery(r -> {
                    slow.add(r);
                    await(held);
                });
                var two = inbox.session().onDelivery(seen::add)) {
            send(inbox.session(), "one", "two", "three");
            assertThat(await(seen, 3)).containsExactly("one", "two", "three");
            assertThat(slow).hasSizeLessThanOrEqualTo(1);
            assertThat(now(inbox.takeAll())).hasSize(3);
            held.countDown();
            assertThat(await(slow, 3)).containsExactly("one", "two", "three");
            assertThat(one).isNotSameAs(two);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Tag("IN-07")
    @Test
    void close_isIdempotentAndNoCallComesAfter() {
        for (int i = 0; i < 30; i++) {
            var closed = new AtomicBoolean();
            var late = new AtomicBoolean();
            var subscription = inbox.session().onDelivery(r -> late.compareAndSet(false, closed.get()));
            var receipts = List.of(
                    inbox.session().sendAsync(Message.of("a" + i)),
                    inbox.session().sendAsync(Message.of("b" + i)));
            subscription.close();
            closed.set(true);
            subscription.close();
            receipts.forEach(Station::now);
            now(inbox.takeAll());
            assertThat(late).isFalse();
        }
    }

    @Tag("IN-07")
    @Test
    void close_fromWithinTheHandler_isAllowed() {
        var seen = new CopyOnWriteArrayList<Received>();
        var subscription = new java.util.concurrent.CompletableFuture<dev.holdfast.Subscription>();
        subscription.complete(inbox.session().onDelivery(r -> {
            seen.add(r);
            subscription.join().close();
        }));
        send(inbox.session(), "one", "two");
        assertThat(await(seen, 1)).containsExactly("one");
        assertThat(now(inbox.takeAll())).hasSize(2);
        assertThat(seen).hasSize(1);
    }

    @Tag("LV-08")
    @Test
    void events_subscribedAtAnyTime_comeOnceAndInOrder() {
        var session = inbox.session();
        var all = Station.events(session);
        for (int i = 0; i < 30; i++) {
            send(session, "m" + i);
            now(inbox.settle(now(inbox.next()).orElseThrow(), "done"));
            if (i % 10 == 5) {
                var later = Station.events(session);
                assertThat(seqs(later, session)).isEqualTo(seqs(all, session));
            }
        }
    }

    private static List<Long> seqs(Station.Events events, Session session) {
        long last = session.status().consumed();
        Awaitility.await()
                .atMost(Station.PATIENCE)
                .until(() ->
                        events.types().stream().filter("MessageEnded"::equals).count() >= last);
        var seqs = events.all().stream().map(dev.holdfast.SessionEvent::seq).toList();
        for (int i = 0; i < seqs.size(); i++) {
            assertThat(seqs.get(i)).isEqualTo(i + 1L);
        }
        var settled = events.all().stream()
                .filter(e -> e.type().equals("MessageEnded"))
                .map(dev.holdfast.SessionEvent::seq)
                .limit(last)
                .toList();
        assertThat(settled).hasSize((int) last);
        return settled;
    }
}
