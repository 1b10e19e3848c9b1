package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writing connection with the heads it knows. One process owns the file, so a head read once stays true and is kept
 * (of the {@value #CACHED} sessions used last). Within a transaction every write works on copies, which replace the
 * cached heads at the commit and are forgotten at a rollback. Used by the committer's thread only.
 */
final class WriteStore {
    private static final Logger LOG = LoggerFactory.getLogger(WriteStore.class);
    private static final int CACHED = 20_000;
    /** Log size, in payload and estimated pages, after which it is folded into the database. */
    private static final long CHECKPOINT_BYTES = 8L << 20;
    /** Estimate of the pages one commit writes besides its payload: heads, indexes, the commit's number. */
    private static final long COMMIT_BYTES = 24L << 10;
    /** Pages of log (64 MiB) from which readers are waited for, shortly, so that the log can begin anew. */
    private static final long LONG_LOG_PAGES = 16_384;

    private static final int SHORT_WAIT_MS = 50;
    private static final int USUAL_WAIT_MS = 10_000;

    static final String LAST_URGENT = "SELECT max(no) FROM arrival a WHERE a.sid = s.sid AND a.urgent = 1";

    private final Statements sql;
    private final HeadFile headFile;
    private final Path directory;
    private final Step step;
    private final Map<String, Head> cached = new LinkedHashMap<>(256, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Head> eldest) {
            return size() > CACHED;
        }
    };
    private final Map<String, Head> staged = new HashMap<>();
    private final Set<SessionName> arrivedAt = new LinkedHashSet<>();
    private long now;
    private long commit;
    private long sinceCheckpoint;
    private long dataVersion;
    private boolean changed;

    WriteStore(Statements sql, HeadFile headFile, Path directory, Step step) throws SQLException {
        this.sql = sql;
        this.headFile = headFile;
        this.directory = directory;
        this.step = step;
        this.commit = Database.number(sql, "commit_no", directory);
        this.dataVersion = dataVersion();
    }

    Statements sql() {
        return sql;
    }

    /** Time of the running commit, in microseconds. */
    long now() {
        return now;
    }

    /** Number of the last commit, counted since the store was created. */
    long commit() {
        return commit;
    }

    /** Sessions with arrivals in the last commit. */
    Set<SessionName> arrivedAt() {
        return arrivedAt;
    }

    void begin(Instant time) throws SQLException {
        staged.clear();
        arrivedAt.clear();
        changed = false;
        now = Micros.of(time);
        sql.run("BEGIN IMMEDIATE");
        long found = dataVersion();
        if (found != dataVersion) {
            changedElsewhere();
            dataVersion = found;
        }
    }

    /** Changes when another connection commits. */
    private long dataVersion() throws SQLException {
        try (ResultSet row = sql.prepare("PRAGMA data_version").executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    /**
     * Somebody else wrote to the database, which the lock on the directory should prevent: the lock file was deleted
     * and a second owner came, or an operator changed something by hand. The first is the end (P3); after the second
     * the heads are read anew.
     */
    private void changedElsewhere() throws SQLException {
        long found = Database.number(sql, "commit_no", directory);
        if (found != commit) {
            throw new SQLException("another process has committed: the database is at commit " + found
                    + " and this one made commit " + commit + "; find the second owner of the data directory");
        }
        LOG.warn("the database in {} was changed by somebody else's hand", directory);
        cached.clear();
    }

    /** The head to read and change within this transaction; null when there is no such session. */
    @Nullable
    Head find(SessionName session) throws SQLException {
        String name = session.value();
        Head head = staged.get(name);
        if (head == null) {
            Head known = cached.get(name);
            head = known == null ? load(name) : known.copy();
            if (head != null) {
                staged.put(name, head);
            }
        }
        return head;
    }

    /**
     * As {@link #find}.
     *
     * @throws JournalException UNKNOWN_SESSION when there is no such session
     */
    Head known(SessionName session) throws SQLException {
        Head head = find(session);
        if (head == null || head.admission == Head.DELETED) {
            throw Taking.unknown(session);
        }
        return head;
    }

    /** The name of the session with that number, for those who are told about it. */
    SessionName name(long sid) throws SQLException {
        return Reads.name(sql, sid);
    }

    Head create(SessionName session, SessionLimits limits) throws SQLException {
        String name = session.value();
        sql.bind(
                        "INSERT INTO session(name, admission, admission_reason, unread_limit, unread_bytes_limit,"
                                + " last_arrival, ordinary, ordinary_bytes) VALUES(?, 0, '', ?, ?, 0, 0, 0)",
                        name,
                        limits.unreadMessages(),
                        limits.unreadBytes())
                .executeUpdate();
        Head head = load(sql.bind("SELECT sid FROM session WHERE name = ?", name), name, limits);
        sql.bind(
                        "INSERT INTO journal_head(sid, epoch, node, seq, batch_id, taken_through, ordinary_done,"
                                + " ordinary_done_bytes, phase, phase_reason, last_words)"
                                + " VALUES(?, 0, '', 0, ?, 0, 0, 0, ?, '', '')",
                        head.sid,
                        Uuids.bytes(head.batchId),
                        head.phase)
                .executeUpdate();
        staged.put(name, head);
        changed();
        return head;
    }

    private static Head load(PreparedStatement select, String name, SessionLimits limits) throws SQLException {
        try (ResultSet row = select.executeQuery()) {
            row.next();
            return new Head(row.getLong(1), name, limits.unreadMessages(), limits.unreadBytes());
        }
    }

    private @Nullable Head load(String name) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT s.sid, s.unread_limit, s.unread_bytes_limit, s.admission, s.admission_reason, s.last_arrival,"
                        + " s.ordinary, s.ordinary_bytes, s.ready_at, h.epoch, h.seq, h.batch_id, h.taken_through,"
                        + " h.ordinary_done, h.ordinary_done_bytes, h.due_at, h.open_turn, h.phase,"
                        + " coalesce((" + LAST_URGENT + "), 0)"
                        + " FROM session s JOIN journal_head h ON h.sid = s.sid WHERE s.name = ?",
                name);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            Head head = new Head(row.getLong(1), name, row.getLong(2), row.getLong(3));
            head.admission = row.getInt(4);
            head.admissionReason = row.getString(5);
            head.lastArrival = row.getLong(6);
            head.ordinary = row.getLong(7);
            head.ordinaryBytes = row.getLong(8);
            head.readyAt = Statements.maybe(row, 9);
            head.epoch = row.getLong(10);
            head.seq = row.getLong(11);
            head.batchId = Uuids.of(Statements.bytes(row, 12));
            head.takenThrough = row.getLong(13);
            head.ordinaryDone = row.getLong(14);
            head.ordinaryDoneBytes = row.getLong(15);
            head.dueAt = Statements.maybe(row, 16);
            head.openTurn = Statements.maybe(row, 17);
            head.phase = row.getString(18);
            head.lastUrgent = row.getLong(19);
            return head;
        }
    }

    /** A part of the transaction that is kept whole or not at all. */
    interface Part<R> {
        R apply() throws SQLException;
    }

    /**
     * Applies a part that changes one session, and undoes it when it throws a {@link JournalException} or gives a
     * result that is not one to keep. The head is stale after that: find it again.
     */
    <R> R whole(Head head, Part<R> part, Predicate<R> keep) throws SQLException {
        Head before = head.copy();
        boolean changedBefore = changed;
        Set<SessionName> arrivedBefore = Set.copyOf(arrivedAt);
        sql.run("SAVEPOINT whole");
        try {
            R result = part.apply();
            if (keep.test(result)) {
                sql.run("RELEASE whole");
                return result;
            }
            undo(before, changedBefore, arrivedBefore);
            return result;
        } catch (JournalException e) {
            undo(before, changedBefore, arrivedBefore);
            throw e;
        }
    }

    private void undo(Head before, boolean changedBefore, Set<SessionName> arrivedBefore) throws SQLException {
        sql.run("ROLLBACK TO whole");
        sql.run("RELEASE whole");
        staged.put(before.name, before);
        changed = changedBefore;
        arrivedAt.retainAll(arrivedBefore);
    }

    /** Says that the transaction has something to commit. */
    void changed() {
        changed = true;
    }

    /** Says that the transaction holds an arrival for the session. */
    void arrived(SessionName session) {
        changed = true;
        arrivedAt.add(session);
    }

    /**
     * Commits, with the fsync. A transaction without changes ends without either.
     *
     * @param payload bytes of bodies in this transaction
     * @return whether there was something to commit
     * @throws IOException when the head file cannot be written; the commit itself is done
     */
    boolean commit(long payload) throws SQLException, IOException {
        if (!changed) {
            sql.run("ROLLBACK");
            staged.clear();
            return false;
        }
        for (Head head : staged.values()) {
            if (head.sessionChanged) {
                writeSession(head);
            }
        }
        Database.putMeta(sql, "commit_no", Long.toString(commit + 1));
        step.at(Step.Point.BEFORE_COMMIT);
        sql.run("COMMIT");
        commit++;
        step.at(Step.Point.AFTER_COMMIT);
        headFile.write(commit);
        step.at(Step.Point.AFTER_HEAD);
        cached.putAll(staged);
        staged.clear();
        sinceCheckpoint += payload + COMMIT_BYTES;
        return true;
    }

    private void writeSession(Head head) throws SQLException {
        String common = "UPDATE session SET last_arrival = ?, ordinary = ?, ordinary_bytes = ?, admission = ?,"
                + " admission_reason = ?";
        PreparedStatement update = head.readyChanged
                ? sql.bind(
                        common + ", ready_at = ? WHERE sid = ?",
                        head.lastArrival,
                        head.ordinary,
                        head.ordinaryBytes,
                        head.admission,
                        head.admissionReason,
                        head.readyAt,
                        head.sid)
                : sql.bind(
                        common + " WHERE sid = ?",
                        head.lastArrival,
                        head.ordinary,
                        head.ordinaryBytes,
                        head.admission,
                        head.admissionReason,
                        head.sid);
        if (update.executeUpdate() != 1) {
            throw new IllegalStateException("session '" + head.name + "' has vanished from the database");
        }
        head.sessionChanged = false;
        head.readyChanged = false;
    }

    /**
     * Undoes the transaction.
     *
     * @return whether the database stands where it stood before, so that the next transaction may go on
     */
    boolean rollback() {
        staged.clear();
        arrivedAt.clear();
        cached.clear();
        sql.forget();
        try {
            sql.run("ROLLBACK");
        } catch (SQLException e) {
            // After some errors SQLite has rolled back by itself, and says that there is nothing to roll back.
            sql.forget();
        }
        try {
            return Database.number(sql, "commit_no", directory) == commit;
        } catch (SQLException e) {
            return false;
        }
    }

    /** Folds the log into the database when it has grown; a full disk or a slow reader only puts that off. */
    void checkpointWhenDue() throws SQLException {
        if (sinceCheckpoint < CHECKPOINT_BYTES) {
            return;
        }
        sinceCheckpoint = 0;
        if (checkpoint("PASSIVE") > LONG_LOG_PAGES) {
            sql.run("PRAGMA busy_timeout = " + SHORT_WAIT_MS);
            try {
                checkpoint("TRUNCATE");
            } finally {
                sql.run("PRAGMA busy_timeout = " + USUAL_WAIT_MS);
            }
        }
    }

    /** Answers the length of the log in pages. */
    private long checkpoint(String mode) throws SQLException {
        try (ResultSet row = sql.prepare("PRAGMA wal_checkpoint(" + mode + ")").executeQuery()) {
            return row.next() ? row.getLong(2) : 0;
        } catch (SQLException e) {
            if (Problems.isFull(e) || Problems.isBusy(e)) {
                sql.forget();
                return 0;
            }
            throw e;
        }
    }

    /** Folds the whole log into the database; what readers keep from being folded stays in the log. */
    void checkpointAtEnd() throws SQLException {
        checkpoint("TRUNCATE");
    }

    void close() throws SQLException, IOException {
        try (headFile) {
            sql.close();
        }
    }
}
