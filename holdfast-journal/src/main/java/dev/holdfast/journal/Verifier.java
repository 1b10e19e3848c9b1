package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.ArrivalKind;
import dev.holdfast.JournalException;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads every row of a store: the checksum of each row and body, numbers without gaps, the sums in the heads, and
 * SQLite's own check. Pages of rows are read in transactions of their own, so that a check beside an owner does not
 * keep the log from being folded; a head is read before its rows, which are never changed or deleted.
 */
final class Verifier {
    private static final int MOST_PROBLEMS = 1_000;
    private static final int PAGE = 500;
    /** Large bodies in memory at once. */
    private static final int BLOBS = 4;

    private final Statements sql;
    private final List<String> problems = new ArrayList<>();
    private long arrivals;
    private long events;
    private long blobs;

    private Verifier(Statements sql) {
        this.sql = sql;
    }

    /** @param where the store, for messages */
    static Verification verify(Statements sql, String where) throws SQLException {
        return new Verifier(sql).run(where);
    }

    /** As {@link #verify(Statements, String)}, after SQLite's own check. */
    static Verification verify(Statements sql, Path directory) throws SQLException {
        Verifier verifier = new Verifier(sql);
        verifier.sqliteCheck();
        return verifier.run(directory.toString());
    }

    /** The head of a session, from its two rows in one statement. */
    private record Sums(
            long sid,
            SessionName name,
            long lastArrival,
            long ordinary,
            long ordinaryBytes,
            long epoch,
            long seq,
            long takenThrough,
            long ordinaryDone,
            long ordinaryDoneBytes) {}

    private Verification run(String where) throws SQLException {
        strays("arrival");
        strays("journal");
        strays("journal_head");
        strays("address");
        long sessions = 0;
        Optional<Sums> next = after("");
        while (next.isPresent()) {
            Sums sums = next.get();
            sessions++;
            sums(sums);
            arrivals(sums);
            events(sums);
            blobs(sums);
            addresses(sums);
            next = after(sums.name.value());
        }
        if (Database.meta(sql, "store_id").isEmpty()) {
            report("table meta of " + where + " has no store_id");
        }
        return new Verification(sessions, arrivals, events, blobs, problems);
    }

    private void report(String problem) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(problem);
        }
    }

    private void sqliteCheck() throws SQLException {
        try (ResultSet row = sql.prepare("PRAGMA integrity_check(100)").executeQuery()) {
            while (row.next()) {
                String line = row.getString(1);
                if (!line.equals("ok")) {
                    report("SQLite: " + line);
                }
            }
        }
    }

    private void strays(String table) throws SQLException {
        PreparedStatement select =
                sql.prepare("SELECT count(*) FROM " + table + " WHERE sid NOT IN (SELECT sid FROM session)");
        try (ResultSet row = select.executeQuery()) {
            if (row.next() && row.getLong(1) > 0) {
                report("table " + table + ": " + row.getLong(1) + " rows belong to no session");
            }
        }
    }

    private Optional<Sums> after(String name) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT s.sid, s.name, s.last_arrival, s.ordinary, s.ordinary_bytes, h.epoch, h.seq, h.taken_through,"
                        + " h.ordinary_done, h.ordinary_done_bytes FROM session s"
                        + " LEFT JOIN journal_head h ON h.sid = s.sid WHERE s.name > ? ORDER BY s.name LIMIT 1",
                name);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            Sums sums = new Sums(
                    row.getLong(1),
                    new SessionName(row.getString(2)),
                    row.getLong(3),
                    row.getLong(4),
                    row.getLong(5),
                    row.getLong(6),
                    row.getLong(7),
                    row.getLong(8),
                    row.getLong(9),
                    row.getLong(10));
            row.getLong(6);
            if (row.wasNull()) {
                report("table journal_head: session '" + sums.name + "' has no row");
            }
            return Optional.of(sums);
        }
    }

    private void sums(Sums sums) {
        if (sums.takenThrough > sums.lastArrival) {
            report("session '" + sums.name + "': arrivals are taken up to " + sums.takenThrough + ", there are only "
                    + sums.lastArrival);
        }
        if (sums.ordinaryDone > sums.ordinary || sums.ordinaryDoneBytes > sums.ordinaryBytes) {
            report("session '" + sums.name + "': more ordinary messages are done than were accepted");
        }
    }

    private void arrivals(Sums sums) throws SQLException {
        long[] ordinary = new long[2];
        long at = 0;
        while (at < sums.lastArrival) {
            long reached = arrivalsAfter(sums, at, ordinary);
            if (reached == at) {
                gap("arrival", sums.name, at, sums.lastArrival + 1);
                break;
            }
            at = reached;
        }
        if (ordinary[0] != sums.ordinary || ordinary[1] != sums.ordinaryBytes) {
            report("session '" + sums.name + "': its head counts " + sums.ordinary + " ordinary arrivals and "
                    + sums.ordinaryBytes + " bytes, its rows " + ordinary[0] + " and " + ordinary[1]);
        }
    }

    /** Adds count and bytes of a page's ordinary arrivals to {@code ordinary}; answers the last number read. */
    private long arrivalsAfter(Sums sums, long after, long[] ordinary) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT " + ArrivalRow.COLUMNS + ", body FROM arrival WHERE sid = ? AND no > ? AND no <= ?"
                        + " ORDER BY no LIMIT ?",
                sums.sid,
                after,
                sums.lastArrival,
                PAGE);
        long at = after;
        try (ResultSet row = sql.page(select, Reads.AT_ONCE)) {
            while (row.next()) {
                arrivals++;
                gap("arrival", sums.name, at, row.getLong(2));
                at = row.getLong(2);
                try {
                    ArrivalRow header = ArrivalRow.read(row, sums.name.value());
                    ArrivalKind kind = header.kind(sums.name.value());
                    if (kind.urgent() != (header.urgent() == 1)) {
                        report("table arrival, session '" + sums.name + "', number " + at + ": a " + kind
                                + " is marked as " + (kind.urgent() ? "not urgent" : "urgent"));
                    }
                    if (kind.counted()) {
                        ordinary[0]++;
                        ordinary[1] += header.bytes();
                    }
                    header.withBody(Reads.body(sql, row, header, sums.name), sums.name.value());
                } catch (JournalException e) {
                    report(String.valueOf(e.getMessage()));
                }
            }
        }
        return at;
    }

    private void events(Sums sums) throws SQLException {
        long at = 0;
        while (at < sums.seq) {
            long reached = eventsAfter(sums, at);
            if (reached == at) {
                gap("journal", sums.name, at, sums.seq + 1);
                break;
            }
            at = reached;
        }
        PreparedStatement select =
                sql.bind("SELECT " + EventRow.SNAPSHOT_COLUMNS + " FROM snapshot WHERE sid = ?", sums.sid);
        try (ResultSet row = sql.page(select, Reads.AT_ONCE)) {
            if (row.next()) {
                EventRow.readSnapshot(row, sums.sid, sums.name.value());
            }
        } catch (JournalException e) {
            report(String.valueOf(e.getMessage()));
        }
    }

    private long eventsAfter(Sums sums, long after) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT " + EventRow.COLUMNS + " FROM journal WHERE sid = ? AND seq > ? AND seq <= ?"
                        + " ORDER BY seq LIMIT ?",
                sums.sid,
                after,
                sums.seq,
                PAGE);
        long at = after;
        try (ResultSet row = sql.page(select, Reads.AT_ONCE)) {
            while (row.next()) {
                events++;
                gap("journal", sums.name, at, row.getLong(1));
                at = row.getLong(1);
                try {
                    StoredEvent event = EventRow.read(row, sums.sid, sums.name.value());
                    if (event.epoch() > sums.epoch) {
                        report("session '" + sums.name + "': event " + at + " is of epoch " + event.epoch()
                                + ", the session is at " + sums.epoch);
                    }
                } catch (JournalException e) {
                    report(String.valueOf(e.getMessage()));
                }
            }
        }
        return at;
    }

    private void blobs(Sums sums) throws SQLException {
        PreparedStatement select = sql.bind("SELECT digest, bytes FROM blob WHERE sid = ?", sums.sid);
        try (ResultSet row = sql.page(select, BLOBS)) {
            while (row.next()) {
                blobs++;
                if (!Arrays.equals(Statements.bytes(row, 1), Sha256.of(Statements.bytes(row, 2)))) {
                    report("table blob, session '" + sums.name + "': a body does not have the digest it is kept under");
                }
            }
        }
    }

    /** Addresses change, so they are read together with the last arrival, in one statement. */
    private void addresses(Sums sums) throws SQLException {
        PreparedStatement select = sql.bind(
                "SELECT " + AddressRow.COLUMNS + ", (SELECT last_arrival FROM session s WHERE s.sid = address.sid)"
                        + " FROM address WHERE sid = ? ORDER BY claimed_no",
                sums.sid);
        int claimed = 0;
        try (ResultSet row = sql.page(select, Reads.AT_ONCE)) {
            while (row.next()) {
                try {
                    AddressRow address = AddressRow.read(row);
                    claimed += address.releasedNo().isEmpty() ? 1 : 0;
                    if (address.releasedNo().orElse(0) > row.getLong(8)) {
                        report("table address, session '" + sums.name + "': claim " + address.claimedNo()
                                + " was released after arrival "
                                + address.releasedNo().getAsLong()
                                + ", there are only " + row.getLong(8));
                    }
                } catch (JournalException e) {
                    report(String.valueOf(e.getMessage()));
                }
            }
        }
        if (claimed > Address.PER_SESSION_MAX) {
            report("session '" + sums.name + "' has " + claimed + " addresses; at most " + Address.PER_SESSION_MAX
                    + " may be claimed");
        }
    }

    private void gap(String table, SessionName session, long before, long found) {
        if (found != before + 1) {
            report("table " + table + ", session '" + session + "': numbers " + (before + 1) + " to " + (found - 1)
                    + " are missing");
        }
    }
}
