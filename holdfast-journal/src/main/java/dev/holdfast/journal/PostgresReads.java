package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.Arrival;
import dev.holdfast.Batch;
import dev.holdfast.Claim.Recovered;
import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queries. Each row's checksum is checked, and a number that is missing is damage, not the end: rows are never
 * deleted, so between the first and the last number of a session there is no gap (D2, D4).
 */
final class PostgresReads {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresReads.class);

    /** Rows that the server sends at once; a page that ends at its bytes leaves the others where they are. */
    private static final int FETCH = 500;

    private static final String SUMMARY =
            "SELECT s.name, s.admission, s.admission_reason, s.ordinary - h.ordinary_done, s.last_arrival, h.seq,"
                    + " h.epoch, h.node, h.open_turn, h.due_at, h.phase, h.phase_reason, h.turn_since, h.cost_micros,"
                    + " h.last_words, h.taken_through FROM session s JOIN journal_head h ON h.sid = s.sid"
                    + " WHERE s.admission < 3";

    static final String EVENTS =
            "SELECT " + EventRow.COLUMNS + " FROM journal WHERE sid = ? AND seq > ? ORDER BY seq LIMIT ?";

    static final String SESSIONS = SUMMARY + " AND s.name > ? ORDER BY s.name LIMIT ?";

    static final String READY = "SELECT s.name FROM ("
            + "SELECT sid, ready_at AS since, 1 AS unread FROM session WHERE ready_at IS NOT NULL"
            + " UNION ALL SELECT sid, due_at, 0 FROM journal_head WHERE due_at <= ?"
            + " UNION ALL SELECT sid, coalesce(turn_since, 0), 0 FROM journal_head"
            + " WHERE open_turn IS NOT NULL) w JOIN session s ON s.sid = w.sid JOIN journal_head h ON h.sid = w.sid"
            + " WHERE (s.admission < 2 OR (s.admission = 2 AND w.unread = 1)) AND NOT EXISTS (SELECT 1 FROM node n"
            + " WHERE n.node = h.node AND n.lease_until > " + PostgresSql.SERVER_NOW + " AND n.node <> ALL (?))"
            + " GROUP BY s.sid, s.name ORDER BY min(w.since), s.sid LIMIT ?";

    private static final String IMAGE = "SELECT s.sid, s.unread_limit, s.unread_bytes_limit, s.admission,"
            + " s.admission_reason, s.last_arrival, s.ready_at IS NOT NULL, h.epoch, h.seq, h.taken_through,"
            + " h.ordinary_done, h.ordinary_done_bytes, h.due_at, h.open_turn, h.phase, h.phase_reason, h.turn_since,"
            + " h.cost_micros, h.last_words FROM session s JOIN journal_head h ON h.sid = s.sid"
            + " WHERE s.name = ? AND s.admission < 3";

    private static final String BY_TOKEN = "SELECT a.token, a.sid, a.claimed_no, a.accepts, a.once, a.released_no,"
            + " a.crc, s.name FROM address a JOIN session s ON s.sid = a.sid WHERE a.token = ?";

    private static final int ALL = Integer.MAX_VALUE;

    private PostgresReads() {}

    static String arrivalsQuery(Selection selection) {
        return "SELECT " + ArrivalRow.COLUMNS
                + (selection == Selection.WITH_BODIES ? ", body" : "")
                + " FROM arrival WHERE sid = ? AND no > ?"
                + (selection == Selection.URGENT_HEADERS ? " AND urgent = 1" : "")
                + " ORDER BY no LIMIT ?";
    }

    /** How far a session goes, read before its rows: every row up to there is committed. */
    private record Extent(long sid, long lastArrival, long seq) {}

    private static Extent extent(PostgresSql sql, SessionName session) throws SQLException {
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

    private static ResultSet pageOf(PreparedStatement select) throws SQLException {
        select.setFetchSize(FETCH);
        return select.executeQuery();
    }

    static List<StoredEvent> events(PostgresSql sql, SessionName session, long after, int max) throws SQLException {
        return events(sql, session, extent(sql, session), Math.max(0, after), max);
    }

    private static List<StoredEvent> events(PostgresSql sql, SessionName session, Extent extent, long after, int max)
            throws SQLException {
        List<StoredEvent> page = new ArrayList<>();
        long bytes = 0;
        try (ResultSet row = pageOf(sql.bind(EVENTS, extent.sid, after, max))) {
            while (bytes < Reads.PAGE_BYTES && row.next()) {
                StoredEvent event = event(row, extent.sid, session);
                Reads.noGap("journal", session, after + page.size() + 1, event.seq());
                page.add(event);
                bytes += event.event().body().length;
            }
        }
        if (bytes < Reads.PAGE_BYTES) {
            Reads.noGap("journal", session, after, page.size(), max, extent.seq);
        }
        return page;
    }

    private static StoredEvent event(ResultSet row, long sid, SessionName session) throws SQLException {
        long seq = row.getLong(1);
        long epoch = row.getLong(2);
        long at = row.getLong(3);
        EventRecord event = new EventRecord(
                PostgresSql.text(row, 4), row.getInt(5), Statements.maybe(row, 6), Statements.bytes(row, 8));
        if (EventRow.crc(sid, seq, epoch, at, event) != row.getLong(7)) {
            throw Damage.of("journal", session.value(), seq, "the event is not what was written");
        }
        return new StoredEvent(seq, epoch, Micros.toInstant(at), event);
    }

    static List<Arrival> arrivals(PostgresSql sql, SessionName session, long after, int max, Selection selection)
            throws SQLException {
        Extent extent = extent(sql, session);
        long from = Math.max(0, after);
        boolean urgentOnly = selection == Selection.URGENT_HEADERS;
        List<Arrival> page = new ArrayList<>();
        long bytes = 0;
        try (ResultSet row = pageOf(sql.bind(arrivalsQuery(selection), extent.sid, from, max))) {
            while (bytes < Reads.PAGE_BYTES && row.next()) {
                ArrivalRow header = ArrivalRow.read(row, session.value());
                if (!urgentOnly) {
                    Reads.noGap("arrival", session, from + page.size() + 1, header.number());
                }
                Arrival arrival = selection == Selection.WITH_BODIES
                        ? header.withBody(body(sql, row, header, session), session.value())
                        : header.withoutBody(session.value());
                page.add(arrival);
                bytes += arrival.header().length + arrival.body().length;
            }
        }
        if (bytes < Reads.PAGE_BYTES && !urgentOnly) {
            Reads.noGap("arrival", session, from, page.size(), max, extent.lastArrival);
        }
        return page;
    }

    /** The body of the row the cursor stands on, from the row or from {@code blob}. */
    private static byte[] body(PostgresSql sql, ResultSet row, ArrivalRow header, SessionName session)
            throws SQLException {
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

    static List<SessionSummary> sessions(PostgresSql sql, Optional<SessionName> after, int max) throws SQLException {
        List<SessionSummary> page = new ArrayList<>();
        PreparedStatement select =
                sql.bind(SESSIONS, after.map(SessionName::value).orElse(""), max);
        try (ResultSet row = pageOf(select)) {
            while (row.next()) {
                page.add(summary(row));
            }
        }
        return page;
    }

    static Optional<SessionSummary> session(PostgresSql sql, SessionName name) throws SQLException {
        PreparedStatement select = sql.bind(SUMMARY + " AND s.name = ?", name.value());
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? Optional.of(summary(row)) : Optional.empty();
        }
    }

    private static SessionSummary summary(ResultSet row) throws SQLException {
        return new SessionSummary(
                new SessionName(row.getString(1)),
                row.getInt(2) == Head.OPEN,
                PostgresSql.text(row, 3),
                row.getLong(4),
                row.getLong(16),
                row.getLong(5),
                row.getLong(6),
                row.getLong(7),
                row.getString(8),
                Statements.maybe(row, 9),
                Reads.instant(row, 10),
                words(row, 11));
    }

    /** Phase, its reason, the turn's begin, cost and last words, from a column on. */
    private static Batch.Summary words(ResultSet row, int from) throws SQLException {
        return new Batch.Summary(
                PostgresSql.text(row, from),
                PostgresSql.text(row, from + 1),
                Reads.instant(row, from + 2),
                Statements.maybe(row, from + 3),
                PostgresSql.text(row, from + 4));
    }

    /**
     * Sessions with something unread, due, or in flight, and not with another node that is alive; those that have waited
     * longest come first. A session that is closed for good is ready only while something is unread: every arrival ends
     * in one event (IN-22).
     *
     * @param own nodes of this process
     */
    static List<SessionName> ready(PostgresSql sql, Instant now, int max, Collection<String> own) throws SQLException {
        List<SessionName> names = new ArrayList<>();
        try (ResultSet row =
                sql.bind(READY, Micros.of(now), sql.texts(own), max).executeQuery()) {
            while (row.next()) {
                names.add(new SessionName(row.getString(1)));
            }
        }
        return names;
    }

    /** The newest usable snapshot and every event after it; without a usable one, every event. */
    static Recovered recovered(PostgresSql sql, SessionName session) throws SQLException {
        Extent extent = extent(sql, session);
        Optional<SnapshotRecord> snapshot = snapshot(sql, session, extent);
        List<StoredEvent> tail = new ArrayList<>();
        long at = snapshot.map(SnapshotRecord::seq).orElse(0L);
        while (at < extent.seq) {
            List<StoredEvent> page = events(sql, session, extent, at, Reads.REPLAY_PAGE);
            tail.addAll(page);
            at += page.size();
        }
        return new Recovered(snapshot, tail, at);
    }

    private static Optional<SnapshotRecord> snapshot(PostgresSql sql, SessionName session, Extent extent)
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

    static List<Address> addresses(PostgresSql sql, SessionName session) throws SQLException {
        return addresses(sql, AddressRow.CLAIMED, session, extent(sql, session).sid);
    }

    private static List<Address> addresses(PostgresSql sql, String query, SessionName session, long sid)
            throws SQLException {
        List<Address> addresses = new ArrayList<>();
        try (ResultSet row = sql.bind(query, sid).executeQuery()) {
            while (row.next()) {
                addresses.add(AddressRow.read(PostgresSql.text(row, 1), row).address(session));
            }
        }
        return addresses;
    }

    static Optional<Address> address(PostgresSql sql, String token) throws SQLException {
        try (ResultSet row = sql.bind(BY_TOKEN, PostgresSql.utf8(token)).executeQuery()) {
            return row.next()
                    ? Optional.of(
                            AddressRow.read(PostgresSql.text(row, 1), row).address(new SessionName(row.getString(8))))
                    : Optional.empty();
        }
    }

    /** All that is stored of a session (MB-22); the transaction must be one that sees one state. */
    static SessionImage image(PostgresSql sql, SessionName session) throws SQLException {
        try (ResultSet row = sql.bind(IMAGE, session.value()).executeQuery()) {
            if (!row.next()) {
                throw Taking.unknown(session);
            }
            long sid = row.getLong(1);
            SessionImage.Head head = new SessionImage.Head(
                    row.getLong(8),
                    row.getLong(9),
                    row.getLong(10),
                    row.getLong(11),
                    row.getLong(12),
                    Reads.instant(row, 13),
                    Statements.maybe(row, 14),
                    row.getBoolean(7),
                    words(row, 15));
            return new SessionImage(
                    session,
                    new SessionLimits(row.getLong(2), row.getLong(3)),
                    row.getInt(4) == Head.OPEN,
                    PostgresSql.text(row, 5),
                    imageArrivals(sql, session, sid, row.getLong(6)),
                    recoveredFrom(sql, session, new Extent(sid, row.getLong(6), head.seq())),
                    head,
                    addresses(sql, AddressRow.OF_SESSION, session, sid));
        }
    }

    private static List<StoredEvent> recoveredFrom(PostgresSql sql, SessionName session, Extent extent)
            throws SQLException {
        List<StoredEvent> all = new ArrayList<>();
        while (all.size() < extent.seq) {
            all.addAll(events(sql, session, extent, all.size(), Reads.REPLAY_PAGE));
        }
        return all;
    }

    private static List<StoredArrival> imageArrivals(PostgresSql sql, SessionName session, long sid, long last)
            throws SQLException {
        List<StoredArrival> arrivals = new ArrayList<>();
        try (ResultSet row = pageOf(sql.bind(arrivalsQuery(Selection.WITH_BODIES), sid, 0L, ALL))) {
            while (row.next()) {
                ArrivalRow header = ArrivalRow.read(row, session.value());
                Reads.noGap("arrival", session, arrivals.size() + 1, header.number());
                arrivals.add(new StoredArrival(
                        header.withBody(body(sql, row, header, session), session.value()),
                        Optional.ofNullable(header.keyHash()),
                        header.fingerprint()));
            }
        }
        Reads.noGap("arrival", session, 0, arrivals.size(), ALL, last);
        return arrivals;
    }
}
