package dev.holdfast.bench;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The statements with which the journal accepts messages, in a loop on one thread: key looked up, row inserted, session
 * updated, commit number written, one commit per batch. No hand-off, no checksum, no head file.
 */
final class PlainSql implements AutoCloseable {
    private static final long CHECKPOINT_BYTES = 8L << 20;
    private static final long COMMIT_BYTES = 24L << 10;

    private final Connection connection;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private final Map<String, Head> heads = new HashMap<>();
    private long commit;
    private long sinceCheckpoint;

    private static final class Head {
        final long sid;
        long arrivals;
        long bytes;

        Head(long sid) {
            this.sid = sid;
        }
    }

    /** Opens a database that a journal has created, with all its sessions, and has closed again. */
    PlainSql(Path database) throws SQLException {
        var settings = new Properties();
        settings.put("journal_mode", "WAL");
        settings.put("synchronous", "FULL");
        settings.put("wal_autocheckpoint", "0");
        settings.put("temp_store", "MEMORY");
        settings.put("cache_size", "-16384");
        connection = DriverManager.getConnection("jdbc:sqlite:" + database, settings);
        try (var rows = prepare("SELECT sid, name FROM session").executeQuery()) {
            while (rows.next()) {
                heads.put(rows.getString(2), new Head(rows.getLong(1)));
            }
        }
        commit = 1_000_000;
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement known = prepared.get(sql);
        if (known == null) {
            known = connection.prepareStatement(sql);
            prepared.put(sql, known);
        }
        return known;
    }

    /** Accepts one batch as one commit. */
    void batch(List<Sends.Send> sends) throws SQLException {
        long now = System.currentTimeMillis() * 1000;
        prepare("BEGIN IMMEDIATE").execute();
        query(prepare("PRAGMA data_version"));
        var changed = new LinkedHashMap<String, Head>();
        long bytes = 0;
        for (var send : sends) {
            Head head = heads.get(send.session().value());
            if (head == null) {
                throw new IllegalStateException("session " + send.session() + " was not opened");
            }
            lookUp(head, send);
            insert(head, send, now);
            changed.put(send.session().value(), head);
            bytes += send.body().length + send.header().length;
        }
        for (Head head : changed.values()) {
            update(head);
        }
        var meta = prepare("INSERT INTO meta(name, value) VALUES(?, ?)"
                + " ON CONFLICT(name) DO UPDATE SET value = excluded.value");
        meta.setString(1, "commit_no");
        meta.setBytes(2, Long.toString(++commit).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        meta.executeUpdate();
        prepare("COMMIT").execute();
        sinceCheckpoint += bytes + COMMIT_BYTES;
        if (sinceCheckpoint >= CHECKPOINT_BYTES) {
            sinceCheckpoint = 0;
            query(prepare("PRAGMA wal_checkpoint(PASSIVE)"));
        }
    }

    private static boolean query(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            return rows.next();
        }
    }

    private void lookUp(Head head, Sends.Send send) throws SQLException {
        var select = prepare("SELECT sid, no, message_id, kind, urgent, key_hash, fingerprint, accepted_at,"
                + " bound_turn, bound_after, header, bytes, body_crc, body_digest, crc FROM arrival"
                + " WHERE sid = ? AND key_hash = ?");
        select.setLong(1, head.sid);
        select.setBytes(2, send.keyHash());
        if (query(select)) {
            throw new IllegalStateException("the key of a send was used before");
        }
    }

    private void insert(Head head, Sends.Send send, long now) throws SQLException {
        var insert = prepare("INSERT INTO arrival(sid, no, message_id, kind, urgent, key_hash, fingerprint,"
                + " accepted_at, bound_turn, bound_after, header, bytes, body_crc, body_digest, crc, body)"
                + " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        insert.setLong(1, head.sid);
        insert.setLong(2, ++head.arrivals);
        insert.setBytes(3, send.messageId());
        insert.setInt(4, 1);
        insert.setInt(5, 0);
        insert.setBytes(6, send.keyHash());
        insert.setBytes(7, send.fingerprint());
        insert.setLong(8, now);
        insert.setNull(9, java.sql.Types.NULL);
        insert.setLong(10, 0);
        insert.setBytes(11, send.header());
        insert.setLong(12, send.body().length);
        insert.setLong(13, 3_000_000_000L);
        insert.setNull(14, java.sql.Types.NULL);
        insert.setLong(15, 3_000_000_000L);
        insert.setBytes(16, send.body());
        insert.executeUpdate();
        head.bytes += send.body().length;
    }

    private void update(Head head) throws SQLException {
        var update = prepare("UPDATE session SET last_arrival = ?, ordinary = ?, ordinary_bytes = ?, admission = ?,"
                + " admission_reason = ? WHERE sid = ?");
        update.setLong(1, head.arrivals);
        update.setLong(2, head.arrivals);
        update.setLong(3, head.bytes);
        update.setInt(4, 0);
        update.setString(5, "");
        update.setLong(6, head.sid);
        update.executeUpdate();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
