package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.OptionalLong;
import org.sqlite.SQLiteConfig;

/**
 * Opens connections to the database of a directory, and checks what is there before anything is written: the format
 * (MB-17) and the number of the last commit (LV-09).
 *
 * <p>A connection that may write folds the write-ahead log into the database and deletes it when it is the last to
 * close. So the checks run on read-only connections, which never do that, and an owner keeps one open until after its
 * writing connection is closed: the {@code -wal} file stays, and is missing only when somebody took it away.
 */
final class Database {
    private static final int BUSY_TIMEOUT_MS = 10_000;
    private static final int WRITER_CACHE_KIB = 16 * 1024;

    private Database() {}

    /** The connection that may write: write-ahead log, an fsync per commit, checkpoints only when asked for. */
    static Statements writing(Path directory) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(BUSY_TIMEOUT_MS);
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setWalAutocheckpoint(0);
        config.setTempStore(SQLiteConfig.TempStore.MEMORY);
        config.setCacheSize(-WRITER_CACHE_KIB);
        Statements sql = new Statements(config.createConnection(url(directory, "?mode=rw")));
        try (ResultSet row = sql.prepare("PRAGMA journal_mode").executeQuery()) {
            if (!row.next() || !row.getString(1).equals("wal")) {
                sql.close();
                throw new JournalException(
                        Problem.FAILED,
                        "the file system of " + directory + " does not let SQLite use a write-ahead log;"
                                + " put the data directory on a local disk");
            }
        }
        return sql;
    }

    /** A connection beside a writing one. It changes nothing but SQLite's {@code -shm} file. */
    static Statements reading(Path directory) throws SQLException {
        return readOnly(url(directory, "?mode=ro"));
    }

    /** A connection that touches no file but the database and takes no lock: right only while nobody writes. */
    static Statements readingUntouched(Path directory) throws SQLException {
        return readOnly(url(directory, "?mode=ro&immutable=1"));
    }

    private static Statements readOnly(String url) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setReadOnly(true);
        config.setBusyTimeout(BUSY_TIMEOUT_MS);
        config.setTempStore(SQLiteConfig.TempStore.MEMORY);
        return new Statements(config.createConnection(url));
    }

    private static String url(Path directory, String parameters) {
        return "jdbc:sqlite:" + DataDirectory.database(directory).toUri() + parameters;
    }

    /** The value of a name in {@code meta}, or empty text. */
    static String meta(Statements sql, String name) throws SQLException {
        PreparedStatement select = sql.bind("SELECT value FROM meta WHERE name = ?", name);
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? new String(Statements.bytes(row, 1), StandardCharsets.UTF_8) : "";
        }
    }

    static void putMeta(Statements sql, String name, String value) throws SQLException {
        sql.bind(
                        "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                        name,
                        value.getBytes(StandardCharsets.UTF_8))
                .executeUpdate();
    }

    /** A number in {@code meta}; 0 when it is not there. */
    static long number(Statements sql, String name, Path directory) throws SQLException {
        String text = meta(sql, name);
        try {
            return text.isEmpty() ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new JournalException(
                    Problem.DAMAGED, "'" + name + "' in table meta of " + directory + " is not a number", e);
        }
    }

    /** The format of the database; 0 when it has no tables yet. */
    static int format(Statements sql, Path directory) throws SQLException {
        PreparedStatement select =
                sql.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'");
        boolean present;
        try (ResultSet row = select.executeQuery()) {
            present = row.next() && row.getLong(1) == 1;
        }
        return present ? (int) Math.min(Integer.MAX_VALUE, number(sql, "format", directory)) : 0;
    }

    /**
     * Refuses a newer format, and a database that lost commits.
     *
     * @param head what the head file held before the database was opened
     * @return the format
     */
    static int check(Statements sql, OptionalLong head, Path directory) throws SQLException {
        int format = format(sql, directory);
        if (format > Migrations.LATEST) {
            throw new JournalException(
                    Problem.NEWER_FORMAT,
                    "the store in " + directory + " has format " + format + ", this version knows formats up to "
                            + Migrations.LATEST + "; use the version that wrote it, or a newer one");
        }
        long commit = format == 0 ? 0 : number(sql, "commit_no", directory);
        Path file = DataDirectory.head(directory);
        if (head.isEmpty()) {
            throw new JournalException(
                    Problem.DAMAGED,
                    file + " is missing, so nobody can tell whether the database, which is at commit " + commit
                            + ", is complete; restore it together with the database. " + HeadFile.acceptance(file));
        }
        if (commit < head.getAsLong()) {
            String log = Files.exists(DataDirectory.wal(directory)) ? "" : " Its -wal file is missing.";
            throw new JournalException(
                    Problem.DAMAGED,
                    "the database in " + directory + " has lost commits " + (commit + 1) + " to " + head.getAsLong()
                            + ", which were acknowledged." + log
                            + " Nothing was changed: restore "
                            + DataDirectory.database(directory).getFileName()
                            + " and its -wal file as they were. " + HeadFile.acceptance(file));
        }
        return format;
    }

    /** Reads the head file, with its errors named. */
    static OptionalLong head(Path directory) {
        try {
            return HeadFile.read(DataDirectory.head(directory));
        } catch (IOException e) {
            throw Problems.of(e, "reading the head file", directory);
        }
    }
}
