package dev.holdfast.journal;

import dev.holdfast.EventRecord;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Rows of the tables {@code journal} and {@code snapshot}: their columns and their checksums. */
final class EventRow {
    static final String COLUMNS = "seq, epoch, at, type, version, turn, crc, body";
    static final String SNAPSHOT_COLUMNS = "seq, version, crc, body";

    private EventRow() {}

    static long crc(long sid, long seq, long epoch, long at, EventRecord event) {
        return new RowCrc()
                .add(sid)
                .add(seq)
                .add(epoch)
                .add(at)
                .add(event.type())
                .add(event.version())
                .add(event.turn())
                .add(event.body())
                .value();
    }

    static long crc(long sid, SnapshotRecord snapshot) {
        return new RowCrc()
                .add(sid)
                .add(snapshot.seq())
                .add(snapshot.version())
                .add(snapshot.body())
                .value();
    }

    static void insert(Statements sql, long sid, long seq, long epoch, long at, EventRecord event) throws SQLException {
        sql.bind(
                        "INSERT INTO journal(sid, " + COLUMNS + ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        sid,
                        seq,
                        epoch,
                        at,
                        event.type(),
                        event.version(),
                        event.turn(),
                        crc(sid, seq, epoch, at, event),
                        event.body())
                .executeUpdate();
    }

    static StoredEvent read(ResultSet row, long sid, String session) throws SQLException {
        long seq = row.getLong(1);
        long epoch = row.getLong(2);
        long at = row.getLong(3);
        EventRecord event = new EventRecord(
                Statements.text(row, 4), row.getInt(5), Statements.maybe(row, 6), Statements.bytes(row, 8));
        if (crc(sid, seq, epoch, at, event) != row.getLong(7)) {
            throw Damage.of("journal", session, seq, "the event is not what was written");
        }
        return new StoredEvent(seq, epoch, Micros.toInstant(at), event);
    }

    static SnapshotRecord readSnapshot(ResultSet row, long sid, String session) throws SQLException {
        SnapshotRecord snapshot = new SnapshotRecord(row.getLong(1), row.getInt(2), Statements.bytes(row, 4));
        if (crc(sid, snapshot) != row.getLong(3)) {
            throw Damage.of("snapshot", session, snapshot.seq(), "the snapshot is not what was written");
        }
        return snapshot;
    }
}
