package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.testkit.SeededBug;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Submit against close and finish, in every order (MB-07, CH-03). */
final class CloseOrdersTest {

    /** What became of a message: refused, or its end. */
    private record Fate(Receipt receipt, Optional<Reply> end) {}

    private static CompletionStage<Fate> fate(Session session, String text) {
        return session.sendAsync(Message.of(text))
                .thenCompose(receipt -> receipt instanceof Receipt.Stored stored
                        ? session.reply(stored.number()).thenApply(end -> new Fate(receipt, Optional.of(end)))
                        : CompletableFuture.completedFuture(new Fate(receipt, Optional.empty())));
    }

    /** Refused with the reason, or stored and ended once. */
    private static void oneFateEach(List<Race.Stored.Recorded> record, String reason, List<Fate> fates) {
        for (var fate : fates) {
            switch (fate.receipt()) {
                case Receipt.Stored stored ->
                    assertThat(ends(record, stored.number()))
                            .as("ends of message " + stored.number())
                            .isEqualTo(1);
                case Receipt.Refused refused -> assertThat(refused.message()).contains(reason);
                case Receipt.Refusal other -> throw new AssertionError("refused for another reason: " + other);
            }
        }
        nothingTakenWhenClosed(record);
    }

    private static long ends(List<Race.Stored.Recorded> record, long number) {
        return record.stream()
                .filter(e -> e.is("MessageEnded"))
                .flatMap(e -> Race.numbers(e).stream())
                .filter(n -> n == number)
                .count();
    }

    private static void nothingTakenWhenClosed(List<Race.Stored.Recorded> record) {
        boolean closed = false;
        for (var event : record) {
            closed |= event.is("PhaseChanged")
                    && event.body().path("trigger").asString().equals("CLOSE");
            assertThat(closed && event.is("MessagesTaken"))
                    .as("taken when it is closed: " + event)
                    .isFalse();
        }
        assertThat(closed).as("it is closed").isTrue();
    }

    static void closed(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var session = inbox.session();
        var one = race.atOnce(() -> fate(session, "one"));
        var two = race.atOnce(() -> fate(session, "two"));
        var given = race.atOnce(inbox::next);
        var close = race.atOnce(() -> session.closeAsync("no more today"));
        race.go();
        assertThat(Race.done("the close", close)).isInstanceOf(Receipt.Stored.class);
        var taken = Race.done("the parked reader", given);
        var fates = List.of(Race.done("the fate of one", one), Race.done("the fate of two", two));
        oneFateEach(race.record(session), "no more today", fates);
        taken.ifPresent(m -> assertThat(race.now(inbox.settle(m, "too late"))).isFalse());
    }

    static void chatClosed(Race race) {
        var chat = race.now(race.holdfast().chat(Race.NAME));
        var receipts = new ArrayList<CompletableFuture<Receipt>>();
        for (String text : List.of("one", "two")) {
            receipts.add(race.atOnce(() -> chat.push(Message.of(text))));
        }
        var given = race.atOnce(chat::next);
        var close = race.atOnce(() -> chat.close("no more today"));
        race.go();
        var unread = Race.done("the close", close);
        var taken = Race.done("the parked waiter", given);
        var both = new ArrayList<Long>();
        taken.map(Received::number).ifPresent(both::add);
        unread.forEach(m -> both.add(m.number()));
        var stored = receipts.stream()
                .map(r -> Race.done("a push", r))
                .flatMap(r -> r instanceof Receipt.Stored s ? Stream.of(s.number()) : Stream.<Long>empty())
                .sorted()
                .toList();
        assertThat(both).as("taken, or given to the closer").isEqualTo(stored);
        assertThat(race.now(chat.next())).as("nothing comes any more").isEmpty();
        assertThat(race.now(chat.takeQueued())).isEmpty();
        nothingTakenWhenClosed(race.record(chat.session()));
    }

    static void finished(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var session = inbox.session();
        race.now(session.sendAsync(Message.of("zero")));
        var zero = race.now(inbox.next()).orElseThrow();
        var settled = race.atOnce(() -> inbox.settle(zero, "done"));
        var first = race.atOnce(() -> fate(session, "one"));
        var second = race.atOnce(() -> fate(session, "two"));
        var reader = race.atOnce(() -> read(inbox, new ArrayList<>()));
        var finish = race.atOnce(() -> session.finish("enough"));
        race.go();
        long finishing = ((Receipt.Stored) Race.done("the finish", finish)).number();
        var fates = List.of(Race.done("the fate of one", first), Race.done("the fate of two", second));
        var read = Race.done("the reader", reader);
        assertThat(Race.done("settling", settled)).isTrue();
        noneAcceptedOnceFinished(race);
        var ends = fates.stream().flatMap(f -> f.end().stream()).toList();
        ends.stream()
                .filter(end -> end.number() < finishing)
                .forEach(end -> assertThat(end.outcome())
                        .as("accepted before it was finished, so it still comes out")
                        .isEqualTo(Outcome.ANSWERED));
        assertThat(ends.stream()
                        .filter(end -> end.outcome() == Outcome.ANSWERED)
                        .map(Reply::number)
                        .sorted()
                        .toList())
                .isEqualTo(read.stream().map(Received::number).toList());
        oneFateEach(race.record(session), "enough", fates);
    }

    private static void noneAcceptedOnceFinished(Race race) {
        boolean asked = false;
        for (var stored : race.stored()) {
            asked |= stored instanceof Race.Stored.Recorded e && e.is("FinishAsked");
            assertThat(asked && stored instanceof Race.Stored.Accepted a && a.kind() == ArrivalKind.MESSAGE)
                    .as("accepted by a session that is being finished: " + stored)
                    .isFalse();
        }
    }

    private static CompletionStage<List<Received>> read(Inbox inbox, List<Received> all) {
        return inbox.next().thenCompose(next -> {
            if (next.isEmpty()) {
                return CompletableFuture.completedFuture(all);
            }
            all.add(next.get());
            return inbox.settle(next.get(), "done").thenCompose(done -> read(inbox, all));
        });
    }

    /** Two who finish it while a message is taken: what was decided is decided again behind them, in their order. */
    static void finishedTwice(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var session = inbox.session();
        var sent = race.sends(session, "one");
        var reader = race.atOnce(() -> read(inbox, new ArrayList<>()));
        var finish = race.atOnce(() -> session.finish("enough"));
        var other = race.atOnce(() -> session.finish("another reason"));
        race.go();
        Race.done("sending", sent);
        Race.done("the reader", reader);
        var wishes = List.of(Race.done("a finish", finish), Race.done("the other", other));
        boolean enough = wishes.get(0) instanceof Receipt.Stored a
                && (!(wishes.get(1) instanceof Receipt.Stored b) || a.number() < b.number());
        assertThat(reasons(race, session))
                .as("the first reason stays")
                .containsExactly(enough ? "enough" : "another reason");
    }

    private static List<String> reasons(Race race, Session session) {
        return race.record(session).stream()
                .filter(e -> e.is("PhaseChanged"))
                .map(e -> e.body().path("reason").asString())
                .toList();
    }

    /** Two who end it, each for his reason. */
    static void endedTwice(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var session = inbox.session();
        race.now(session.sendAsync(Message.of("zero")));
        var zero = race.now(inbox.next()).orElseThrow();
        var finish = race.atOnce(() -> session.finish("enough"));
        var close = race.atOnce(() -> session.closeAsync("at once"));
        var settled = race.atOnce(() -> inbox.settle(zero, "done"));
        race.go();
        Race.done("settling", settled);
        var closed = Race.done("the close", close);
        boolean enough = Race.done("the finish", finish) instanceof Receipt.Stored f
                && (!(closed instanceof Receipt.Stored c) || f.number() < c.number());
        assertThat(reasons(race, session)).as("the first reason stays").containsExactly(enough ? "enough" : "at once");
    }

    @Tag("MB-07")
    @Tag("CH-03")
    @Test
    void close_whileMessagesCome_givesEachOneFate(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, CloseOrdersTest::closed);
        Race.catches(SeededBug.OFFERED_AFTER_CLOSE, Race.TWO, reporter, CloseOrdersTest::closed);
    }

    @Tag("CH-03")
    @Test
    void closeOfAChat_whileMessagesComeAndAreTaken_givesTheRestToTheCloser(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, CloseOrdersTest::chatClosed);
        Race.catches(SeededBug.OFFERED_AFTER_CLOSE, Race.TWO, reporter, CloseOrdersTest::chatClosed);
    }

    @Tag("MB-07")
    @Test
    void finish_whileMessagesCome_letsOutWhatWasAccepted(TestReporter reporter) {
        Race.keeps(Race.ONE, reporter, CloseOrdersTest::finished);
        Race.catches(SeededBug.ACCEPTED_AFTER_FINISH, Race.TWO, reporter, CloseOrdersTest::finished);
    }

    @Tag("MB-07")
    @Test
    void finish_twiceWhileMessagesAreTaken_keepsTheFirstReason(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, CloseOrdersTest::finishedTwice);
    }

    @Tag("MB-07")
    @Test
    void close_whileItIsFinished_keepsTheFirstReason(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, CloseOrdersTest::endedTwice);
        Race.catches(SeededBug.CLOSE_REASON_OVERWRITTEN, Race.TWO, reporter, CloseOrdersTest::endedTwice);
    }
}
