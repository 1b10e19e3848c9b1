package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.events;
import static dev.holdfast.it.Station.failure;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.refused;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AddressTerms;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.FeedEnd;
import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The durable inbox of a session, on real files. */
@SuppressWarnings("try") // subscriptions are closed with their block
final class InboxTest {
    private static final Author WEB = new Author("ada", "web");

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

    private Received take() {
        return now(inbox.next()).orElseThrow(() -> new AssertionError("the inbox ended: " + inbox.lastEnd()));
    }

    // ---- reading --------------------------------------------------------------------------------------------------

    @Tag("IN-02")
    @Test
    void payloads_ofEveryKindOfASender_comeOutAsTheyWentIn() {
        now(inbox.session().addresses().claim("callback", AddressTerms.authorization()));
        now(inbox.session().addresses().claim("run", AddressTerms.toolRun()));
        List<Payload> sent = List.of(
                new Payload.Words("words", dev.holdfast.DeliveryPolicy.NEXT),
                new Payload.Words("now", dev.holdfast.DeliveryPolicy.STEER),
                new Payload.Words("instead", dev.holdfast.DeliveryPolicy.REPLACE),
                Payload.Cancel.turn(7),
                Payload.Cancel.message(1),
                Payload.Cancel.any(),
                new Payload.Reset(),
                new Payload.Clear(),
                new Payload.Compact(),
                new Payload.SessionTimeout(1_000));
        for (Payload payload : sent) {
            stored(now(inbox.session().submit(payload, WEB, Optional.empty())));
        }
        var authorization = new Payload.Authorization("attempt-1", "code");
        var run = new Payload.ToolRun("call-1", "result");
        stored(now(station.host().deliver("callback", authorization, WEB, Optional.empty())));
        stored(now(station.host().deliver("run", run, WEB, Optional.empty())));
        var expected = new ArrayList<>(sent);
        expected.add(authorization);
        expected.add(run);
        var given = new ArrayList<Payload>();
        var through = new ArrayList<String>();
        for (var unused : expected) {
            var received = take();
            given.add(received.payload());
            received.address().ifPresent(through::add);
            assertThat(received.author()).isEqualTo(WEB);
        }
        assertThat(given).containsExactlyElementsOf(expected);
        assertThat(through).containsExactly("callback", "run");
    }

    @Tag("IN-03")
    @Test
    void payload_invalid_isRefusedToItsSenderAndHarmsNobody() {
        assertThatThrownBy(() -> new Payload.Words("", dev.holdfast.DeliveryPolicy.NEXT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("without text");
        assertThatThrownBy(() -> new Payload.Cancel(OptionalLong.of(1), OptionalLong.of(2)))
                .hasMessageContaining("not both");
        assertThatThrownBy(() -> Payload.Cancel.turn(0)).hasMessageContaining("begin at 1");
        assertThatThrownBy(() -> new Payload.Answer("two words", "x")).hasMessageContaining("not allowed");
        assertThatThrownBy(() -> new Payload.Authorization("a".repeat(300), "x"))
                .hasMessageContaining("not allowed");
        assertThatThrownBy(() -> Message.of("x".repeat(Message.TEXT_BYTES_MAX + 1)))
                .hasMessageContaining("at most");
        var refusal = refused(
                now(inbox.session().submit(new Payload.Authorization("attempt", "code"), WEB, Optional.empty())));
        assertThat(refusal.message()).contains("only through the address");
        refusal = refused(now(inbox.session().submit(new Payload.ToolRun("call", "x"), WEB, Optional.empty())));
        assertThat(refusal.message()).contains("only through the address");
        send(inbox.session(), "still alive");
        assertThat(text(take())).isEqualTo("still alive");
    }

    @Tag("IN-04")
    @Test
    void next_takesInArrivalOrderAndWaits() {
        var waiting = inbox.next();
        assertThat(waiting.toCompletableFuture()).isNotDone();
        send(inbox.session(), "one", "two", "three");
        assertThat(text(waiting)).contains("one");
        assertThat(text(take())).isEqualTo("two");
        assertThat(text(take())).isEqualTo("three");
    }

    @Tag("IN-04")
    @Test
    void next_byASecondConsumer_isAnError() {
        var waiting = inbox.next();
        assertThatThrownBy(inbox::next)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("one consumer at a time");
        send(inbox.session(), "one");
        assertThat(text(waiting)).as("the first is not disturbed").contains("one");
    }

    @Tag("IN-04")
    @Test
    void next_ends_whenTheSessionIsClosed() {
        var waiting = inbox.next();
        inbox.session().close("over");
        assertThat(now(waiting)).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.CLOSED);
        assertThat(now(inbox.next())).isEmpty();
    }

    @Tag("IN-04")
    @Test
    void next_cancelled_losesNothing() {
        for (int i = 0; i < 40; i++) {
            var waiting = inbox.next().toCompletableFuture();
            var receipt = inbox.session().sendAsync(Message.of("m" + i));
            boolean cancelled = waiting.cancel(false);
            stored(now(receipt));
            var taken = cancelled ? takeAgain() : now(waiting).orElseThrow();
            assertThat(text(taken)).isEqualTo("m" + i);
            assertThat(now(inbox.settle(taken, "done"))).isTrue();
        }
    }

    /** The cancelled take ends by itself, and soon. */
    private Received takeAgain() {
        return org.awaitility.Awaitility.await("the cancelled take ends")
                .atMost(Station.PATIENCE)
                .ignoreExceptionsInstanceOf(IllegalStateException.class)
                .until(() -> now(inbox.next()), Optional::isPresent)
                .orElseThrow();
    }

    @Tag("IN-04")
    @Test
    void takeAll_takesWhatWasAcceptedSoFarInOrder() {
        assertThat(now(inbox.takeAll())).isEmpty();
        var all = IntStream.range(0, 1_200).mapToObj(i -> "m" + i).toList();
        now(inbox.session()
                .sendAll(all.subList(0, 700).stream().map(Message::of).toList()));
        now(inbox.session()
                .sendAll(all.subList(700, 1_200).stream().map(Message::of).toList()));
        assertThat(texts(now(inbox.takeAll()))).containsExactlyElementsOf(all);
        assertThat(now(inbox.takeAll())).isEmpty();
        assertThat(inbox.session().status().inFlight()).isEqualTo(1_200);
    }

    @Tag("IN-04")
    @Test
    void hasPending_asksWithoutTaking() {
        assertThat(now(inbox.hasPending())).isFalse();
        send(inbox.session(), "one");
        assertThat(now(inbox.hasPending())).isTrue();
        assertThat(now(inbox.hasPending())).isTrue();
        take();
        assertThat(now(inbox.hasPending())).isFalse();
    }

    @Tag("CH-08")
    @Test
    void inbox_closed_givesBackWhatWasNotSettled() {
        send(inbox.session(), "one", "two");
        take();
        take();
        inbox.close();
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one", "two");
    }

    @Tag("CH-08")
    @Test
    void inbox_closedWhilePaused_givesBackWhatWasNotSettled() {
        send(inbox.session(), "one", "two");
        take();
        now(inbox.session().pause("lunch"));
        assertThat(now(inbox.next())).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.PAUSED);
        inbox.close();
        awaitStatus(inbox.session(), s -> s.inFlight() == 0 && s.queued() == 2);
        now(inbox.session().resume());
        inbox = now(station.host().inbox(NAME));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one", "two");
    }

    @Tag("IN-04")
    @Test
    void inbox_ofAClosedSession_endsAtOnce() {
        inbox.session().close("the work is done");
        awaitStatus(inbox.session(), s -> s.phase().equals("CLOSED"));
        inbox.close();
        inbox = now(station.host().inbox(NAME));
        assertThat(now(inbox.next())).isEmpty();
        assertThat(now(inbox.takeAll())).isEmpty();
        assertThat(inbox.lastEnd()).contains(FeedEnd.CLOSED);
        inbox.close();
        var chat = now(station.host().chat(NAME));
        assertThat(now(chat.next())).isEmpty();
        chat.close();
        var feed = now(now(station.host().mailbox(NAME)).feed(dev.holdfast.Mailbox.FeedOptions.none()));
        assertThat(now(feed.next())).isEmpty();
        assertThat(feed.end()).contains(FeedEnd.CLOSED);
    }

    // ---- interrupts -----------------------------------------------------------------------------------------------

    @Tag("IN-05")
    @Test
    void cancel_behindTenThousandMessages_isAnnouncedAtOnce() {
        var words = "x".repeat(100);
        for (int i = 0; i < 10; i++) {
            now(inbox.session()
                    .sendAll(IntStream.range(0, 999)
                            .mapToObj(n -> Message.of(words))
                            .toList()));
        }
        var announced = new java.util.concurrent.CompletableFuture<Received>();
        try (var unused = inbox.session().onInterrupt(announced::complete)) {
            long begun = System.nanoTime();
            var receipt = stored(inbox.session().interrupt());
            assertThat(now(announced).number()).isEqualTo(receipt.number()).isEqualTo(9_991);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
        }
        assertThat(now(inbox.takeAll())).hasSize(9_991);
    }

    @Tag("IN-06")
    @Test
    void interrupts_areAnnouncedBeforeTheyCanBeRead_andStayInTheirPlace() {
        var order = new java.util.concurrent.CopyOnWriteArrayList<String>();
        try (var first = inbox.session().onInterrupt(r -> {
                    throw new IllegalStateException("broken on purpose");
                });
                var second = inbox.session().onInterrupt(r -> order.add("announced " + r.payload()))) {
            send(inbox.session(), "before");
            now(inbox.session().cancel(Payload.Cancel.turn(9)));
            now(inbox.session().reset());
            now(inbox.session().submit(new Payload.SessionTimeout(3), WEB, Optional.empty()));
            now(inbox.session().clear());
            send(inbox.session(), "after");
            for (int i = 0; i < 6; i++) {
                order.add("read " + take().payload());
            }
            assertThat(second).isNotSameAs(first);
        }
        assertThat(order)
                .filteredOn(o -> o.startsWith("read"))
                .containsExactly(
                        "read " + new Payload.Words("before", dev.holdfast.DeliveryPolicy.NEXT),
                        "read " + Payload.Cancel.turn(9),
                        "read " + new Payload.Reset(),
                        "read " + new Payload.SessionTimeout(3),
                        "read " + new Payload.Clear(),
                        "read " + new Payload.Words("after", dev.holdfast.DeliveryPolicy.NEXT));
        for (Payload p : List.of(Payload.Cancel.turn(9), new Payload.Reset(), new Payload.SessionTimeout(3))) {
            assertThat(order.indexOf("announced " + p))
                    .as("%s in %s", p, order)
                    .isBetween(0, order.indexOf("read " + p) - 1);
        }
        assertThat(order).doesNotContain("announced " + new Payload.Clear());
    }

    @Tag("IN-06")
    @Test
    void interrupts_unread_areAnnouncedAgainOnWake() {
        send(inbox.session(), "before");
        stored(inbox.session().interrupt());
        station.restart();
        now(station.host().mailbox(NAME));
        var session = station.host().open(NAME).orElseThrow();
        var again = new java.util.concurrent.CompletableFuture<Received>();
        try (var unused = session.onInterrupt(again::complete)) {
            now(session.awaitMessage());
            assertThat(now(again).payload()).isEqualTo(Payload.Cancel.any());
        }
    }

    @Tag("IN-06")
    @Test
    void interrupts_read_areNotAnnouncedAgain() {
        stored(inbox.session().interrupt());
        assertThat(take().payload()).isEqualTo(Payload.Cancel.any());
        send(inbox.session(), "after");
        restart();
        var again = new java.util.concurrent.CopyOnWriteArrayList<Received>();
        try (var unused = inbox.session().onInterrupt(again::add)) {
            assertThat(text(take())).isEqualTo("after");
            assertThat(again).isEmpty();
        }
    }

    @Tag("IN-06")
    @Test
    void onInterrupt_closed_isNotCalledAgain() {
        var calls = new java.util.concurrent.CopyOnWriteArrayList<Received>();
        var subscription = inbox.session().onInterrupt(calls::add);
        subscription.close();
        subscription.close();
        stored(inbox.session().interrupt());
        assertThat(take().payload()).isEqualTo(Payload.Cancel.any());
        assertThat(calls).isEmpty();
    }

    // ---- keys, batches, opening -----------------------------------------------------------------------------------

    @Tag("IN-12")
    @Test
    void key_sentAgain_isAcceptedOnceForEver() {
        var first = stored(inbox.session().send(Message.of("pay").key("k1")));
        assertThat(first).isInstanceOf(Receipt.Accepted.class);
        var again = stored(inbox.session().send(Message.of("pay").key("k1")));
        assertThat(again).isEqualTo(new Receipt.Duplicate(first.id(), first.number(), first.acceptedAt()));
        assertThat(now(inbox.settle(take(), "paid"))).isTrue();
        restart();
        assertThat(stored(inbox.session().send(Message.of("pay").key("k1"))))
                .as("after its end and a restart")
                .isInstanceOf(Receipt.Duplicate.class)
                .extracting(Receipt.Stored::number)
                .isEqualTo(first.number());
        assertThat(now(inbox.session().reply(first.number())).text()).isEqualTo("paid");
        assertThat(now(inbox.hasPending())).isFalse();
        var conflict = refused(inbox.session().send(Message.of("pay twice").key("k1")));
        assertThat(conflict).isInstanceOf(Receipt.KeyConflict.class);
        assertThat(conflict.message()).contains("another content").contains("use a new key");
        assertThat(stored(inbox.session().send(Message.of("pay").key("k1").author(new Author("host", "telephone")))))
                .as("the surface may differ, what is meant may not")
                .isInstanceOf(Receipt.Duplicate.class);
        assertThat(inbox.session().send(Message.of("pay").key("k1").author(WEB)))
                .as("another author means another message")
                .isInstanceOf(Receipt.KeyConflict.class);
        var other = now(station.host().inbox(new SessionName("other")));
        assertThat(other.session().send(Message.of("pay").key("k1"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Tag("IN-12")
    @Test
    void key_sentByManyAtOnce_isAcceptedOnce() {
        var receipts =
                IntStream.range(0, 32)
                        .mapToObj(
                                i -> inbox.session().sendAsync(Message.of("pay").key("k")))
                        .toList()
                        .stream()
                        .map(r -> stored(now(r)))
                        .toList();
        assertThat(receipts).extracting(Receipt.Stored::number).containsOnly(1L);
        assertThat(receipts).filteredOn(Receipt.Accepted.class::isInstance).hasSize(1);
        assertThat(now(inbox.takeAll())).hasSize(1);
    }

    @Tag("IN-19")
    @Test
    void batch_isAcceptedWholeAndUnwrappedInOrder() {
        var receipts = now(inbox.session()
                .sendAll(
                        List.of(Message.of("one").author(WEB), Message.of("two").key("k2"), Message.of("three"))));
        assertThat(receipts).extracting(r -> stored(r).number()).containsExactly(1L, 2L, 3L);
        var taken = now(inbox.takeAll());
        assertThat(texts(taken)).containsExactly("one", "two", "three");
        assertThat(taken.getFirst().author()).as("each keeps its identity").isEqualTo(WEB);
        assertThat(taken)
                .extracting(Received::id)
                .containsExactlyElementsOf(
                        receipts.stream().map(r -> stored(r).id()).toList());
        assertThat(now(inbox.settle(taken.get(1), "own end"))).isTrue();
        assertThat(now(inbox.session().reply(2)).text()).isEqualTo("own end");
        assertThat(inbox.session().send(Message.of("two").key("k2"))).isInstanceOf(Receipt.Duplicate.class);
    }

    @Tag("IN-19")
    @Test
    void batch_withOneThatIsRefused_isRefusedWhole() {
        inbox.session().send(Message.of("first").key("taken"));
        var receipts = now(inbox.session()
                .sendAll(List.of(Message.of("one"), Message.of("another").key("taken"), Message.of("three"))));
        assertThat(receipts.get(1)).isInstanceOf(Receipt.KeyConflict.class);
        assertThat(refused(receipts.get(0)).message()).contains("2").contains("refused");
        assertThat(refused(receipts.get(2)).message()).contains("refused");
        assertThat(texts(now(inbox.takeAll()))).containsExactly("first");
        assertThatThrownBy(() -> inbox.session().sendAll(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Tag("IN-16")
    @Test
    void session_openedByTwoAtOnce_isOneAndKeepsBothMessages() {
        for (int i = 0; i < 10; i++) {
            var name = new SessionName("fresh-" + i);
            var one = station.host().mailbox(name).toCompletableFuture();
            var two = station.host()
                    .mailbox(name)
                    .handle((m, refused) -> station.host().mail(name));
            var second = now(two);
            var first = now(one.handle((m, refused) -> station.host().mail(name)));
            var sent = List.of(
                    first.sendAsync(Message.of("from the first")), second.sendAsync(Message.of("from the second")));
            sent.forEach(s -> stored(now(s)));
            assertThat(first).as("one session").isSameAs(second);
            var mailbox = one.isCompletedExceptionally() ? now(station.host().mailbox(name)) : now(one);
            assertThat(texts(now(mailbox.drainFeed()))).containsExactlyInAnyOrder("from the first", "from the second");
        }
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    @Tag("IN-14")
    @Test
    void question_isAnsweredByItsAnswerAloneAndNotByMail() {
        var seen = events(inbox.session());
        send(inbox.session(), "yes");
        stored(now(inbox.session().answer("q-7f3a", "accepted before it was shown")));
        var done = seen.await("ArrivalDone", "ANSWER");
        assertThat(done.body()).contains("no such question is open");
        var answer = inbox.session().question("q-7f3a", "Shall I?", Duration.ofMinutes(5));
        seen.await("QuestionAsked", "Shall I?");
        send(inbox.session(), "no");
        stored(now(inbox.session().answer("q-other", "of another")));
        seen.await("ArrivalDone", "no such question is open");
        assertThat(answer.toCompletableFuture()).isNotDone();
        stored(now(inbox.session().answer("q-7f3a", "do it")));
        assertThat(now(answer)).contains("do it");
        assertThat(texts(now(inbox.takeAll()))).as("answers are not mail").containsExactly("yes", "no");
        assertThat(now(inbox.session().question("q-7f3a", "Shall I?", Duration.ofMinutes(5))))
                .as("asked again, its answer is found")
                .contains("do it");
        stored(now(inbox.session().answer("q-7f3a", "changed my mind")));
        assertThat(now(inbox.session().question("q-7f3a", "Shall I?", Duration.ofMinutes(5))))
                .contains("do it");
    }

    @Tag("IN-14")
    @Test
    void question_askedAgainAfterARestart_isTheSame() {
        var before = inbox.session().question("q-1", "Shall I?", Duration.ofMinutes(5));
        events(inbox.session()).await("QuestionAsked", "q-1");
        station.restart();
        failure(before);
        inbox = now(station.host().inbox(NAME));
        var again = inbox.session().question("q-1", "Shall I?", Duration.ofHours(1));
        stored(now(inbox.session().answer("q-1", "yes")));
        assertThat(now(again)).contains("yes");
        assertThat(events(inbox.session()).await("QuestionAnswered").body()).contains("q-1");
        assertThat(events(inbox.session()).types().stream().filter("QuestionAsked"::equals))
                .hasSizeLessThanOrEqualTo(1);
    }

    @Tag("IN-14")
    @Test
    void question_nobodyAnswers_endsAtItsDeadlineOrWithTheSession() {
        assertThat(now(inbox.session().question("q-1", "Anybody?", Duration.ofMillis(50))))
                .isEmpty();
        var open = inbox.session().question("q-2", "Anybody?", Duration.ofMinutes(5));
        events(inbox.session()).await("QuestionAsked", "q-2");
        inbox.session().close("over");
        assertThat(now(open)).isEmpty();
        assertThat(now(inbox.session().question("q-3", "Anybody?", Duration.ofMinutes(5))))
                .as("of a closed session")
                .isEmpty();
        assertThatThrownBy(() -> inbox.session().question("two words", "x", Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }

    // ---- single-use addresses -------------------------------------------------------------------------------------

    @Tag("IN-20")
    @Test
    void authorization_isAcceptedOnceThroughItsAddressAndSurvivesARestart() {
        now(inbox.session().addresses().claim("cb-1", AddressTerms.authorization()));
        var words = new Payload.Words("hello", dev.holdfast.DeliveryPolicy.NEXT);
        assertThat(refused(now(station.host().deliver("cb-1", words, WEB, Optional.empty())))
                        .message())
                .as("a callback address takes no arbitrary command")
                .contains("takes authorization, not message");
        assertThat(refused(now(station.host().deliver("cb-1", Payload.Cancel.any(), WEB, Optional.empty())))
                        .message())
                .contains("not cancel");
        var callback = new Payload.Authorization("attempt-1", "code=42");
        stored(now(station.host().deliver("cb-1", callback, WEB, Optional.empty())));
        assertThat(now(station.host().deliver("cb-1", callback, WEB, Optional.empty())))
                .as("late")
                .isInstanceOf(Receipt.Released.class);
        assertThat(now(station.host().deliver("unknown", callback, WEB, Optional.empty())))
                .isInstanceOf(Receipt.Released.class);
        restart();
        assertThat(now(station.host().deliver("cb-1", callback, WEB, Optional.empty())))
                .as("late, after a restart")
                .isInstanceOf(Receipt.Released.class);
        assertThat(now(inbox.takeAll())).extracting(Received::payload).containsExactly(callback);
    }

    @Tag("IN-20")
    @Test
    void toolRun_isAcceptedOnceThroughItsAddress() {
        now(inbox.session().addresses().claim("run-1", AddressTerms.toolRun()));
        var run = new Payload.ToolRun("call-1", "the result");
        assertThat(refused(now(station.host()
                                .deliver("run-1", new Payload.Authorization("a", "b"), WEB, Optional.empty())))
                        .message())
                .contains("takes tool_run, not authorization");
        stored(now(station.host().deliver("run-1", run, WEB, Optional.empty())));
        assertThat(now(station.host().deliver("run-1", run, WEB, Optional.empty())))
                .isInstanceOf(Receipt.Released.class);
        var taken = take();
        assertThat(taken.payload()).isEqualTo(run);
        assertThat(taken.payload().kind()).isEqualTo(ArrivalKind.TOOL_RUN);
        assertThat(now(inbox.settle(taken, Outcome.ANSWERED, "thanks"))).isTrue();
    }

    @Tag("IN-01")
    @Test
    void addresses_acceptTheSameProtocolAsTheSessionItself() {
        now(inbox.session().addresses().claim("hook"));
        stored(now(station.host()
                .deliver(
                        "hook",
                        new Payload.Words("by hook", dev.holdfast.DeliveryPolicy.NEXT),
                        WEB,
                        Optional.of("k"))));
        assertThat(now(station.host()
                        .deliver(
                                "hook",
                                new Payload.Words("by hook", dev.holdfast.DeliveryPolicy.NEXT),
                                WEB,
                                Optional.of("k"))))
                .isInstanceOf(Receipt.Duplicate.class);
        stored(now(station.host().deliver("hook", Payload.Cancel.turn(4), WEB, Optional.empty())));
        stored(now(station.host().deliver("hook", new Payload.Clear(), WEB, Optional.empty())));
        send(inbox.session(), "by name");
        var taken = now(inbox.takeAll());
        assertThat(taken)
                .extracting(r -> r.address().orElse("itself"))
                .containsExactly("hook", "hook", "hook", "itself");
        now(inbox.session()
                .addresses()
                .claim("narrow", new AddressTerms(java.util.Set.of(ArrivalKind.MESSAGE), false)));
        assertThat(refused(now(station.host().deliver("narrow", new Payload.Reset(), WEB, Optional.empty())))
                        .message())
                .as("what a sender may say is limited by what he was given")
                .contains("takes message, not reset");
    }
}
