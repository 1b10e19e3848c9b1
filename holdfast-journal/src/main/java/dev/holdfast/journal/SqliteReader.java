package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A store opened for reading, see {@link SqliteJournal#readOnly}. Thread-safe. Stages complete on a reader's thread.
 *
 * <p>While a process owns the store, or after one was killed, SQLite's {@code -shm} file or a log with content is
 * there and reading goes through them. A store that is closed cleanly and has no {@code -shm} file is read as it
 * lies, without making one, and what was read counts only if no owner came meanwhile.
 */
public final class SqliteReader extends StoreReading {
    private static final int READERS = 2;

    private final Path directory;
    private final ReadPool reads;
    private final String storeId;
    private final AtomicBoolean closed = new AtomicBoolean();

    private SqliteReader(Path directory) {
        this.directory = directory;
        this.reads = new ReadPool(new Beside(directory), directory, READERS, this::ended);
        this.storeId = now(reads.read("opening the store for reading", sql -> Database.meta(sql, "store_id")));
    }

    static SqliteReader open(Path directory) {
        if (!Files.exists(DataDirectory.database(directory))) {
            throw new JournalException(
                    Problem.NOT_FOUND,
                    "there is no store in " + directory + "; the first session that is opened there creates it");
        }
        return new SqliteReader(directory);
    }

    private @Nullable JournalException ended() {
        return closed.get() ? new JournalException(Problem.STOPPED, "the reader of " + directory + " is closed") : null;
    }

    private static <R> R now(CompletionStage<R> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof JournalException named) {
                throw named;
            }
            throw e;
        }
    }

    /** Opens connections beside an owner that may be there or not. */
    private record Beside(Path directory) implements ReadPool.Source {
        @Override
        public ReadPool.Connected open() throws SQLException {
            OptionalLong head = Database.head(directory);
            boolean untouched = stillUntouched();
            if (!untouched && !Files.exists(DataDirectory.wal(directory))) {
                throw new JournalException(
                        Problem.DAMAGED,
                        "the -wal file of " + DataDirectory.database(directory) + " is missing beside its -shm file;"
                                + " restore it, or let the host open the store, which checks the whole of it");
            }
            Statements sql = untouched ? Database.readingUntouched(directory) : Database.reading(directory);
            boolean usable = false;
            try {
                if (Database.check(sql, head, directory) == 0) {
                    throw new JournalException(Problem.NOT_FOUND, "the store in " + directory + " is not made yet");
                }
                usable = true;
                return new ReadPool.Connected(sql, untouched);
            } catch (SQLException e) {
                throw named(e);
            } finally {
                if (!usable) {
                    sql.close();
                }
            }
        }

        /** Nobody has the store open: an owner makes the {@code -shm} file before it writes anything. */
        @Override
        public boolean stillUntouched() {
            try {
                Path wal = DataDirectory.wal(directory);
                return !Files.exists(DataDirectory.shm(directory)) && (!Files.exists(wal) || Files.size(wal) == 0);
            } catch (IOException e) {
                return false;
            }
        }

        private JournalException named(SQLException error) {
            if (!Files.isWritable(directory) && !Files.exists(DataDirectory.shm(directory))) {
                return new JournalException(
                        Problem.READ_ONLY,
                        "the store in " + directory + " was not closed cleanly, and its directory cannot be written,"
                                + " which SQLite needs to read it then; copy it to a place that can",
                        error);
            }
            return Problems.of(error, "opening the store for reading", directory);
        }
    }

    /** Identity of the store, see {@link dev.holdfast.Journal#storeId()}. */
    public String storeId() {
        return storeId;
    }

    /** Reads every row and checks checksums, numbers and sums; for {@code doctor}. Takes long on a large store. */
    public CompletionStage<Verification> verify() {
        return reads.read("verifying", sql -> Verifier.verify(sql, directory));
    }

    @Override
    <R> CompletionStage<R> read(String what, Query<R> query) {
        return reads.read(what, query::of);
    }

    @Override
    public void close() {
        closed.set(true);
        reads.close();
    }
}
