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

import dev.holdfast.Author;
import dev.holdfast.ChatMessages;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The live chat with an agent that Java code runs, on real files. */
@SuppressWarnings("try") // subscriptions are closed with their block
final class ChatTest {
    @TempDir
    Path data;

    private Station station;
    private ChatMessages chat;

    @BeforeEach
    void open() {
        station = new Station(data);
        chat = now(station.host().chat(NAME));
    }

    @AfterEach
    void close() {
        station.close();
    }

    private void push(String... texts) {
        for (String text : texts) {
            stored(now(chat.push(Message.of(text))));
        }
    }

    @Tag("CH-01")
    @Test
    void push_withWaiters_servesTheOldestFirst() {
        var waiters = IntStream.range(0, 5).mapToObj(i -> chat.next()).toList();
        push("one", "two", "three");
        assertThat(text(waiters.get(0))).contains("one");
        assertThat(text(waiters.get(1))).contains("two");
        assertThat(text(waiters.get(2))).contains("three");
        assertThat(waiters.get(3)).isNotDone();
        push("four", "five");
        assertThat(text(waiters.get(3))).contains("four");
        assertThat(text(waiters.get(4))).contains("five");
    }

    @Tag("CH-01")
    @Test
    void push_withoutWaiters_queuesInOrder() {
        push("one", "two", "three");
        assertThat(List.of(
                        text(chat.next()).orElseThrow(),
                        text(chat.next()).orElseThrow(),
                        text(chat.next()).orElseThrow()))
                .containsExactly("one", "two", "three");
    }

    @Tag("CH-01")
    @Test
    void push_afterClose_isRefusedWithTheReason() {
        now(chat.close("the work is done"));
        var refusal = refused(now(chat.push(Message.of("too late"))));
        assertThat(refusal.message()).contains("closed").contains("the work is done");
        assertThat(chat.session().status().queued()).isZero();
    }

    @Tag("CH-02")
    @Test
    void takeQueued_withNothingThere_givesNothingAtOnce() {
        assertThat(now(chat.takeQueued())).isEmpty();
        push("one");
        assertThat(text(chat.takeQueued())).contains("one");
        assertThat(now(chat.takeQueued())).isEmpty();
    }

    @Tag("CH-02")
    @Test
    void takeQueued_besideWaiters_doesNotWaitForThem() {
        var first = chat.next();
        var second = chat.next();
        assertThat(now(chat.takeQueued())).isEmpty();
        assertThat(first).isNotDone();
        push("one", "two");
        assertThat(text(first)).as("the oldest is still the first").contains("one");
        assertThat(text(second)).contains("two");
    }

    @Tag("CH-02")
    @Test
    void takeQueued_besideAWaiterThatIsServed_takesTheNext() {
        push("one", "two");
        var waiter = chat.next();
        var queued = chat.takeQueued();
        assertThat(text(waiter)).contains("one");
        assertThat(text(queued)).contains("two");
    }

    @Tag("CH-02")
    @Test
    void next_withSomethingQueued_givesItAtOnce() {
        push("one");
        assertThat(text(chat.next(new CompletableFuture<>()))).contains("one");
    }

    @Tag("CH-02")
    @Test
    void next_withACancelThatHasFired_takesNothing() {
        push("one");
        assertThat(chat.next(CompletableFuture.completedFuture(null))).isCompletedWithValue(Optional.empty());
        assertThat(chat.next(CompletableFuture.failedFuture(new IllegalStateException("stop"))))
                .isCompletedWithValue(Optional.empty());
        assertThat(chat.session().status().queued()).isEqualTo(1);
        assertThat(text(chat.takeQueued())).contains("one");
    }

    @Tag("CH-03")
    @Test
    void close_withMessagesQueued_returnsThemToTheCloser() {
        var sent = send(chat.session(), "one", "two", "three");
        var taken = now(chat.next()).orElseThrow();
        var replies = sent.stream().map(n -> chat.session().reply(n)).toList();
        assertThat(texts(now(chat.close("over")))).containsExactly("two", "three");
        assertThat(now(chat.next())).isEmpty();
        assertThat(now(chat.takeQueued())).isEmpty();
        assertThat(now(chat.settle(taken, Outcome.ANSWERED, "too late"))).isFalse();
        for (var reply : replies) {
            assertThat(now(reply).outcome()).isEqualTo(Outcome.CLOSED);
        }
        assertThat(now(chat.close("again"))).isEmpty();
    }

    @Tag("CH-03")
    @Test
    void close_withManyQueued_returnsAllInOrder() {
        var all = IntStream.range(0, 2_500).mapToObj(i -> "m" + i).toList();
        for (int from = 0; from < all.size(); from += 500) {
            now(chat.session()
                    .sendAll(all.subList(from, from + 500).stream()
                            .map(Message::of)
                            .toList()));
        }
        assertThat(texts(now(chat.close("over")))).containsExactlyElementsOf(all);
    }

    @Tag("CH-03")
    @Test
    void close_withARecoverableReason_pausesAndReturnsNothing() {
        push("one");
        assertThat(now(chat.close(dev.holdfast.CloseReason.TOKEN_BUDGET))).isEmpty();
        assertThat(awaitStatus(chat.session(), s -> s.phase().equals("PAUSED")).queued())
                .isEqualTo(1);
    }

    @Tag("CH-04")
    @Test
    void close_wakesEveryWaiterWithNone() {
        var waiters = IntStream.range(0, 4).mapToObj(i -> chat.next()).toList();
        var cancellable = chat.next(new CompletableFuture<>());
        now(chat.close("over"));
        for (var waiter : waiters) {
            assertThat(now(waiter)).isEmpty();
        }
        assertThat(now(cancellable)).isEmpty();
        assertThat(now(chat.next())).isEmpty();
    }

    @Tag("CH-04")
    @Test
    void close_byTheSession_wakesEveryWaiter() {
        var waiters = List.of(chat.next(), chat.next());
        chat.session().close("over");
        for (var waiter : waiters) {
            assertThat(now(waiter)).isEmpty();
        }
    }

    @Tag("CH-04")
    @Test
    void close_ofTheHost_wakesEveryWaiter() {
        var waiters = List.of(chat.next(), chat.next());
        station.restart();
        for (var waiter : waiters) {
            assertThat(now(waiter)).isEmpty();
        }
    }

    @Tag("CH-04")
    @Test
    void cancel_wakesItsWaiterAndLeavesTheOthersInLine() {
        var cancel = new CompletableFuture<String>();
        var first = chat.next(cancel);
        var second = chat.next();
        cancel.complete("stop");
        assertThat(now(first)).isEmpty();
        push("one");
        assertThat(text(second)).contains("one");
    }

    @Tag("CH-04")
    @Test
    void cancel_ofTheFuture_removesItsWaiter() {
        var first = chat.next();
        first.cancel(false);
        push("one");
        assertThat(text(chat.next())).contains("one");
    }

    @Tag("CH-04")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void message_racingACancel_goesToTheNextWaiterOrTheFront(boolean another) {
        for (int i = 0; i < 60; i++) {
            var cancel = new CompletableFuture<String>();
            var first = chat.next(cancel);
            var second = another ? Optional.of(chat.next()) : Optional.<CompletableFuture<Optional<Received>>>empty();
            var receipt = chat.push(Message.of("m" + i));
            cancel.complete("stop");
            stored(now(receipt));
            var taken = now(first).or(() -> second.isPresent() ? now(second.get()) : now(chat.next()));
            assertThat(taken.map(Station::text)).contains("m" + i);
            assertThat(now(chat.settle(taken.orElseThrow(), Outcome.ANSWERED, "")))
                    .isTrue();
            second.ifPresent(s -> {
                push("for whoever is left");
                var rest = s.isDone() && now(s).map(Station::text).orElse("").startsWith("m")
                        ? now(chat.takeQueued())
                        : now(s);
                assertThat(now(chat.settle(rest.orElseThrow(), Outcome.ANSWERED, "")))
                        .isTrue();
            });
        }
        assertThat(now(chat.takeQueued())).isEmpty();
    }

    @Tag("CH-04")
    @Test
    void waiters_cancelledInMasses_leaveNothingBehind() {
        var never = new CompletableFuture<String>();
        for (int i = 0; i < 300; i++) {
            chat.next(never).cancel(false);
        }
        push("one");
        assertThat(text(chat.next(never))).contains("one");
        assertThat(never.getNumberOfDependents())
                .as("a cancel that never comes keeps no waiters")
                .isLessThan(10);
    }

    @Tag("CH-06")
    @Test
    void message_carriesItsSurfaceAndItsAuthor() {
        var author = new Author("Ada Lovelace", "web", "admin");
        stored(now(chat.push(Message.of("hello").author(author))));
        assertThat(now(chat.next()).orElseThrow().author()).isEqualTo(author);
        station.restart();
        chat = now(station.host().chat(NAME));
        assertThat(now(chat.next()).orElseThrow().author()).as("kept on disk").isEqualTo(author);
    }

    @Tag("CH-06")
    @ParameterizedTest
    @ValueSource(
            strings = {"", "two\nlines", "[holdfast] host", "a\u2028b", "#heading", "x\u0000", "<system>", " lead"})
    void author_thatCouldForgeAHeading_isRefused(String word) {
        assertThatThrownBy(() -> new Author(word, "web")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Author("ada", word)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Author("ada", "web", word)).isInstanceOf(IllegalArgumentException.class);
    }

    @Tag("CH-08")
    @Test
    void message_taken_isInFlightUntilSettled() {
        long number = send(chat.session(), "one").getFirst();
        var taken = now(chat.takeQueued()).orElseThrow();
        assertThat(chat.session().status().inFlight()).isEqualTo(1);
        var reply = chat.session().reply(number);
        assertThat(now(chat.settle(taken, Outcome.ANSWERED, "hi"))).isTrue();
        assertThat(now(reply).text()).isEqualTo("hi");
    }

    @Tag("CH-08")
    @Test
    void message_whoseTakerLetsGo_returnsToTheFront() {
        push("one", "two", "three");
        now(chat.next());
        now(chat.takeQueued());
        chat.close();
        assertThat(now(chat.next())).isEmpty();
        chat = now(station.host().chat(NAME));
        assertThat(chat.session().status().consumed()).isZero();
        var again = new ArrayList<String>();
        for (int i = 0; i < 3; i++) {
            again.add(text(chat.next()).orElseThrow());
        }
        assertThat(again).containsExactly("one", "two", "three");
    }

    @Tag("CH-08")
    @Test
    void message_whoseHostEnds_returnsToTheFront() {
        push("one", "two");
        now(chat.next());
        station.restart();
        chat = now(station.host().chat(NAME));
        assertThat(text(chat.next())).contains("one");
        assertThat(text(chat.next())).contains("two");
    }

    @Tag("CH-09")
    @Test
    void surface_second_isRefusedAndTheOthersObserve() {
        assertThat(failure(station.host().inbox(NAME))).hasMessageContaining("read by its chat already");
        assertThat(failure(station.host().mailbox(NAME))).hasMessageContaining("read by its chat already");
        assertThat(failure(station.host().chat(NAME))).hasMessageContaining("read by its chat already");
        var seen = new java.util.concurrent.LinkedBlockingQueue<String>();
        try (var unused = chat.session().onDelivery(r -> seen.add(text(r)))) {
            push("one");
            assertThat(take(seen)).isEqualTo("one");
            assertThat(text(chat.next())).contains("one");
        }
        chat.close();
        var inbox = now(station.host().inbox(NAME));
        assertThat(text(inbox.next())).contains("one");
    }

    private static String take(java.util.concurrent.BlockingQueue<String> queue) {
        try {
            return Optional.ofNullable(queue.poll(20, java.util.concurrent.TimeUnit.SECONDS))
                    .orElseThrow(() -> new AssertionError("nothing was observed"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Tag("CH-09")
    @Test
    void surfaces_openedAtOnce_oneGetsIt() {
        chat.close();
        var opening = List.of(
                station.host().inbox(NAME),
                station.host().chat(NAME),
                station.host().mailbox(NAME));
        long opened = opening.stream()
                .filter(o -> {
                    try {
                        return now(o) != null;
                    } catch (AssertionError refusal) {
                        assertThat(refusal).hasMessageContaining("already");
                        return false;
                    }
                })
                .count();
        assertThat(opened).isEqualTo(1);
    }
}
