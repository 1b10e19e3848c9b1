package dev.holdfast.journal;

import dev.holdfast.EventRecord;
import dev.holdfast.SnapshotRecord;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction inserts, sent table by table. The driver makes one statement of the rows of a table, in which a
 * row cannot be replaced twice: of rows that replace others only the last is sent.
 */
final class PostgresRows {
    /** Rows that may wait to be sent. */
    private static final int MOST = 4_000;

    private static final String BLOB = "INSERT INTO blob(sid, digest, bytes) VALUES(?, ?, ?) ON CONFLICT DO NOTHING";
    private static final String ARRIVAL = "INSERT INTO arrival(" + ArrivalRow.COLUMNS
            + ", body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final String EVENT =
            "INSERT INTO journal(sid, " + EventRow.COLUMNS + ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)";
    private static final String SNAPSHOT = "INSERT INTO snapshot(sid, " + EventRow.SNAPSHOT_COLUMNS
            + ") VALUES(?, ?, ?, ?, ?) ON CONFLICT(sid) DO UPDATE SET seq = excluded.seq, version = excluded.version,"
            + " crc = excluded.crc, body = excluded.body";

    private static final String ADDRESS = "INSERT INTO address(" + AddressRow.COLUMNS
            + ") VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(token) DO UPDATE SET sid = excluded.sid,"
            + " claimed_no = excluded.claimed_no, accepts = excluded.accepts, once = excluded.once,"
            + " released_no = excluded.released_no, crc = excluded.crc";

    private final PostgresSql sql;
    private final Set<String> statements = new LinkedHashSet<>();
    private final Map<Long, SnapshotRecord> snapshots = new LinkedHashMap<>();
    private final Map<String, AddressRow> addresses = new LinkedHashMap<>();
    private int added;

    PostgresRows(PostgresSql sql) {
        this.sql = sql;
    }

    private void add(String statement, @Nullable Object... values) throws SQLException {
        sql.add(statement, values);
        statements.add(statement);
        added++;
        if (added >= MOST) {
            send();
        }
    }

    /** An arrival; a body that has a digest goes to {@code blob}. */
    void arrival(ArrivalRow row, byte[] body) throws SQLException {
        byte @Nullable [] digest = row.bodyDigest();
        if (digest != null) {
            add(BLOB, row.sid(), digest, body);
        }
        add(
                ARRIVAL,
                row.sid(),
                row.number(),
                row.messageId(),
                row.kind(),
                row.urgent(),
                row.keyHash(),
                row.fingerprint(),
                row.acceptedAt(),
                row.boundTurn(),
                row.boundAfter(),
                row.header(),
                row.bytes(),
                row.bodyCrc(),
                digest,
                row.crc(),
                digest == null ? body : null);
    }

    void event(long sid, long seq, long epoch, long at, EventRecord event) throws SQLException {
        add(
                EVENT,
                sid,
                seq,
                epoch,
                at,
                PostgresSql.utf8(event.type()),
                event.version(),
                event.turn(),
                EventRow.crc(sid, seq, epoch, at, event),
                event.body());
    }

    /** A snapshot; one that was kept before is replaced. */
    void snapshot(long sid, SnapshotRecord snapshot) {
        snapshots.put(sid, snapshot);
    }

    /** An address; one that was released before is taken over. */
    void address(AddressRow row) {
        addresses.put(row.token(), row);
    }

    /** Sends what is left, and what replaces others. */
    void sendAll() throws SQLException {
        for (Map.Entry<Long, SnapshotRecord> entry : snapshots.entrySet()) {
            long sid = entry.getKey();
            SnapshotRecord snapshot = entry.getValue();
            sql.add(SNAPSHOT, sid, snapshot.seq(), snapshot.version(), EventRow.crc(sid, snapshot), snapshot.body());
            statements.add(SNAPSHOT);
        }
        for (AddressRow row : addresses.values()) {
            sql.add(
                    ADDRESS,
                    PostgresSql.utf8(row.token()),
                    row.sid(),
                    row.claimedNo(),
                    row.accepts(),
                    row.once() ? 1 : 0,
                    row.releasedNo(),
                    row.crc());
            statements.add(ADDRESS);
        }
        send();
    }

    private void send() throws SQLException {
        for (String statement : statements) {
            sql.send(statement);
        }
        statements.clear();
        added = 0;
    }
}
