package dev.holdfast.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionSummary;
import dev.holdfast.testkit.JournalFixture;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reading beside an owner, after one was killed, and from a store at rest; nothing is changed by it. */
class SqliteReaderTest {
    @TempDir
    Path temp;

    @Test
    @Tag("LV-07")
    void read_besideTheOwner_seesEachCommit() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory);
                SqliteReader reader = SqliteJournal.readOnly(directory)) {
            assertThat(reader.storeId()).isEqualTo(journal.storeId());
            assertThat(JournalFixture.outcome(reader.sessions(Optional.empty(), 10)))
                    .isEmpty();
            StoreFiles.fill(journal, 3);
            assertThat(StoreFiles.numbers(reader)).containsExactly(1L, 2L, 3L);
            JournalFixture.outcome(journal.accept(StoreFiles.message("another")));
            assertThat(StoreFiles.numbers(reader)).hasSize(4);
            assertThat(JournalFixture.outcome(reader.session(StoreFiles.DESK)).map(SessionSummary::unread))
                    .hasValue(4L);
            JournalFixture.outcome(journal.claimAddress(StoreFiles.DESK, "hook", AddressTerms.open()));
            assertThat(JournalFixture.outcome(reader.addresses(StoreFiles.DESK)))
                    .extracting(Address::token)
                    .containsExactly("hook");
            assertThat(JournalFixture.outcome(reader.address("hook")).map(Address::session))
                    .hasValue(StoreFiles.DESK);
            assertThat(JournalFixture.outcome(reader.verify()).problems()).isEmpty();
        }
    }

    @Test
    void read_afterAKill_seesEverythingAndChangesNothing() {
        Path directory = temp.resolve("data");
        Path killed;
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 3);
            killed = StoreFiles.killedCopy(directory, "killed");
        }
        Map<String, String> before = StoreFiles.contents(killed);
        try (SqliteReader reader = SqliteJournal.readOnly(killed)) {
            assertThat(StoreFiles.numbers(reader)).hasSize(3);
        }
        assertThat(StoreFiles.contents(killed)).isEqualTo(before);
        try (SqliteJournal journal = SqliteJournal.at(killed)) {
            assertThat(StoreFiles.numbers(journal)).hasSize(3);
        }
    }

    @Test
    void read_aStoreAtRest_makesNoFile() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 3);
        }
        StoreFiles.delete(DataDirectory.shm(directory));
        StoreFiles.delete(DataDirectory.wal(directory));
        Map<String, String> before = StoreFiles.contents(directory);
        try (SqliteReader reader = SqliteJournal.readOnly(directory)) {
            assertThat(StoreFiles.numbers(reader)).hasSize(3);
            assertThat(StoreFiles.contents(directory)).isEqualTo(before);
            assertThat(DataDirectory.shm(directory)).doesNotExist();
            try (SqliteJournal journal = SqliteJournal.at(directory)) {
                StoreFiles.fill(journal, 2);
                assertThat(StoreFiles.numbers(reader))
                        .as("an owner came: the reader goes through the log")
                        .hasSize(5);
            }
            assertThat(StoreFiles.numbers(reader)).hasSize(5);
        }
    }

    @Test
    void read_whatIsNotThere_isNamed() {
        assertThatThrownBy(() -> SqliteJournal.readOnly(temp.resolve("nowhere")))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.NOT_FOUND));
        assertThat(temp.resolve("nowhere")).doesNotExist();
    }

    @Test
    void read_logMissingBesideTheShm_isDamage() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 3);
        }
        StoreFiles.delete(DataDirectory.wal(directory));
        assertThatThrownBy(() -> SqliteJournal.readOnly(directory))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.DAMAGED));
        assertThat(DataDirectory.wal(directory)).doesNotExist();
    }

    @Test
    void close_thenRead_failsAsStopped() {
        Path directory = temp.resolve("data");
        SqliteJournal.at(directory).close();
        SqliteReader reader = SqliteJournal.readOnly(directory);
        reader.close();
        JournalFixture.assertFails(Problem.STOPPED, reader.session(StoreFiles.DESK));
    }
}
