package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.Arrival;
import dev.holdfast.Batch;
import dev.holdfast.Claim.Recovered;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queries, in words that SQLite and PostgreSQL both know. Each row's checksum is checked, and a number that is
 * missing is damage, not the end: rows are never deleted, so between the first and the last number of a session there
 * is no gap (D2, D4).
 */
final class Reads {
    private static final Logger LOG = LoggerFactory.getLogger(Reads.class);

    /** A page ends at this many bytes of payload, after at least one row. */
    static final long PAGE_BYTES = 16L << 20;

    static final int REPLAY_PAGE = 1_000;

    /** Rows with bodies that are in memory besides those asked for. */
    static final int AT_ONCE = 200;

    private static final String SUMMARY =
            "SELECT s.name, s.admission, s.admission_reason, s.ordinary - h.ordinary_done, s.last_arrival, h.seq,"
                    + " h.epoch, h.node, h.open_turn, h.due_at, h.phase, h.phase_reason, h.turn_since, h.cost_micros,"
                    + " h.last_words, h.taken_through FROM session s JOIN journal_head h ON h.sid = s.sid"
                    + " WHERE s.admission < 3";

    static final String EVENTS =
            "SELECT " + EventRow.COLUMNS + " FROM journal WHERE sid = ? AND seq > ? ORDER BY seq LIMIT ?";

    static final String SESSIONS = SUMMARY + " AND s.name > ? ORDER BY s.name LIMIT ?";

    /** What waits while its session rests is in nobody's way: it comes behind everything that can run. */
    static final String RESTS = "min(CASE WHEN w.due = 0 AND h.phase IN ('PAUSED', 'PARKED') THEN 1 ELSE 0 END)";

    /** Why a session is ready: something is unread, due, or in flight. */
    static final String WORK = "SELECT sid, ready_at AS since, 1 AS unread, 0 AS due FROM session"
            + " WHERE ready_at IS NOT NULL"
            + " UNION ALL SELECT sid, due_at, 0, 1 FROM journal_head WHERE due_at <= ?"
            + " UNION ALL SELECT sid, coalesce(turn_since, 0), 0, 0 FROM journal_head WHERE open_turn IS NOT NULL";

    static final String READY = "SELECT s.name FROM session s JOIN (" + WORK + ") w ON w.sid = s.sid"
            + " JOIN journal_head h ON h.sid = s.sid"
            + " WHERE s.admission < 2 OR (s.admission = 2 AND w.unread = 1)"
            + " GROUP BY s.sid ORDER BY " + RESTS + ", min(w.since), s.sid LIMIT ?";

    private Reads() {}

    static String arrivalsQuery(Selection selection) {
        return "SELECT " + ArrivalRow.COLUMNS
                + (selection == Selection.WITH_BODIES ? ", body" : "")
                + " FROM arrival WHERE sid = ? AND no > ?"
                + (selection == Selection.URGENT_HEADERS ? " AND urgent = 1" : "")
                + " ORDER BY no LIMIT ?";
    }

    /** How far a session goes, read before its rows: every row up to there is committed. */
    private record Extent(long sid, long lastArrival, long seq) {}

    private static Extent extent(Statements sql, SessionName session) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT s.sid, s.last_arrival, h.seq FROM session s JOIN journal_head h ON h.sid = s.sid"
                        + " WHERE s.name = ? AND s.admission < 3",
                session.value());
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                throw Taking.unknown(session);
            }
            return new Extent(row.getLong(1), row.getLong(2), row.getLong(3));
        }
    }

    static List<StoredEvent> events(Statements sql, SessionName session, long after, int max) throws SQLException {
        return events(sql, session, extent(sql, session), Math.max(0, after), max);
    }

    private static List<StoredEvent> events(Statements sql, SessionName session, Extent extent, long after, int max)
            throws SQLException {
        List<StoredEvent> page = new ArrayList<>();
        long bytes = 0;
        try (ResultSet row = sql.page(sql.bind(EVENTS, extent.sid, after, max), AT_ONCE)) {
            while (bytes < PAGE_BYTES && row.next()) {
                StoredEvent event = EventRow.read(row, extent.sid, session.value());
                noGap("journal", session, after + page.size() + 1, event.seq());
                page.add(event);
                bytes += event.event().body().length;
            }
        }
        if (bytes < PAGE_BYTES) {
            noGap("journal", session, after, page.size(), max, extent.seq);
        }
        return page;
    }

    static List<Arrival> arrivals(Statements sql, SessionName session, long after, int max, Selection selection)
            throws SQLException {
        Extent extent = extent(sql, session);
        long from = Math.max(0, after);
        boolean bodies = selection == Selection.WITH_BODIES;
        boolean urgentOnly = selection == Selection.URGENT_HEADERS;
        List<Arrival> page = new ArrayList<>();
        long bytes = 0;
        try (ResultSet row = sql.page(sql.bind(arrivalsQuery(selection), extent.sid, from, max), AT_ONCE)) {
            while (bytes < PAGE_BYTES && row.next()) {
                ArrivalRow header = ArrivalRow.read(row, session.value());
                if (!urgentOnly) {
                    noGap("arrival", session, from + page.size() + 1, header.number());
                }
                Arrival arrival = bodies
                        ? header.withBody(body(sql, row, header, session), session.value())
                        : header.withoutBody(session.value());
                page.add(arrival);
                bytes += arrival.header().length + arrival.body().length;
            }
        }
        if (bytes < PAGE_BYTES && !urgentOnly) {
            noGap("arrival", session, from, page.size(), max, extent.lastArrival);
        }
        return page;
    }

    /** The body of the row the cursor stands on, from the row or from {@code blob}. */
    static byte[] body(Statements sql, ResultSet row, ArrivalRow header, SessionName session) throws SQLException {
        byte @Nullable [] digest = header.bodyDigest();
        if (digest == null) {
            return Statements.bytes(row, ArrivalRow.BODY_COLUMN);
        }
        PreparedStatement select =
                sql.bind("SELECT bytes FROM blob WHERE sid = ? AND digest = ?", header.sid(), digest);
        try (ResultSet blob = select.executeQuery()) {
            if (!blob.next()) {
                throw Damage.of("blob", session.value(), header.number(), "the body is missing");
            }
            return Statements.bytes(blob, 1);
        }
    }

    static void noGap(String table, SessionName session, long expected, long found) {
        if (found != expected) {
            throw Damage.of(table, session.value(), expected, "the row is missing, the next is number " + found);
        }
    }

    static void noGap(String table, SessionName session, long after, int found, int max, long last) {
        long expected = Math.min(max, Math.max(0, last - after));
        if (found < expected) {
            throw Damage.of(table, session.value(), after + found + 1, "the row is missing, there should be " + last);
        }
    }

    static List<SessionSummary> sessions(Statements sql, Optional<SessionName> after, int max) throws SQLException {
        PreparedStatement select =
                sql.bind(SESSIONS, after.map(SessionName::value).orElse(""), max);
        List<SessionSummary> page = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                page.add(summary(row));
            }
        }
        return page;
    }

    static Optional<SessionSummary> session(Statements sql, SessionName name) throws SQLException {
        PreparedStatement select = sql.bind(SUMMARY + " AND s.name = ?", name.value());
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? Optional.of(summary(row)) : Optional.empty();
        }
    }

    /** The name of the session with that number. */
    static SessionName name(Statements sql, long sid) throws SQLException {
        try (ResultSet row =
                sql.bind("SELECT name FROM session WHERE sid = ?", sid).executeQuery()) {
            if (!row.next()) {
                throw new JournalException(
                        Problem.DAMAGED, "an address belongs to session number " + sid + ", which is missing");
            }
            return new SessionName(row.getString(1));
        }
    }

    static List<Address> addresses(Statements sql, SessionName session) throws SQLException {
        return ImageReads.addresses(sql, AddressRow.CLAIMED, session, extent(sql, session).sid);
    }

    static Optional<Address> address(Statements sql, String token) throws SQLException {
        Optional<AddressRow> row = AddressRow.find(sql, token);
        return row.isPresent()
                ? Optional.of(row.get().address(name(sql, row.get().sid())))
                : Optional.empty();
    }

    private static SessionSummary summary(ResultSet row) throws SQLException {
        return new SessionSummary(
                new SessionName(row.getString(1)),
                row.getInt(2) == Head.OPEN,
                Statements.text(row, 3),
                row.getLong(4),
                row.getLong(16),
                row.getLong(5),
                row.getLong(6),
                row.getLong(7),
                row.getString(8),
                Statements.maybe(row, 9),
                instant(row, 10),
                words(row, 11));
    }

    /** Phase, its reason, the turn's begin, cost and last words, from a column on. */
    static Batch.Summary words(ResultSet row, int from) throws SQLException {
        return new Batch.Summary(
                Statements.text(row, from),
                Statements.text(row, from + 1),
                instant(row, from + 2),
                Statements.maybe(row, from + 3),
                Statements.text(row, from + 4));
    }

    static Optional<Instant> instant(ResultSet row, int column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? Optional.empty() : Optional.of(Micros.toInstant(micros));
    }

    /**
     * Sessions with something unread, due, or in flight; those that have waited longest come first, and those that rest
     * come last. A session that is closed for good is ready only while something is unread: every arrival ends in one
     * event (IN-22).
     */
    static List<SessionName> ready(Statements sql, Instant now, int max) throws SQLException {
        return names(sql.bind(READY, Micros.of(now), max));
    }

    static List<SessionName> names(PreparedStatement select) throws SQLException {
        List<SessionName> names = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                names.add(new SessionName(row.getString(1)));
            }
        }
        return names;
    }

    /** The newest usable snapshot and every event after it; without a usable one, every event. */
    static Recovered recovered(Statements sql, SessionName session) throws SQLException {
        Extent extent = extent(sql, session);
        Optional<SnapshotRecord> snapshot = snapshot(sql, session, extent);
        List<StoredEvent> tail = new ArrayList<>();
        long at = snapshot.map(SnapshotRecord::seq).orElse(0L);
        while (at < extent.seq) {
            List<StoredEvent> page = events(sql, session, extent, at, REPLAY_PAGE);
            tail.addAll(page);
            at += page.size();
        }
        return new Recovered(snapshot, tail, at);
    }

    private static Optional<SnapshotRecord> snapshot(Statements sql, SessionName session, Extent extent)
            throws SQLException {
        PreparedStatement select =
                sql.bind("SELECT " + EventRow.SNAPSHOT_COLUMNS + " FROM snapshot WHERE sid = ?", extent.sid);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            SnapshotRecord snapshot = EventRow.readSnapshot(row, extent.sid, session.value());
            if (snapshot.seq() > extent.seq) {
                throw Damage.of(
                        "snapshot", session.value(), snapshot.seq(), "there are only " + extent.seq + " events");
            }
            return Optional.of(snapshot);
        } catch (JournalException e) {
            if (e.problem() != Problem.DAMAGED) {
                throw e;
            }
            LOG.warn("the snapshot is not used, all events are read instead: {}", e.getMessage());
            return Optional.empty();
        }
    }
}
