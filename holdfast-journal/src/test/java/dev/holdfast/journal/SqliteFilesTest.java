package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The directory: who may see it, who owns it, what a newer version or a read-only disk means. */
class SqliteFilesTest {
    @TempDir
    Path temp;

    private static void assertProblem(Problem problem, ThrowingCallable call, String... words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(problem))
                .hasMessageContainingAll(words);
    }

    private static String permissions(Path path) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void directory_madeHere_isForItsUserAlone() throws IOException {
        Path directory = temp.resolve("a").resolve("data with % and ?");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
            assertThat(permissions(directory)).isEqualTo("rwx------");
            assertThat(permissions(directory.resolve("run"))).isEqualTo("rwx------");
            try (Stream<Path> files = Files.list(directory)) {
                assertThat(files.filter(Files::isRegularFile).toList())
                        .hasSize(5)
                        .allMatch(file -> permissions(file).equals("rw-------"));
            }
            assertThat(journal.directory()).hasValue(directory.toRealPath());
        }
    }

    @Test
    void directory_writableByOthers_isRefused() throws IOException {
        Path directory = Files.createDirectory(temp.resolve("shared"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertProblem(Problem.FAILED, () -> SqliteJournal.at(directory), "rwxrwxrwx", "chmod 700");
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    @Tag("LV-07")
    void open_twiceInOneProcess_isRefusedNamingItAndDoesNotHarmTheFirst() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
            long pid = ProcessHandle.current().pid();
            assertProblem(Problem.IN_USE, () -> SqliteJournal.at(directory), "process " + pid);
            assertThat(StoreFiles.numbers(journal)).hasSize(1);
            assertThat(new String(StoreFiles.read(directory.resolve("lock")), UTF_8))
                    .isEqualTo(pid + "\n");
        }
        SqliteJournal.at(directory).close();
    }

    @Test
    @Tag("P3")
    void database_committedToBySomebodyElse_stopsTheJournal() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
            StoreFiles.besideOwner(directory, "UPDATE meta SET value = CAST('77' AS BLOB) WHERE name = 'commit_no'");
            JournalFixture.assertFails(Problem.FAILED, journal.accept(StoreFiles.message("x")));
            JournalFixture.assertFails(Problem.STOPPED, journal.accept(StoreFiles.message("x")));
        }
    }

    @Test
    void database_changedByHand_isReadAnew() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
            StoreFiles.besideOwner(directory, "UPDATE session SET unread_limit = 1");
            assertThat(JournalFixture.outcome(journal.accept(StoreFiles.message("x"))))
                    .isEqualTo(new dev.holdfast.Receipt.Full(1, 1, "messages"));
        }
    }

    @Test
    @Tag("MB-17")
    @Tag("LV-07")
    void open_newerFormat_isRefusedBeforeAnythingIsWritten() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
        }
        StoreFiles.sql(directory, "UPDATE meta SET value = CAST('2' AS BLOB) WHERE name = 'format'");
        Map<String, String> before = StoreFiles.contents(directory);
        assertProblem(Problem.NEWER_FORMAT, () -> SqliteJournal.at(directory), "format 2", "up to 1");
        assertProblem(Problem.NEWER_FORMAT, () -> SqliteJournal.readOnly(directory), "format 2");
        assertThat(StoreFiles.contents(directory)).isEqualTo(before);
    }

    @Test
    void close_foldsTheLogAndLeavesItEmpty() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 10);
            assertThat(DataDirectory.wal(directory)).isNotEmptyFile();
        }
        assertThat(DataDirectory.wal(directory)).isEmptyFile();
        assertThat(directory.resolve("lock")).isEmptyFile();
    }

    @Test
    void close_endsEveryThread() {
        Path directory = temp.resolve("data");
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 1);
            assertThat(StoreFiles.numbers(journal)).hasSize(1);
            assertThat(threads()).isNotEmpty();
        }
        org.awaitility.Awaitility.await().until(() -> threads().isEmpty());
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("holdfast-"))
                .toList();
    }

    @Test
    void open_leftOverLibraries_areSwept() throws IOException {
        Path directory = temp.resolve("data");
        SqliteJournal.at(directory).close();
        Path left = directory.resolve("run").resolve("sqlite-3.1-0000-libsqlitejdbc.so");
        Path marker = directory.resolve("run").resolve("incarnation-7");
        Files.writeString(left, "left by a killed process");
        Files.writeString(marker, "somebody else's");
        SqliteJournal.at(directory).close();
        assertThat(left).doesNotExist();
        assertThat(marker).exists();
    }

    /** Makes the directory read-only until {@code body} ends. Permissions do not bind root: then by a mount. */
    private static void whileReadOnly(String test, Path directory, Runnable body) throws IOException {
        String path = directory.toString();
        if (!StoreFiles.isRoot()) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("r-x------"));
            try {
                body.run();
            } finally {
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
            }
            return;
        }
        try {
            StoreFiles.run("mount", "--bind", path, path);
        } catch (IllegalStateException e) {
            StoreFiles.cannotRun(test, "root without the right to mount: " + e.getMessage());
        }
        try {
            StoreFiles.run("mount", "-o", "remount,ro,bind", path);
            body.run();
        } finally {
            StoreFiles.run("umount", path);
        }
    }

    @Test
    @Tag("LV-07")
    void open_readOnlyDirectory_isNamed() throws IOException {
        Path empty = Files.createDirectory(temp.resolve("empty"));
        StoreFiles.run("chmod", "700", empty.toString());
        whileReadOnly("open_readOnlyDirectory_isNamed", empty, () -> {
            assertProblem(Problem.READ_ONLY, () -> SqliteJournal.at(empty), empty.toString());
            assertProblem(Problem.READ_ONLY, () -> SqliteJournal.at(empty.resolve("below")), "below");
            assertProblem(Problem.NOT_FOUND, () -> SqliteJournal.readOnly(empty), "no store");
        });
    }

    @Test
    @Tag("LV-07")
    void readOnly_directoryThatCannotBeWritten_readsAClosedStoreAndNamesWhyNotAKilledOne() throws IOException {
        Path directory = temp.resolve("data");
        Path killed;
        try (SqliteJournal journal = SqliteJournal.at(directory)) {
            StoreFiles.fill(journal, 3);
            killed = StoreFiles.killedCopy(directory, "killed");
        }
        String test = "readOnly_directoryThatCannotBeWritten";
        whileReadOnly(test, directory, () -> {
            try (SqliteReader reader = SqliteJournal.readOnly(directory)) {
                assertThat(StoreFiles.numbers(reader)).hasSize(3);
            }
        });
        StoreFiles.delete(DataDirectory.shm(directory));
        whileReadOnly(test, directory, () -> {
            try (SqliteReader reader = SqliteJournal.readOnly(directory)) {
                assertThat(StoreFiles.numbers(reader)).hasSize(3);
            }
        });
        whileReadOnly(
                test,
                killed,
                () -> assertProblem(Problem.READ_ONLY, () -> SqliteJournal.readOnly(killed), "not closed cleanly"));
    }
}
