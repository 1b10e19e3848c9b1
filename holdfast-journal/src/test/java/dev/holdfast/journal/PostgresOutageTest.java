package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.assertFails;
import static dev.holdfast.testkit.JournalFixture.keyed;
import static dev.holdfast.testkit.JournalFixture.message;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection breaks, at the worst moments; the server ends it, falls silent, or crashes. */
class PostgresOutageTest extends PostgresFixture {
    private static final Node NODE = new Node("host-1");

    private final CuttingProxy proxy = closing(new CuttingProxy(PostgresServer.port()));
    /** The answer of the next commit is lost. */
    private final AtomicBoolean armed = new AtomicBoolean();

    private PostgresJournal behindTheProxy(PostgresOptions options) {
        PostgresStep step = (point, sql) -> {
            if (point == PostgresStep.Point.BEFORE_COMMIT && armed.getAndSet(false)) {
                proxy.loseTheNextCommitsAnswer();
            }
        };
        return closing(PostgresJournal.open(PostgresServer.url(proxy.port()), options, step));
    }

    /** The stage's outcome, whose commit was not answered. */
    private <T> T unanswered(java.util.function.Supplier<CompletionStage<T>> call) {
        armed.set(true);
        T result = outcome(call.get());
        assertThat(armed).as("the commit was reached").isFalse();
        assertThat(proxy.cutting()).as("its answer was lost").isFalse();
        return result;
    }

    @Test
    @Tag("P1")
    void accept_whoseCommitIsNotAnswered_isStoredOnceAndToldSo() {
        PostgresJournal journal = behindTheProxy(options());
        open(journal, DESK);
        accepted(journal, message("before"));
        var sent = message("unanswered");
        Receipt.Accepted receipt = (Receipt.Accepted) unanswered(() -> journal.accept(sent));
        assertThat(receipt.id()).isEqualTo(sent.id());
        assertThat(receipt.number()).isEqualTo(2);
        List<Receipt> all = unanswered(() -> journal.acceptAll(List.of(message("x"), keyed("k", "y"))));
        assertThat(all).extracting(r -> ((Receipt.Accepted) r).number()).containsExactly(3L, 4L);
        assertThat(bodies(journal, DESK)).containsExactly("before", "unanswered", "x", "y");
        assertThat(arrivals(journal, DESK).get(1).acceptedAt()).isEqualTo(receipt.acceptedAt());
    }

    @Test
    @Tag("P3")
    void append_whoseCommitIsNotAnswered_isStoredOnceAndToldSo() {
        PostgresJournal journal = behindTheProxy(options());
        open(journal, DESK);
        Claim claim = outcome(journal.claim(DESK, NODE));
        append(claim, BatchDraft.after(0, "a"));
        var batch = BatchDraft.after(1, "b", "c").batch();
        assertThat(unanswered(() -> claim.append(batch))).isEqualTo(new Appended.Committed(3));
        assertThat(append(claim, BatchDraft.after(3, "d"))).isEqualTo(new Appended.Committed(4));
        assertThat(types(journal, DESK)).containsExactly("a", "b", "c", "d");
        assertThat(claim.holds()).isTrue();
    }

    @Test
    void otherWrites_whoseCommitIsNotAnswered_areToldWhatHappened() {
        PostgresJournal journal = behindTheProxy(options());
        assertThat(unanswered(() -> journal.open(DESK, SessionLimits.standard())))
                .isTrue();
        assertThat(outcome(journal.open(DESK, SessionLimits.standard()))).isFalse();
        unanswered(() -> journal.claimAddress(DESK, "a", AddressTerms.open()));
        outcome(journal.claimAddress(DESK, "b", AddressTerms.open()));
        accepted(journal, message("x"));
        assertThat(unanswered(() -> journal.releaseAddresses(DESK, List.of())))
                .extracting(Address::token, Address::releasedThrough)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("a", OptionalLong.of(1)),
                        org.assertj.core.groups.Tuple.tuple("b", OptionalLong.of(1)));
        Claim claim = unanswered(() -> journal.claim(DESK, NODE));
        append(claim, BatchDraft.after(0, "e"));
        unanswered(() -> claim.resign(Optional.empty()));
        var image = outcome(journal.image(DESK));
        PostgresJournal other = behindTheProxy(options().withSchema(schemas.fresh()));
        assertThat(unanswered(() -> other.restore(image))).isTrue();
        assertThat(outcome(other.restore(image))).isFalse();
        assertThat(bodies(other, DESK)).containsExactly("x");
    }

    @ParameterizedTest
    @EnumSource(PostgresStep.Point.class)
    @Tag("P1")
    void backendTerminated_atEachStepOfACommit_neitherLosesNorDoubles(PostgresStep.Point at) {
        AtomicInteger left = new AtomicInteger();
        PostgresStep step = (point, sql) -> {
            if (point == at && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                sql.run("SELECT pg_terminate_backend(pg_backend_pid())");
            }
        };
        PostgresJournal journal = closing(PostgresJournal.open(PostgresServer.url(), options(), step));
        open(journal, DESK);
        Claim claim = outcome(journal.claim(DESK, NODE));
        for (int i = 0; i < 5; i++) {
            left.set(i % 2 + 1);
            assertThat(accepted(journal, message("m" + i)).number()).isEqualTo(i + 1);
            left.set(i % 2 + 1);
            assertThat(append(claim, BatchDraft.after(i, "e" + i))).isEqualTo(new Appended.Committed(i + 1));
        }
        assertThat(bodies(journal, DESK)).containsExactly("m0", "m1", "m2", "m3", "m4");
        assertThat(types(journal, DESK)).containsExactly("e0", "e1", "e2", "e3", "e4");
    }

    /** Senders with and without keys and an owner, while {@code disturb} does its worst to the server. */
    private void underLoad(int disturbances, Runnable disturb) {
        // A lease that outlives the recovery of a server.
        PostgresJournal journal = journal(options().withLease(Duration.ofMinutes(2), Duration.ofMinutes(1)));
        List<SessionName> sessions = List.of(DESK, new SessionName("a"), new SessionName("b"));
        sessions.forEach(name -> open(journal, name));
        AtomicBoolean over = new AtomicBoolean();
        Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger events = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int sender = 0; sender < 8; sender++) {
            int number = sender;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; !over.get(); i++) {
                        String body = number + "/" + i;
                        SessionName name = sessions.get(i % sessions.size());
                        accepted(journal, to(name, body));
                        assertThat(acknowledged.add(name + " " + body)).isTrue();
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            }));
        }
        threads.add(Thread.ofPlatform().start(() -> {
            try {
                Claim claim = outcome(journal.claim(DESK, NODE));
                for (int i = 0; !over.get(); i++) {
                    assertThat(append(claim, BatchDraft.after(i, "e" + i))).isEqualTo(new Appended.Committed(i + 1));
                    events.incrementAndGet();
                }
            } catch (Throwable e) {
                failures.add(e);
            }
        }));
        for (int i = 0; i < disturbances; i++) {
            int before = acknowledged.size();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> acknowledged.size() >= before + 40 || !failures.isEmpty());
            disturb.run();
        }
        over.set(true);
        threads.forEach(JournalFixture::join);
        assertThat(failures).isEmpty();
        List<String> stored = new ArrayList<>();
        for (SessionName name : sessions) {
            bodies(journal, name).forEach(body -> stored.add(name + " " + body));
        }
        assertThat(stored).hasSameSizeAs(acknowledged);
        assertThat(new HashSet<>(stored)).isEqualTo(acknowledged);
        assertThat(types(journal, DESK)).hasSize(events.get()).doesNotHaveDuplicates();
        assertThat(events.get()).isPositive();
    }

    @Test
    @Tag("P1")
    void backendsTerminated_underLoad_neitherLoseNorDouble() {
        underLoad(
                15,
                () -> PostgresServer.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        + " WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()"));
    }

    @Test
    @Tag("P1")
    void serverCrash_underLoad_neitherLosesNorDoubles() {
        underLoad(2, () -> {
            // A backend that dies of a signal makes the server end all others and recover from its log.
            String pid =
                    PostgresServer.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast' LIMIT 1");
            try {
                assertThat(new ProcessBuilder("kill", "-9", pid).start().waitFor())
                        .isZero();
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
            await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
                PostgresServer.run("SELECT 1");
                return true;
            });
        });
    }

    @Test
    @Tag("P4")
    @Tag("P3")
    void server_thatCannotBeReached_failsByNameInTimeAndIsFoundAgain() {
        PostgresJournal journal = behindTheProxy(shortLease().withPatience(Duration.ofSeconds(2)));
        open(journal, DESK);
        Claim claim = outcome(journal.claim(DESK, NODE));
        append(claim, BatchDraft.after(0, "a"));
        proxy.cut();
        Instant begun = Instant.now();
        CompletionStage<Receipt> accept = journal.accept(message("lost"));
        CompletionStage<Appended> append = claim.append(BatchDraft.after(1, "b").batch());
        CompletionStage<?> read = journal.session(DESK);
        assertFails(Problem.FAILED, accept);
        assertFails(Problem.FAILED, append);
        assertFails(Problem.FAILED, read);
        assertThat(Duration.between(begun, Instant.now())).isLessThan(Duration.ofSeconds(20));
        assertThat(claim.holds()).as("its lease could not be prolonged").isFalse();
        proxy.mend();
        assertThat(accepted(journal, message("again")).number()).isEqualTo(1);
        Claim again = outcome(journal.claim(DESK, NODE));
        assertThat(again.recovered().seq()).isEqualTo(1);
        assertThat(append(again, BatchDraft.after(1, "c"))).isEqualTo(new Appended.Committed(2));
        assertThat(claim.holds()).isFalse();
    }

    @Test
    @Tag("P4")
    void server_thatFallsSilent_isGivenUpInTime() {
        PostgresJournal journal =
                behindTheProxy(shortLease().withStatement(Duration.ofSeconds(1)).withPatience(Duration.ofSeconds(1)));
        open(journal, DESK);
        Claim claim = outcome(journal.claim(DESK, NODE));
        proxy.fallSilent();
        Instant begun = Instant.now();
        assertFails(Problem.FAILED, journal.accept(message("lost")));
        assertThat(Duration.between(begun, Instant.now())).isLessThan(Duration.ofSeconds(30));
        assertThat(claim.holds()).isFalse();
        proxy.mend();
        await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
            accepted(journal, message("again"));
            return true;
        });
        assertThat(bodies(journal, DESK)).containsExactly("again");
    }

    @Test
    @Tag("P4")
    void close_withoutAServer_endsInTime() {
        PostgresJournal journal = behindTheProxy(options().withPatience(Duration.ofSeconds(1)));
        open(journal, DESK);
        outcome(journal.claim(DESK, NODE));
        proxy.cut();
        CompletionStage<Receipt> last = journal.accept(message("lost"));
        Instant begun = Instant.now();
        journal.close();
        assertThat(Duration.between(begun, Instant.now())).isLessThan(Duration.ofSeconds(20));
        assertFails(Problem.FAILED, last);
        assertFails(Problem.STOPPED, journal.accept(message("late")));
    }

    @Test
    @Tag("P4")
    void locks_ofAClientThatStandsStillInItsTransaction_areFreedByTheServer() throws Exception {
        PostgresJournal journal = journal();
        open(journal, DESK);
        // Opened as the journal opens its own, then left standing in the middle of a transaction.
        PostgresConnections frozen =
                closing(new PostgresConnections(PostgresUrl.of(PostgresServer.url()), options(), 1));
        var connection = frozen.take();
        new PostgresSql(connection).run("SELECT * FROM session FOR UPDATE");
        Instant begun = Instant.now();
        assertThat(outcome(journal.accept(message("a")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(Duration.between(begun, Instant.now())).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(15));
    }
}
