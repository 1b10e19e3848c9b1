package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The {@code session} and {@code journal_head} rows of one session within one transaction: as they were read, and as
 * they will be written. What belongs to a row that is not locked may be a moment old.
 */
final class PostgresSession {
    static final String COLUMNS = "s.sid, s.name, s.unread_limit, s.unread_bytes_limit, s.admission,"
            + " s.admission_reason, s.last_arrival, s.ordinary, s.ordinary_bytes, s.ready_at, h.epoch, h.node, h.seq,"
            + " h.batch_id, h.taken_through, h.ordinary_done, h.ordinary_done_bytes, h.due_at, h.open_turn, h.phase,"
            + " h.phase_reason, h.turn_since, h.cost_micros, h.last_words"
            + " FROM session s JOIN journal_head h ON h.sid = s.sid WHERE s.name = ANY (?) ORDER BY s.sid";

    private static final String UPDATE_SESSIONS = "UPDATE session s SET last_arrival = g.last_arrival,"
            + " ordinary = g.ordinary, ordinary_bytes = g.ordinary_bytes, admission = g.admission,"
            + " admission_reason = g.admission_reason, ready_at = g.ready_at FROM unnest(?, ?, ?, ?, ?, ?, ?)"
            + " AS g(sid, last_arrival, ordinary, ordinary_bytes, admission, admission_reason, ready_at)"
            + " WHERE s.sid = g.sid";

    private static final String UPDATE_HEAD = "UPDATE journal_head SET epoch = ?, node = ?, seq = ?, batch_id = ?,"
            + " taken_through = ?, ordinary_done = ?, ordinary_done_bytes = ?, due_at = ?, open_turn = ?, phase = ?,"
            + " phase_reason = ?, turn_since = ?, cost_micros = ?, last_words = ?"
            + " WHERE sid = ? AND epoch = ? AND seq = ?";

    final SessionName name;
    final Head head;
    /** Who owns it; empty for nobody. */
    String node = "";

    Batch.Summary summary = new Batch.Summary("OPEN", "", Optional.empty(), OptionalLong.empty(), "");

    boolean sessionLocked;
    boolean headLocked;
    boolean headChanged;

    private long storedEpoch;
    private long storedSeq;

    private PostgresSession(SessionName name, Head head) {
        this.name = name;
        this.head = head;
    }

    /** One that this transaction has just made; nobody else can see its rows. */
    static PostgresSession made(long sid, SessionName name, SessionLimits limits) {
        Head head = new Head(sid, name.value(), limits.unreadMessages(), limits.unreadBytes());
        PostgresSession made = new PostgresSession(name, head);
        made.sessionLocked = true;
        made.headLocked = true;
        return made;
    }

    /** Reads the row the cursor stands on, of a query for {@link #COLUMNS}. */
    static PostgresSession read(ResultSet row) throws SQLException {
        String name = row.getString(2);
        PostgresSession found = new PostgresSession(
                new SessionName(name), new Head(row.getLong(1), name, row.getLong(3), row.getLong(4)));
        Head head = found.head;
        head.admission = row.getInt(5);
        head.admissionReason = Statements.text(row, 6);
        head.lastArrival = row.getLong(7);
        head.ordinary = row.getLong(8);
        head.ordinaryBytes = row.getLong(9);
        head.readyAt = Statements.maybe(row, 10);
        found.readHead(row);
        return found;
    }

    /** Takes over the head of a row read later, when it was locked. */
    void readHead(ResultSet row) throws SQLException {
        head.epoch = row.getLong(11);
        node = row.getString(12);
        head.seq = row.getLong(13);
        head.batchId = Uuids.of(row.getBytes(14));
        head.takenThrough = row.getLong(15);
        head.ordinaryDone = row.getLong(16);
        head.ordinaryDoneBytes = row.getLong(17);
        head.dueAt = Statements.maybe(row, 18);
        head.openTurn = Statements.maybe(row, 19);
        head.phase = Statements.text(row, 20);
        OptionalLong since = Statements.maybe(row, 22);
        summary = new Batch.Summary(
                head.phase,
                Statements.text(row, 21),
                since.isPresent() ? Optional.of(Micros.toInstant(since.getAsLong())) : Optional.empty(),
                Statements.maybe(row, 23),
                Statements.text(row, 24));
        storedEpoch = head.epoch;
        storedSeq = head.seq;
    }

    long sid() {
        return head.sid;
    }

    /** Writes the rows that changed, of all sessions of a transaction; each must be there. */
    static void update(PostgresSql sql, Collection<PostgresSession> all) throws SQLException {
        List<Head> senders = all.stream()
                .map(session -> session.head)
                .filter(head -> head.sessionChanged)
                .toList();
        if (!senders.isEmpty()) {
            updateSessions(sql, senders);
        }
        int owners = 0;
        for (PostgresSession session : all) {
            if (session.headChanged) {
                session.addHead(sql);
                owners++;
            }
        }
        if (owners > 0) {
            for (int count : sql.send(UPDATE_HEAD)) {
                allHit(count, 1, "journal_head");
            }
        }
    }

    private static void updateSessions(PostgresSql sql, List<Head> heads) throws SQLException {
        int updated = sql.bind(
                        UPDATE_SESSIONS,
                        numbers(sql, heads, head -> head.sid),
                        numbers(sql, heads, head -> head.lastArrival),
                        numbers(sql, heads, head -> head.ordinary),
                        numbers(sql, heads, head -> head.ordinaryBytes),
                        numbers(sql, heads, head -> (long) head.admission),
                        sql.bytes(heads.stream()
                                .map(head -> PostgresSql.utf8(head.admissionReason))
                                .toList()),
                        numbers(sql, heads, head -> head.readyAt.isPresent() ? head.readyAt.getAsLong() : null))
                .executeUpdate();
        allHit(updated, heads.size(), "session");
    }

    private static Array numbers(PostgresSql sql, List<Head> heads, Function<Head, @Nullable Long> column)
            throws SQLException {
        List<@Nullable Long> values = new ArrayList<>();
        for (Head head : heads) {
            values.add(column.apply(head));
        }
        return sql.numbers(values);
    }

    private void addHead(PostgresSql sql) throws SQLException {
        sql.add(
                UPDATE_HEAD,
                head.epoch,
                node,
                head.seq,
                Uuids.bytes(head.batchId),
                head.takenThrough,
                head.ordinaryDone,
                head.ordinaryDoneBytes,
                head.dueAt,
                head.openTurn,
                PostgresSql.utf8(head.phase),
                PostgresSql.utf8(summary.phaseReason()),
                summary.turnSince().map(at -> OptionalLong.of(Micros.of(at))).orElse(OptionalLong.empty()),
                summary.costMicros(),
                PostgresSql.utf8(summary.lastWords()),
                head.sid,
                storedEpoch,
                storedSeq);
    }

    private static void allHit(int hit, int wanted, String table) {
        if (hit != wanted) {
            throw new IllegalStateException("a row of " + table + " that was locked has changed or vanished");
        }
    }
}
