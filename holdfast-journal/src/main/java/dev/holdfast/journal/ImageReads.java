package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads all that is stored of a session, in one read transaction (MB-22). */
final class ImageReads {
    private static final String HEAD = "SELECT s.sid, s.unread_limit, s.unread_bytes_limit, s.admission,"
            + " s.admission_reason, s.last_arrival, CASE WHEN s.ready_at IS NULL THEN 0 ELSE 1 END, h.epoch, h.seq,"
            + " h.taken_through, h.ordinary_done, h.ordinary_done_bytes, h.due_at, h.open_turn, h.phase,"
            + " h.phase_reason, h.turn_since,"
            + " h.cost_micros, h.last_words FROM session s JOIN journal_head h ON h.sid = s.sid"
            + " WHERE s.name = ? AND s.admission < 3";

    private static final int ALL = Integer.MAX_VALUE;

    private ImageReads() {}

    static SessionImage image(Statements sql, SessionName session) throws SQLException {
        sql.run("BEGIN");
        try {
            return read(sql, session);
        } finally {
            sql.run("COMMIT");
        }
    }

    /** As {@link #image}, within a transaction that sees one state. */
    static SessionImage read(Statements sql, SessionName session) throws SQLException {
        PreparedStatement select = sql.bind(HEAD, session.value());
        long sid;
        long lastArrival;
        SessionLimits limits;
        boolean admitting;
        String reason;
        SessionImage.Head head;
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                throw Taking.unknown(session);
            }
            sid = row.getLong(1);
            limits = new SessionLimits(row.getLong(2), row.getLong(3));
            admitting = row.getInt(4) == Head.OPEN;
            reason = Statements.text(row, 5);
            lastArrival = row.getLong(6);
            head = head(row);
        }
        return new SessionImage(
                session,
                limits,
                admitting,
                reason,
                arrivals(sql, session, sid, lastArrival),
                events(sql, session, head.seq()),
                head,
                addresses(sql, AddressRow.OF_SESSION, session, sid));
    }

    private static SessionImage.Head head(ResultSet row) throws SQLException {
        return new SessionImage.Head(
                row.getLong(8),
                row.getLong(9),
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                Reads.instant(row, 13),
                Statements.maybe(row, 14),
                row.getInt(7) == 1,
                Reads.words(row, 15));
    }

    private static List<StoredArrival> arrivals(Statements sql, SessionName session, long sid, long last)
            throws SQLException {
        List<StoredArrival> arrivals = new ArrayList<>();
        try (ResultSet row =
                sql.page(sql.bind(Reads.arrivalsQuery(Selection.WITH_BODIES), sid, 0, ALL), Reads.AT_ONCE)) {
            while (row.next()) {
                ArrivalRow header = ArrivalRow.read(row, session.value());
                Reads.noGap("arrival", session, arrivals.size() + 1, header.number());
                arrivals.add(new StoredArrival(
                        header.withBody(Reads.body(sql, row, header, session), session.value()),
                        Optional.ofNullable(header.keyHash()),
                        header.fingerprint()));
            }
        }
        Reads.noGap("arrival", session, 0, arrivals.size(), ALL, last);
        return arrivals;
    }

    private static List<StoredEvent> events(Statements sql, SessionName session, long last) throws SQLException {
        List<StoredEvent> events = new ArrayList<>();
        while (events.size() < last) {
            events.addAll(Reads.events(sql, session, events.size(), Reads.REPLAY_PAGE));
        }
        return events;
    }

    static List<Address> addresses(Statements sql, String query, SessionName session, long sid) throws SQLException {
        List<Address> addresses = new ArrayList<>();
        for (AddressRow row : AddressRow.of(sql, query, sid)) {
            addresses.add(row.address(session));
        }
        return addresses;
    }
}
