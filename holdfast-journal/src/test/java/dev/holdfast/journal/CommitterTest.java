package dev.holdfast.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JournalException.Problem;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Group commit, isolation of bad writes, and what happens when the disk fails. */
class CommitterTest {
    @TempDir
    Path temp;

    /** Holds the committer until it is opened, so that what is submitted meanwhile shares the next commit. */
    private static final class Gate extends Write<Boolean> {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        /** Submits a gate and waits until the committer stands before it, with nothing else in its hands. */
        static Gate before(SqliteJournal journal) {
            Gate gate = new Gate();
            journal.submit(gate);
            try {
                gate.reached.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return gate;
        }

        @Override
        protected Boolean apply(WriteStore store) {
            reached.countDown();
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return true;
        }

        @Override
        long bytes() {
            return 0;
        }

        @Override
        boolean turnAway(String why) {
            return false;
        }
    }

    /** Writes something, then breaks the transaction. */
    private static final class Poison extends Write<Boolean> {
        private final boolean inJava;

        Poison(boolean inJava) {
            this.inJava = inJava;
        }

        @Override
        protected Boolean apply(WriteStore store) throws SQLException {
            store.sql().run("INSERT INTO address(token, sid, claimed_seq) VALUES('poison', 1, 1)");
            if (inJava) {
                throw new IllegalStateException("a bug");
            }
            store.sql().run("INSERT INTO session(sid, name) VALUES(1, NULL)");
            return true;
        }

        @Override
        long bytes() {
            return 0;
        }

        @Override
        boolean turnAway(String why) {
            return false;
        }
    }

    @Test
    void accept_fromManyThreads_sharesCommits() {
        int senders = 64;
        int each = 50;
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"))) {
            for (int i = 0; i < 8; i++) {
                JournalFixture.outcome(journal.open(new SessionName("s" + i), SessionLimits.standard()));
            }
            long before = journal.commits();
            assertThat(before).isEqualTo(8);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < senders; i++) {
                SessionName session = new SessionName("s" + i % 8);
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int n = 0; n < each; n++) {
                        JournalFixture.outcome(journal.accept(StoreFiles.message(session, new byte[600])));
                    }
                }));
            }
            threads.forEach(JournalFixture::join);
            long commits = journal.commits() - before;
            System.out.println(senders * each + " messages from " + senders + " senders in " + commits + " commits");
            assertThat(commits).isLessThan(senders * each / 4);
            assertThat(JournalFixture.outcome(journal.verify()).arrivals()).isEqualTo((long) senders * each);
        }
    }

    @Test
    void submit_whileTheCommitterIsBusy_isOneCommit() {
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"))) {
            StoreFiles.fill(journal, 1);
            long before = journal.commits();
            List<CompletionStage<Receipt>> stages = behindAGate(journal, 100);
            assertThat(stages.stream().map(JournalFixture::outcome)).allMatch(Receipt.Accepted.class::isInstance);
            assertThat(journal.commits() - before).isEqualTo(1);
        }
    }

    private static List<CompletionStage<Receipt>> behindAGate(SqliteJournal journal, int count) {
        Gate gate = Gate.before(journal);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stages.add(journal.accept(StoreFiles.message("m" + i)));
        }
        gate.open.countDown();
        return stages;
    }

    @Test
    void accept_onlyDuplicatesAndRefusals_needsNoCommit() {
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"))) {
            JournalFixture.outcome(journal.open(StoreFiles.DESK, new SessionLimits(1, 1_000)));
            JournalFixture.outcome(journal.accept(JournalFixture.keyed("k", "x")));
            long before = journal.commits();
            assertThat(JournalFixture.outcome(journal.accept(JournalFixture.keyed("k", "x"))))
                    .isInstanceOf(Receipt.Duplicate.class);
            assertThat(JournalFixture.outcome(journal.accept(StoreFiles.message("too many"))))
                    .isInstanceOf(Receipt.Full.class);
            assertThat(journal.commits()).isEqualTo(before);
        }
    }

    @Test
    void write_thatBreaksTheTransaction_failsAloneAndLeavesNothing() {
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"))) {
            StoreFiles.fill(journal, 1);
            Gate gate = Gate.before(journal);
            List<CompletionStage<Receipt>> good = new ArrayList<>();
            List<CompletionStage<Boolean>> bad = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                good.add(journal.accept(JournalFixture.keyed("key " + i, "m")));
                bad.add(journal.submit(new Poison(i % 2 == 0)));
            }
            gate.open.countDown();
            bad.forEach(stage -> JournalFixture.assertFails(Problem.FAILED, stage));
            for (int i = 0; i < 5; i++) {
                assertThat(JournalFixture.outcome(good.get(i)))
                        .isInstanceOfSatisfying(
                                Receipt.Accepted.class,
                                receipt -> assertThat(receipt.number()).isPositive());
            }
            assertThat(StoreFiles.numbers(journal)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
            assertThat(JournalFixture.outcome(journal.verify()).problems()).isEmpty();
        }
    }

    @Test
    void accept_moreThanMayWait_isRefusedAndOwnersAreNot() {
        JournalOptions options = JournalOptions.standard().withWaiting(10, 1_000);
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"), options)) {
            StoreFiles.fill(journal, 1);
            Gate gate = Gate.before(journal);
            List<CompletionStage<Receipt>> stages = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                stages.add(journal.accept(StoreFiles.message("m")));
            }
            CompletionStage<dev.holdfast.Claim> claim = journal.claim(StoreFiles.DESK, JournalFixture.NODE);
            gate.open.countDown();
            List<Receipt> receipts =
                    stages.stream().map(JournalFixture::outcome).toList();
            assertThat(receipts.stream().filter(Receipt.Refused.class::isInstance))
                    .hasSize(20)
                    .allMatch(receipt -> ((Receipt.Refused) receipt).reason().contains("waiting for the disk"));
            assertThat(JournalFixture.outcome(claim).epoch()).isEqualTo(1);
        }
    }

    @Test
    void accept_bodyOverTheLimit_isRefusedForEveryKind() {
        JournalOptions options = JournalOptions.standard().withBodyBytes(100);
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"), options)) {
            StoreFiles.fill(journal, 1);
            assertThat(JournalFixture.outcome(journal.accept(StoreFiles.message(StoreFiles.DESK, new byte[100]))))
                    .isInstanceOf(Receipt.Accepted.class);
            assertThat(JournalFixture.outcome(journal.accept(StoreFiles.message(StoreFiles.DESK, new byte[101]))))
                    .isEqualTo(new Receipt.Refused("the message has 101 bytes; at most 100 are taken in one message"));
        }
    }

    @Test
    void batch_inSmallPieces_keepsTheOrder() {
        JournalOptions options = JournalOptions.standard().withBatch(3, 10);
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"), options)) {
            StoreFiles.fill(journal, 1);
            List<CompletionStage<Receipt>> stages = behindAGate(journal, 20);
            for (int i = 0; i < 20; i++) {
                assertThat(((Receipt.Accepted) JournalFixture.outcome(stages.get(i))).number())
                        .isEqualTo(i + 2);
            }
        }
    }

    /** A step that fails once when it is armed. */
    private static final class Failing implements Step {
        private final AtomicReference<Point> armed = new AtomicReference<>();
        private final SQLiteErrorCode code;

        Failing(SQLiteErrorCode code) {
            this.code = code;
        }

        @Override
        public void at(Point point) throws SQLException {
            if (armed.compareAndSet(point, null)) {
                throw new SQLiteException("injected", code);
            }
        }
    }

    @Test
    void commit_thatFails_stopsTheJournalForGood() {
        for (Step.Point point : List.of(Step.Point.BEFORE_COMMIT, Step.Point.AFTER_COMMIT)) {
            Path directory = temp.resolve(point.name());
            Failing failing = new Failing(SQLiteErrorCode.SQLITE_IOERR_FSYNC);
            SqliteJournal journal = SqliteJournal.open(directory, JournalOptions.standard(), failing);
            StoreFiles.fill(journal, 5);
            failing.armed.set(point);
            JournalFixture.assertFails(Problem.FAILED, journal.accept(StoreFiles.message("lost or not")));
            JournalFixture.assertFails(Problem.STOPPED, journal.accept(StoreFiles.message("late")));
            JournalFixture.assertFails(Problem.STOPPED, journal.session(StoreFiles.DESK));
            JournalFixture.assertFails(Problem.STOPPED, journal.claim(StoreFiles.DESK, JournalFixture.NODE));
            assertThat(journal.accept(StoreFiles.message("late")))
                    .isInstanceOfSatisfying(
                            java.util.concurrent.CompletableFuture.class,
                            stage -> assertThat(stage.exceptionNow()).hasMessageContaining("injected"));
            journal.close();
            try (SqliteJournal reopened = SqliteJournal.at(directory)) {
                assertThat(StoreFiles.numbers(reopened)).hasSizeBetween(5, 6);
                assertThat(JournalFixture.outcome(reopened.verify()).problems()).isEmpty();
            }
        }
    }

    @Test
    @Tag("LV-07")
    void commit_onAFullDisk_failsAndIsUsableAgain() {
        Failing failing = new Failing(SQLiteErrorCode.SQLITE_FULL);
        try (SqliteJournal journal = SqliteJournal.open(temp.resolve("data"), JournalOptions.standard(), failing)) {
            StoreFiles.fill(journal, 2);
            failing.armed.set(Step.Point.BEFORE_COMMIT);
            JournalFixture.assertFails(Problem.FULL_DISK, journal.accept(JournalFixture.keyed("k", "no room")));
            assertThat(JournalFixture.outcome(journal.accept(JournalFixture.keyed("k", "no room"))))
                    .isInstanceOfSatisfying(
                            Receipt.Accepted.class,
                            receipt -> assertThat(receipt.number()).isEqualTo(3));
        }
    }

    @Test
    @Tag("LV-07")
    void disk_reallyFull_losesNothingAcknowledgedAndIsUsableAgain() throws IOException {
        Path mount = Files.createDirectory(temp.resolve("small"));
        try {
            StoreFiles.run("mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", mount.toString());
        } catch (IllegalStateException e) {
            StoreFiles.cannotRun("disk_reallyFull", "a small file system cannot be mounted: " + e.getMessage());
        }
        try {
            Path ballast = mount.resolve("ballast");
            Files.write(ballast, new byte[2 << 20]);
            List<Long> acknowledged = new ArrayList<>();
            try (SqliteJournal journal = SqliteJournal.at(mount.resolve("data"))) {
                StoreFiles.fill(journal, 1);
                acknowledged.add(1L);
                fillUp(journal, acknowledged);
                assertThat(acknowledged).hasSizeGreaterThan(10);
                StoreFiles.delete(ballast);
                assertThat(JournalFixture.outcome(journal.accept(StoreFiles.message("room again"))))
                        .isInstanceOfSatisfying(Receipt.Accepted.class, receipt -> acknowledged.add(receipt.number()));
                fillUp(journal, acknowledged);
                assertThat(StoreFiles.numbers(journal)).isEqualTo(acknowledged);
            }
            try (SqliteReader reader = SqliteJournal.readOnly(mount.resolve("data"))) {
                assertThat(StoreFiles.numbers(reader)).isEqualTo(acknowledged);
                assertThat(JournalFixture.outcome(reader.verify()).problems()).isEmpty();
            }
        } finally {
            StoreFiles.run("umount", mount.toString());
        }
    }

    private static void fillUp(SqliteJournal journal, List<Long> acknowledged) {
        CompletionStage<Receipt> stage = journal.accept(StoreFiles.message(StoreFiles.DESK, new byte[40_000]));
        while (!failed(stage)) {
            acknowledged.add(((Receipt.Accepted) JournalFixture.outcome(stage)).number());
            stage = journal.accept(StoreFiles.message(StoreFiles.DESK, new byte[40_000]));
        }
        JournalFixture.assertFails(Problem.FULL_DISK, stage);
    }

    private static boolean failed(CompletionStage<?> stage) {
        stage.toCompletableFuture().exceptionally(e -> null).join();
        return stage.toCompletableFuture().isCompletedExceptionally();
    }
}
