package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AddressTerms;
import dev.holdfast.Claim;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteConfig;

/** What SQLite does not notice by itself: a shortened or garbled log, a moved database, a flipped bit (LV-09). */
class DamageTest {
    private static final int MESSAGES = 40;
    private static final int WAL_HEADER = 32;
    private static final int FRAME_HEADER = 24;

    @TempDir
    Path temp;

    private static void assertProblem(Problem problem, ThrowingCallable call, String... words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(problem))
                .hasMessageContainingAll(words);
    }

    /** A store as kill -9 leaves it: 40 acknowledged messages, all still in the log. */
    private Path killed() {
        Path directory = temp.resolve("original");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, MESSAGES);
            return StoreFiles.killedCopy(directory, "killed");
        }
    }

    private static List<Long> all() {
        return LongStream.rangeClosed(1, MESSAGES).boxed().toList();
    }

    /** Changes a copy of the store; answers whether it was refused. Whatever opens has every message. */
    private boolean refusedOrWhole(Path killed, String what, Consumer<Path> damage) {
        Path copy = StoreFiles.killedCopy(killed, "copy");
        damage.accept(copy);
        Map<String, String> before = StoreFiles.contents(copy);
        boolean refused;
        try (SqliteJournal opened = SqliteJournal.at(copy)) {
            assertThat(StoreFiles.numbers(opened)).as(what).isEqualTo(all());
            refused = false;
        } catch (JournalException e) {
            assertThat(e.problem()).as(what).isEqualTo(Problem.DAMAGED);
            assertThat(StoreFiles.contents(copy))
                    .as("%s: nothing is overwritten", what)
                    .isEqualTo(before);
            assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(copy), copy.toString());
            refused = true;
        }
        StoreFiles.run("rm", "-r", copy.toString());
        return refused;
    }

    @Test
    @Tag("LV-09")
    void wal_cutAnywhere_isRefusedOrWhole() {
        Path killed = killed();
        int length = StoreFiles.read(DataDirectory.wal(killed)).length;
        int frame = FRAME_HEADER + 4096;
        int refused = 0;
        int cuts = 24;
        for (int i = 0; i < cuts; i++) {
            int frames = (length - WAL_HEADER) / frame * i / cuts;
            int to = i == 0 ? 0 : WAL_HEADER + frames * frame + (i % 3) * 100;
            refused += refusedOrWhole(killed, "cut to " + to, copy -> cut(copy, to)) ? 1 : 0;
        }
        assertThat(refused).as("each cut takes at least the last commit").isEqualTo(cuts);
        assertThat(refusedOrWhole(killed, "cut by one byte", copy -> cut(copy, length - 1)))
                .isTrue();
        assertThat(refusedOrWhole(killed, "not cut", copy -> cut(copy, length))).isFalse();
    }

    private static void cut(Path directory, int to) {
        Path wal = DataDirectory.wal(directory);
        StoreFiles.write(wal, Arrays.copyOf(StoreFiles.read(wal), to));
    }

    @Test
    @Tag("LV-09")
    void wal_oneBitFlippedAnywhere_isRefusedOrWhole() {
        Path killed = killed();
        long seed = Long.getLong("seed", 20260301L);
        System.out.println("wal_oneBitFlippedAnywhere: rerun with -Dseed=" + seed);
        Random random = new Random(seed);
        int length = StoreFiles.read(DataDirectory.wal(killed)).length;
        int refused = 0;
        for (int i = 0; i < 24; i++) {
            int at = random.nextInt(length);
            int bit = 1 << random.nextInt(8);
            refused += refusedOrWhole(killed, "bit " + bit + " of byte " + at, copy -> {
                        Path wal = DataDirectory.wal(copy);
                        byte[] bytes = StoreFiles.read(wal);
                        bytes[at] ^= (byte) bit;
                        StoreFiles.write(wal, bytes);
                    })
                    ? 1
                    : 0;
        }
        assertThat(refused).isPositive();
    }

    @Test
    @Tag("LV-09")
    void wal_garbageBehindTheLastCommit_isOnlyAnUnacknowledgedTail() {
        Path killed = killed();
        byte[] garbage = new byte[10_000];
        new Random(7).nextBytes(garbage);
        boolean refused = refusedOrWhole(killed, "garbage at the end", copy -> {
            byte[] whole = StoreFiles.read(DataDirectory.wal(copy));
            byte[] longer = Arrays.copyOf(whole, whole.length + garbage.length);
            System.arraycopy(garbage, 0, longer, whole.length, garbage.length);
            StoreFiles.write(DataDirectory.wal(copy), longer);
        });
        assertThat(refused).isFalse();
    }

    @Test
    @Tag("LV-09")
    void database_movedWithoutItsLog_isRefusedNamingTheMissingCommits() throws IOException {
        Path killed = killed();
        Path moved = Files.createDirectory(temp.resolve("moved"));
        StoreFiles.run("chmod", "700", moved.toString());
        Files.copy(DataDirectory.database(killed), DataDirectory.database(moved));
        Files.copy(DataDirectory.head(killed), DataDirectory.head(moved));
        String last = Long.toString(StoreFiles.head(killed));
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(moved), "lost commits 1 to " + last, "-wal");
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.readOnly(moved), "lost commits 1 to " + last);
        StoreFiles.delete(DataDirectory.head(moved));
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(moved), "head is missing");
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.readOnly(moved), "head is missing");
    }

    /**
     * As a kill in the middle of a checkpoint leaves it: the pages of {@code meta} and others are folded into the
     * database, the page with the last messages is not. The database alone says that no commit is missing.
     */
    private static void foldPartly(Path directory) {
        byte[] wal = StoreFiles.read(DataDirectory.wal(directory));
        int page = ByteBuffer.wrap(wal).getInt(8);
        Map<Integer, byte[]> pages = new java.util.TreeMap<>();
        for (int at = WAL_HEADER; at + FRAME_HEADER + page <= wal.length; at += FRAME_HEADER + page) {
            int number = ByteBuffer.wrap(wal).getInt(at);
            pages.put(number, Arrays.copyOfRange(wal, at + FRAME_HEADER, at + FRAME_HEADER + page));
        }
        pages.values()
                .removeIf(bytes -> new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1)
                        .contains("message " + MESSAGES));
        byte[] database = StoreFiles.read(DataDirectory.database(directory));
        int last = java.util.Collections.max(pages.keySet());
        byte[] folded = Arrays.copyOf(database, Math.max(database.length, last * page));
        pages.forEach((number, bytes) -> System.arraycopy(bytes, 0, folded, (number - 1) * page, page));
        StoreFiles.write(DataDirectory.database(directory), folded);
    }

    @Test
    @Tag("LV-09")
    void wal_unreadableAfterAKillInACheckpoint_isRefused() {
        Path killed = killed();
        foldPartly(killed);
        assertThat(refusedOrWhole(killed, "log whole", copy -> {})).isFalse();
        assertThat(refusedOrWhole(killed, "log empty", copy -> cut(copy, 0))).isTrue();
        assertThat(refusedOrWhole(killed, "log missing", copy -> StoreFiles.delete(DataDirectory.wal(copy))))
                .isTrue();
        for (int at : new int[] {1, 12, 27, WAL_HEADER + 9, WAL_HEADER + 17, WAL_HEADER + 500}) {
            boolean refused = refusedOrWhole(killed, "log garbled at " + at, copy -> {
                byte[] bytes = StoreFiles.read(DataDirectory.wal(copy));
                bytes[at] ^= 1;
                StoreFiles.write(DataDirectory.wal(copy), bytes);
            });
            assertThat(refused).as("log garbled at %d", at).isTrue();
        }
    }

    @Test
    void database_missingBesideItsHead_isRefused() {
        Path killed = killed();
        StoreFiles.delete(DataDirectory.database(killed));
        StoreFiles.delete(DataDirectory.wal(killed));
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(killed), "missing or empty");
        assertProblem(Problem.NOT_FOUND, () -> SqliteJournal.readOnly(killed), "no store");
    }

    @Test
    void loss_acceptedByTheOperator_opensWithWhatIsThere() {
        Path killed = killed();
        cut(killed, StoreFiles.read(DataDirectory.wal(killed)).length - 1);
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(killed), "head -c 8 /dev/zero > ");
        StoreFiles.write(DataDirectory.head(killed), new byte[8]);
        try (SqliteJournal journal = SqliteJournal.at(killed)) {
            assertThat(StoreFiles.numbers(journal)).hasSize(MESSAGES - 1);
            assertThat(JournalFixture.outcome(journal.verify()).problems()).isEmpty();
        }
    }

    @Test
    void head_notEightBytesOrNegative_isRefused() {
        Path killed = killed();
        StoreFiles.write(DataDirectory.head(killed), new byte[3]);
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(killed), "3 bytes");
        StoreFiles.write(
                DataDirectory.head(killed), ByteBuffer.allocate(8).putLong(-5).array());
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(killed), "head");
    }

    @Test
    void wal_missingAfterACleanEnd_isCheckedAsAWholeAndOpened() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 3);
        }
        assertThat(DataDirectory.wal(directory)).isEmptyFile();
        StoreFiles.delete(DataDirectory.wal(directory));
        StoreFiles.delete(DataDirectory.shm(directory));
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertThat(StoreFiles.numbers(journal)).hasSize(3);
        }
        StoreFiles.delete(DataDirectory.wal(directory));
        StoreFiles.delete(DataDirectory.shm(directory));
        StoreFiles.flip(DataDirectory.database(directory), "message 2");
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(directory), "not whole", "number 2");
    }

    /** A closed store with two sessions; every table with a checksum has rows. */
    private Path closed() {
        Path directory = temp.resolve("closed");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 5);
            byte[] large = "large body ".repeat(10_000).getBytes(UTF_8);
            JournalFixture.outcome(journal.accept(StoreFiles.message(StoreFiles.DESK, large)));
            SessionName other = new SessionName("other");
            JournalFixture.outcome(journal.open(other, SessionLimits.standard()));
            JournalFixture.outcome(journal.accept(StoreFiles.message(other, "unharmed".getBytes(UTF_8))));
            Claim claim = JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE));
            StoreFiles.append(claim, BatchDraft.after(0, "first", "second"));
            StoreFiles.append(claim, BatchDraft.after(2, "third").snapshot("state three"));
            StoreFiles.append(claim, BatchDraft.after(3, "fourth"));
            JournalFixture.outcome(journal.claimAddress(StoreFiles.DESK, "hook", AddressTerms.open()));
        }
        return directory;
    }

    @Test
    @Tag("LV-09")
    void body_withAFlippedBit_isNamedAndNotSkipped() {
        Path directory = closed();
        StoreFiles.flip(DataDirectory.database(directory), "message 3");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(
                    Problem.DAMAGED,
                    () -> StoreFiles.numbers(journal),
                    "table arrival",
                    "session 'order-desk'",
                    "number 3");
            assertThat(JournalFixture.outcome(journal.arrivals(StoreFiles.DESK, 0, 10, Selection.HEADERS)))
                    .as("headers do not depend on the body")
                    .hasSize(6);
            assertThat(JournalFixture.outcome(journal.arrivals(new SessionName("other"), 0, 10, Selection.WITH_BODIES)))
                    .hasSize(1);
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .singleElement()
                    .asString()
                    .contains("number 3");
        }
    }

    @Test
    @Tag("LV-09")
    void largeBody_withAFlippedBit_isNamed() {
        Path directory = closed();
        StoreFiles.flip(DataDirectory.database(directory), "large body large body");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(Problem.DAMAGED, () -> StoreFiles.numbers(journal), "number 6");
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .hasSize(2)
                    .anyMatch(problem -> problem.contains("table blob"));
        }
    }

    @Test
    @Tag("LV-09")
    void event_withAFlippedBit_isNamedAndTheClaimFails() {
        Path directory = closed();
        StoreFiles.flip(DataDirectory.database(directory), "{fourth}");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.events(StoreFiles.DESK, 0, 10)),
                    "table journal",
                    "number 4");
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE)),
                    "number 4");
            assertThat(JournalFixture.outcome(journal.events(StoreFiles.DESK, 0, 3)))
                    .hasSize(3);
        }
    }

    @Test
    @Tag("LV-09")
    void snapshot_withAFlippedBit_isReplacedByAllTheEvents_orTheClaimFails() {
        Path directory = closed();
        StoreFiles.flip(DataDirectory.database(directory), "state three");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            Claim.Recovered recovered = JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE))
                    .recovered();
            assertThat(recovered.snapshot()).isEmpty();
            assertThat(recovered.tail()).hasSize(4);
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .singleElement()
                    .asString()
                    .contains("table snapshot");
        }
        StoreFiles.flip(DataDirectory.database(directory), "{first}");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE)),
                    "number 1");
        }
    }

    @Test
    @Tag("LV-09")
    void address_thatIsNotWhatWasWritten_isNamedAndNothingIsAcceptedThroughIt() {
        Path directory = closed();
        StoreFiles.sql(directory, "UPDATE address SET accepts = accepts - 2");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(
                            journal.accept(JournalFixture.through("hook", JournalFixture.message("x")))),
                    "table address");
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.acceptAll(List.of(
                            JournalFixture.message("undone"),
                            JournalFixture.through("hook", JournalFixture.message("x"))))),
                    "table address");
            assertProblem(
                    Problem.DAMAGED, () -> JournalFixture.outcome(journal.addresses(StoreFiles.DESK)), "table address");
            assertProblem(
                    Problem.DAMAGED, () -> JournalFixture.outcome(journal.image(StoreFiles.DESK)), "table address");
            assertThat(StoreFiles.numbers(journal)).hasSize(6);
            assertThat(JournalFixture.outcome(journal.accept(JournalFixture.message("unharmed"))))
                    .isInstanceOf(Receipt.Accepted.class);
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .singleElement()
                    .asString()
                    .contains("table address");
        }
    }

    @Test
    @Tag("LV-09")
    void verify_ofAddressesThatCannotBe_namesThem() throws SQLException {
        Path directory = closed();
        try (Statements sql = new Statements(
                new SQLiteConfig().createConnection("jdbc:sqlite:" + DataDirectory.database(directory)))) {
            new AddressRow("late", 1, 2, 2, false, OptionalLong.of(99)).put(sql);
            for (int i = 0; i < 256; i++) {
                new AddressRow("many " + i, 1, 3 + i, 2, false, OptionalLong.empty()).put(sql);
            }
            new AddressRow("stray", 99, 1, 2, false, OptionalLong.empty()).put(sql);
        }
        StoreFiles.sql(directory, "UPDATE session SET ordinary = ordinary + 1 WHERE name = 'other'");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .hasSize(4)
                    .anyMatch(problem -> problem.contains("released after arrival 99"))
                    .anyMatch(problem -> problem.contains("257 addresses"))
                    .anyMatch(problem -> problem.contains("table address: 1 rows belong to no session"))
                    .anyMatch(problem -> problem.contains("its head counts 2"));
        }
    }

    @Test
    @Tag("LV-08")
    void rows_missing_areDamageAndNotTheEnd() {
        Path directory = closed();
        StoreFiles.sql(directory, "DELETE FROM arrival WHERE sid = 1 AND no = 2", "DELETE FROM journal WHERE seq = 4");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            assertProblem(Problem.DAMAGED, () -> StoreFiles.numbers(journal), "table arrival", "number 2");
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.events(StoreFiles.DESK, 0, 10)),
                    "table journal",
                    "number 4",
                    "missing");
            assertProblem(
                    Problem.DAMAGED,
                    () -> JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE)),
                    "number 4");
            assertThat(JournalFixture.outcome(journal.verify()).problems())
                    .anyMatch(problem -> problem.contains("numbers 2 to 2 are missing"))
                    .anyMatch(problem -> problem.contains("numbers 4 to 4 are missing"))
                    .anyMatch(problem -> problem.contains("its head counts 6"));
        }
    }

    @Test
    void verify_ofASoundStore_countsWhatItRead() {
        Path directory = closed();
        try (SqliteReader reader = SqliteJournal.readOnly(directory)) {
            Verification found = JournalFixture.outcome(reader.verify());
            assertThat(found.problems()).isEmpty();
            assertThat(found.sessions()).isEqualTo(2);
            assertThat(found.arrivals()).isEqualTo(7);
            assertThat(found.events()).isEqualTo(4);
            assertThat(found.blobs()).isEqualTo(1);
        }
    }

    @Test
    void database_thatIsNoDatabase_isRefusedAndLeftAlone() {
        Path directory = closed();
        StoreFiles.write(
                DataDirectory.database(directory),
                "this is no database".repeat(1_000).getBytes(UTF_8));
        Map<String, String> before = StoreFiles.contents(directory);
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.at(directory), directory.toString());
        assertProblem(Problem.DAMAGED, () -> SqliteJournal.readOnly(directory), directory.toString());
        assertThat(StoreFiles.contents(directory)).isEqualTo(before);
    }

    @Test
    void sessions_afterDamageElsewhere_areStillListed() {
        Path directory = closed();
        StoreFiles.flip(DataDirectory.database(directory), "message 1");
        try (SqliteReader reader = SqliteJournal.readOnly(directory)) {
            assertThat(JournalFixture.outcome(reader.sessions(Optional.empty(), 10)))
                    .hasSize(2);
        }
    }
}
