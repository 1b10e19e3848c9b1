package dev.holdfast.journal;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.MessageId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A row of table {@code arrival} without its body. */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
record ArrivalRow(
        long sid,
        long number,
        byte[] messageId,
        int kind,
        int urgent,
        byte @Nullable [] keyHash,
        byte[] fingerprint,
        long acceptedAt,
        OptionalLong boundTurn,
        long boundAfter,
        byte[] header,
        long bytes,
        long bodyCrc,
        byte @Nullable [] bodyDigest) {
    /** The columns {@link #read} expects, in its order, without the body. */
    static final String COLUMNS = "sid, no, message_id, kind, urgent, key_hash, fingerprint, accepted_at, bound_turn,"
            + " bound_after, header, bytes, body_crc, body_digest, crc";

    /** Where the body stands when it is read as well. */
    static final int BODY_COLUMN = 16;

    private static final int CRC_COLUMN = 15;

    /** Longer bodies lie in table {@code blob}, once per content. */
    private static final int INLINE_BYTES = 64 << 10;

    /** The digest under which a body lies in {@code blob}; null when it lies in its row. */
    static byte @Nullable [] bodyDigest(byte[] body) {
        return body.length > INLINE_BYTES ? Sha256.of(body) : null;
    }

    void insert(Statements sql, byte[] body) throws SQLException {
        if (bodyDigest != null) {
            sql.bind(
                            "INSERT INTO blob(sid, digest, bytes) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                            sid,
                            bodyDigest,
                            body)
                    .executeUpdate();
        }
        sql.bind(
                        "INSERT INTO arrival(" + COLUMNS
                                + ", body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        sid,
                        number,
                        messageId,
                        kind,
                        urgent,
                        keyHash,
                        fingerprint,
                        acceptedAt,
                        boundTurn,
                        boundAfter,
                        header,
                        bytes,
                        bodyCrc,
                        bodyDigest,
                        crc(),
                        bodyDigest == null ? body : null)
                .executeUpdate();
    }

    long crc() {
        return new RowCrc()
                .add(sid)
                .add(number)
                .add(messageId)
                .add(kind)
                .add(urgent)
                .add(keyHash)
                .add(fingerprint)
                .add(acceptedAt)
                .add(boundTurn)
                .add(boundAfter)
                .add(header)
                .add(bytes)
                .add(bodyCrc)
                .add(bodyDigest)
                .value();
    }

    /**
     * Reads the row the cursor stands on.
     *
     * @throws JournalException DAMAGED when the row is not what was written
     */
    static ArrivalRow read(ResultSet row, String session) throws SQLException {
        ArrivalRow result = new ArrivalRow(
                row.getLong(1),
                row.getLong(2),
                Statements.bytes(row, 3),
                row.getInt(4),
                row.getInt(5),
                row.getBytes(6),
                Statements.bytes(row, 7),
                row.getLong(8),
                Statements.maybe(row, 9),
                row.getLong(10),
                Statements.bytes(row, 11),
                row.getLong(12),
                row.getLong(13),
                row.getBytes(14));
        if (result.crc() != row.getLong(CRC_COLUMN)) {
            throw damaged(session, result.number, "row");
        }
        return result;
    }

    Arrival withBody(byte[] body, String session) {
        if (body.length != bytes || RowCrc.of(body) != bodyCrc) {
            throw damaged(session, number, "body");
        }
        return arrival(body, session);
    }

    Arrival withoutBody(String session) {
        return arrival(new byte[0], session);
    }

    MessageId id() {
        return new MessageId(Uuids.of(messageId));
    }

    boolean meansTheSame(byte[] otherFingerprint) {
        return Arrays.equals(fingerprint, otherFingerprint);
    }

    private Arrival arrival(byte[] body, String session) {
        return new Arrival(
                number, id(), kind(session), Micros.toInstant(acceptedAt), boundTurn, boundAfter, header, body, bytes);
    }

    /** @throws JournalException NEWER_FORMAT when this version does not know the kind */
    ArrivalKind kind(String session) {
        try {
            return ArrivalKind.ofCode(kind);
        } catch (IllegalArgumentException e) {
            throw new JournalException(
                    Problem.NEWER_FORMAT, "arrival " + number + " of session '" + session + "': " + e.getMessage(), e);
        }
    }

    private static JournalException damaged(String session, long number, String part) {
        return Damage.of("arrival", session, number, "its " + part + " is not what was written");
    }
}
