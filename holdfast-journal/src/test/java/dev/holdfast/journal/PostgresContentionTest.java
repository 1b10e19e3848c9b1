package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.assertFails;
import static dev.holdfast.testkit.JournalFixture.delivery;
import static dev.holdfast.testkit.JournalFixture.keyed;
import static dev.holdfast.testkit.JournalFixture.message;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static dev.holdfast.testkit.JournalFixture.urgent;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several processes, and rows that somebody holds. */
class PostgresContentionTest extends PostgresFixture {
    private static final Duration SOON = Duration.ofSeconds(10);

    private static SessionName session(int number) {
        return new SessionName("s" + number);
    }

    private static List<SessionName> sessions(PostgresJournal journal, int count) {
        List<SessionName> all = IntStream.range(0, count)
                .mapToObj(PostgresContentionTest::session)
                .toList();
        all.stream()
                .map(name -> journal.open(name, SessionLimits.standard()))
                .toList()
                .forEach(JournalFixture::outcome);
        return all;
    }

    private static <T> T soon(CompletionStage<T> stage) {
        return stage.toCompletableFuture()
                .orTimeout(SOON.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    @Test
    @Tag("P4")
    void accept_whileSomebodyHoldsARow_stallsThatSessionAlone() throws SQLException {
        PostgresJournal journal = journal();
        List<SessionName> others = sessions(journal, 50);
        open(journal, DESK);
        Connection holder = holding("session", DESK);
        List<CompletionStage<Receipt>> stalled = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            stalled.add(journal.accept(message("m" + round)));
            List<CompletionStage<Receipt>> free = new ArrayList<>();
            for (SessionName other : others) {
                free.add(journal.accept(to(other, "m" + round)));
            }
            free.forEach(stage -> assertThat(soon(stage)).isInstanceOf(Receipt.Accepted.class));
        }
        assertThat(stalled).noneMatch(stage -> stage.toCompletableFuture().isDone());
        holder.rollback();
        stalled.forEach(stage -> assertThat(soon(stage)).isInstanceOf(Receipt.Accepted.class));
        assertThat(bodies(journal, DESK))
                .containsExactlyElementsOf(
                        IntStream.range(0, 20).mapToObj(i -> "m" + i).toList());
    }

    @Test
    @Tag("P4")
    void accept_whileSomebodyHoldsARowForTooLong_failsByNameAndStoresNothing() throws SQLException {
        PostgresJournal journal =
                journal(options().withPatience(Duration.ofMillis(500)).withRowWait(Duration.ofMillis(100)));
        open(journal, DESK);
        Connection holder = holding("session", DESK);
        assertFails(Problem.FAILED, journal.accept(message("lost")));
        holder.rollback();
        assertThat(soon(journal.accept(message("next")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(bodies(journal, DESK)).containsExactly("next");
    }

    @Test
    void append_whileSomebodyHoldsTheSendersRow_doesNotWait() throws SQLException {
        PostgresJournal journal = journal();
        open(journal, DESK);
        accepted(journal, message("a"));
        Claim claim = outcome(journal.claim(DESK, new Node("node")));
        Connection holder = holding("session", DESK);
        assertThat(soon(claim.append(
                        BatchDraft.after(0, "turn").taken(1, 1, 1).turn(1).batch())))
                .isEqualTo(new Appended.Committed(1));
        assertThat(soon(claim.append(
                        BatchDraft.after(1, "settled").taken(1, 1, 1).batch())))
                .isEqualTo(new Appended.Committed(2));
        CompletableFuture<Appended> shut = claim.append(BatchDraft.after(2, "parked")
                        .taken(1, 1, 1)
                        .admitting(false, "parked")
                        .batch())
                .toCompletableFuture();
        assertThat(soon(journal.session(DESK)).orElseThrow().admitting()).isTrue();
        assertThat(shut).isNotDone();
        holder.rollback();
        assertThat(soon(shut)).isEqualTo(new Appended.Committed(3));
        assertThat(soon(journal.accept(message("b")))).isEqualTo(new Receipt.Refused("parked"));
    }

    @Test
    void accept_whileSomebodyHoldsTheOwnersRow_waitsOnlyForWhatIsBoundToIt() throws SQLException {
        PostgresJournal journal = journal();
        open(journal, DESK);
        Connection holder = holding("journal_head", DESK);
        assertThat(soon(journal.accept(message("a")))).isInstanceOf(Receipt.Accepted.class);
        CompletableFuture<Receipt> cancel =
                journal.accept(urgent(ArrivalKind.CANCEL)).toCompletableFuture();
        CompletableFuture<Receipt> behind = journal.accept(message("b")).toCompletableFuture();
        assertThat(soon(journal.session(DESK)).orElseThrow().lastArrival()).isEqualTo(1);
        assertThat(cancel).isNotDone();
        holder.rollback();
        assertThat(((Receipt.Accepted) soon(cancel)).number()).isEqualTo(2);
        assertThat(((Receipt.Accepted) soon(behind)).number()).isEqualTo(3);
    }

    /** Has both do something at the same moment, many times. */
    private static void race(int rounds, RoundOf first, RoundOf second) {
        CyclicBarrier together = new CyclicBarrier(2);
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = List.of(first, second).stream()
                .map(body -> Thread.ofPlatform().start(() -> {
                    try {
                        for (int i = 0; i < rounds; i++) {
                            together.await(60, TimeUnit.SECONDS);
                            body.round(i);
                        }
                    } catch (Throwable e) {
                        failures.add(e);
                        together.reset();
                    }
                }))
                .toList();
        threads.forEach(JournalFixture::join);
        assertThat(failures).isEmpty();
    }

    private interface RoundOf {
        void round(int number);
    }

    @Test
    @Tag("IN-16")
    @Tag("IN-12")
    void openAndAccept_fromTwoProcessesAtOnce_oneSessionAndOneMessagePerKey() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        int rounds = 30;
        List<List<Object>> answers = List.of(
                java.util.Collections.synchronizedList(new ArrayList<>()),
                java.util.Collections.synchronizedList(new ArrayList<>()));
        List<RoundOf> bodies = IntStream.range(0, 2)
                .<RoundOf>mapToObj(i -> round -> {
                    PostgresJournal mine = i == 0 ? one : two;
                    CompletionStage<Boolean> made = mine.open(session(round), SessionLimits.standard());
                    CompletionStage<Receipt> receipt =
                            mine.accept(delivery(session(round), ArrivalKind.MESSAGE, Optional.of("k"), "hello"));
                    answers.get(i).add(outcome(made));
                    answers.get(i).add(outcome(receipt));
                })
                .toList();
        race(rounds, bodies.get(0), bodies.get(1));
        for (int round = 0; round < rounds; round++) {
            assertThat(List.of(answers.get(0).get(2 * round), answers.get(1).get(2 * round)))
                    .containsExactlyInAnyOrder(true, false);
            List<Object> receipts =
                    List.of(answers.get(0).get(2 * round + 1), answers.get(1).get(2 * round + 1));
            assertThat(receipts).hasAtLeastOneElementOfType(Receipt.Accepted.class);
            assertThat(receipts).hasAtLeastOneElementOfType(Receipt.Duplicate.class);
            assertThat(receipts)
                    .extracting(receipt -> ((Receipt.Stored) receipt).id())
                    .containsOnly(((Receipt.Stored) receipts.getFirst()).id());
            assertThat(arrivals(one, session(round))).hasSize(1);
        }
    }

    @Test
    @Tag("MB-18")
    void accept_fromTwoProcessesAtOnce_neverGoesOverTheLimit() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        outcome(one.open(DESK, new SessionLimits(10, 1_000)));
        List<CompletionStage<Receipt>> sent = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sent.add((i % 2 == 0 ? one : two).accept(message("m")));
        }
        List<Receipt> receipts = sent.stream().map(JournalFixture::outcome).toList();
        assertThat(receipts.stream().filter(Receipt.Accepted.class::isInstance)).hasSize(10);
        assertThat(receipts.stream().filter(receipt -> !(receipt instanceof Receipt.Accepted)))
                .allMatch(new Receipt.Full(10, 10, "messages")::equals);
    }

    @Test
    @Tag("IN-13")
    void settleAndCancel_fromTwoProcessesAtOnce_oneOfTheTwoKnowsOfTheOther() {
        PostgresJournal owner = journal();
        PostgresJournal sender = journal();
        open(owner, DESK);
        accepted(owner, message("a"));
        Claim claim = outcome(owner.claim(DESK, new Node("node")));
        append(claim, BatchDraft.after(0, "turn").taken(1, 1, 1).turn(1));
        long[] seq = {1};
        long[] known = {0};
        List<Appended> settled = java.util.Collections.synchronizedList(new ArrayList<>());
        List<Long> cancels = java.util.Collections.synchronizedList(new ArrayList<>());
        int rounds = 60;
        CyclicBarrier done = new CyclicBarrier(2);
        race(
                rounds,
                round -> {
                    Appended answer = append(
                            claim,
                            BatchDraft.after(seq[0], "settled").taken(1, 1, 1).ifUrgentThrough(known[0]));
                    settled.add(answer);
                    await(done);
                    known[0] = cancels.get(round);
                    seq[0] = answer instanceof Appended.Committed committed ? committed.seq() : seq[0];
                    seq[0] = ((Appended.Committed) append(
                                    claim,
                                    BatchDraft.after(seq[0], "turn")
                                            .taken(1, 1, 1)
                                            .turn(round + 2)))
                            .seq();
                },
                round -> {
                    cancels.add(accepted(sender, urgent(ArrivalKind.CANCEL)).number());
                    await(done);
                });
        List<Arrival> arrivals = arrivals(owner, DESK);
        for (int round = 0; round < rounds; round++) {
            boolean bound =
                    arrivals.get((int) (cancels.get(round) - 1)).boundTurn().isPresent();
            assertThat(settled.get(round) instanceof Appended.Behind)
                    .as("round %d: the settlement was refused exactly when the cancel was bound to the turn", round)
                    .isEqualTo(bound);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("IN-08")
    @Tag("IN-20")
    void addresses_fromTwoProcessesAtOnce_haveOneOwnerAndTakeOnce() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        open(one, session(1));
        int rounds = 20;
        List<AddressClaim> first = java.util.Collections.synchronizedList(new ArrayList<>());
        List<AddressClaim> second = java.util.Collections.synchronizedList(new ArrayList<>());
        race(
                rounds,
                round -> first.add(outcome(one.claimAddress(DESK, "t" + round, AddressTerms.open()))),
                round -> second.add(outcome(two.claimAddress(session(1), "t" + round, AddressTerms.open()))));
        for (int round = 0; round < rounds; round++) {
            SessionName owner = outcome(one.address("t" + round)).orElseThrow().session();
            assertThat(owner.equals(DESK) ? first.get(round) : second.get(round))
                    .isEqualTo(new AddressClaim.Claimed("t" + round));
            assertThat(owner.equals(DESK) ? second.get(round) : first.get(round))
                    .isEqualTo(new AddressClaim.Owned("t" + round, owner));
        }
        outcome(one.claimAddress(DESK, "once", AddressTerms.toolRun()));
        List<CompletionStage<Receipt>> sent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            sent.add((i % 2 == 0 ? one : two)
                    .accept(JournalFixture.through(
                            "once", delivery(DESK, ArrivalKind.TOOL_RUN, Optional.empty(), "r" + i))));
        }
        assertThat(sent.stream().map(JournalFixture::outcome).filter(Receipt.Accepted.class::isInstance))
                .hasSize(1);
    }

    @Test
    @Tag("MB-22")
    void restore_fromTwoProcessesAtOnce_storesOne() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        for (int i = 0; i < 300; i++) {
            one.accept(message("m" + i));
        }
        accepted(one, keyed("k", "last"));
        outcome(one.claimAddress(DESK, "here", AddressTerms.open()));
        PostgresOptions elsewhere = options().withSchema(schemas.fresh());
        PostgresJournal three = journal(elsewhere);
        PostgresJournal four = journal(elsewhere);
        var image = outcome(two.image(DESK));
        List<CompletionStage<Boolean>> restored = List.of(three.restore(image), four.restore(image));
        assertThat(restored.stream().map(JournalFixture::outcome)).containsExactlyInAnyOrder(true, false);
        assertThat(bodies(four, DESK)).hasSize(301).isEqualTo(bodies(one, DESK));
        assertThat(outcome(four.addresses(DESK))).extracting(Address::token).containsExactly("here");
    }
}
