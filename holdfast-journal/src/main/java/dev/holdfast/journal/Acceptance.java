package dev.holdfast.journal;

import dev.holdfast.Delivery;
import dev.holdfast.Receipt;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Accepts a delivery (P1): key looked up, admission and limits checked, number given, session marked ready. Digests and
 * checksums of the payload are taken on the caller's thread, where this object is made.
 */
final class Acceptance extends Write<Receipt> {
    /** Longer bodies lie in table {@code blob}, once per content. */
    static final int INLINE_BYTES = 64 << 10;
    /** Headers are read with the queue. */
    static final int HEADER_BYTES = 64 << 10;

    static final String BY_KEY = "SELECT " + ArrivalRow.COLUMNS + " FROM arrival WHERE sid = ? AND key_hash = ?";

    private final Delivery delivery;
    private final long bodyLimit;
    private final byte[] messageId;
    private final byte @Nullable [] keyHash;
    private final byte @Nullable [] bodyDigest;
    private final long bodyCrc;

    Acceptance(Delivery delivery, long bodyLimit) {
        if (delivery.header().length > HEADER_BYTES) {
            throw new IllegalArgumentException("a header has at most " + HEADER_BYTES + " bytes; this one has "
                    + delivery.header().length + ". What is long belongs into the body");
        }
        this.delivery = delivery;
        this.bodyLimit = bodyLimit;
        this.messageId = Uuids.bytes(delivery.id().value());
        this.keyHash = delivery.key()
                .map(key -> Sha256.of(key.getBytes(StandardCharsets.UTF_8)))
                .orElse(null);
        this.bodyDigest = delivery.body().length > INLINE_BYTES ? Sha256.of(delivery.body()) : null;
        this.bodyCrc = RowCrc.of(delivery.body());
    }

    @Override
    protected Receipt apply(WriteStore store) throws SQLException {
        Head head = store.find(delivery.session());
        if (head == null || head.admission == Head.DELETED) {
            return new Receipt.UnknownSession(delivery.session());
        }
        Optional<Receipt> earlier = earlier(store, head);
        if (earlier.isPresent()) {
            return earlier.get();
        }
        Optional<Receipt> refusal = refusal(head);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        return insert(store, head);
    }

    /** The receipt the same key was given before, in an earlier commit or in this one (IN-12). */
    private Optional<Receipt> earlier(WriteStore store, Head head) throws SQLException {
        if (keyHash == null) {
            return Optional.empty();
        }
        PreparedStatement select = store.sql().bind(BY_KEY, head.sid, keyHash);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            ArrivalRow first = ArrivalRow.read(row, head.name);
            return Optional.of(
                    first.meansTheSame(delivery.fingerprint())
                            ? new Receipt.Duplicate(first.id(), first.number(), Micros.toInstant(first.acceptedAt()))
                            : new Receipt.KeyConflict(first.number()));
        }
    }

    private Optional<Receipt> refusal(Head head) {
        int size = delivery.body().length;
        if (size > bodyLimit) {
            return Optional.of(new Receipt.Refused(
                    "the message has " + size + " bytes; at most " + bodyLimit + " are taken in one message"));
        }
        boolean urgent = delivery.kind().urgent();
        if (head.admission == Head.CLOSED || (head.admission == Head.NOT_NOW && !urgent)) {
            return Optional.of(new Receipt.Refused(head.admissionReason));
        }
        if (urgent) {
            return Optional.empty();
        }
        if (head.unread() >= head.unreadLimit) {
            return Optional.of(new Receipt.Full(head.unread(), head.unreadLimit, "messages"));
        }
        if (size > head.unreadBytesLimit - head.unreadBytes()) {
            return Optional.of(new Receipt.Full(head.unreadBytes(), head.unreadBytesLimit, "bytes"));
        }
        return Optional.empty();
    }

    private Receipt insert(WriteStore store, Head head) throws SQLException {
        boolean urgent = delivery.kind().urgent();
        byte[] body = delivery.body();
        ArrivalRow row = new ArrivalRow(
                head.sid,
                head.lastArrival + 1,
                messageId,
                delivery.kind().code(),
                urgent ? 1 : 0,
                keyHash,
                delivery.fingerprint(),
                store.now(),
                urgent ? head.openTurn : OptionalLong.empty(),
                urgent ? head.takenThrough : 0,
                delivery.header(),
                body.length,
                bodyCrc,
                bodyDigest);
        write(store.sql(), row, body);
        head.lastArrival++;
        if (!urgent) {
            head.ordinary++;
            head.ordinaryBytes += body.length;
        }
        if (head.readyAt.isEmpty()) {
            head.ready(OptionalLong.of(store.now()));
        }
        head.sessionChanged = true;
        store.arrived(delivery.session());
        return new Receipt.Accepted(delivery.id(), row.number(), Micros.toInstant(row.acceptedAt()));
    }

    private static void write(Statements sql, ArrivalRow row, byte[] body) throws SQLException {
        byte @Nullable [] digest = row.bodyDigest();
        if (digest != null) {
            sql.bind(
                            "INSERT INTO blob(sid, digest, bytes) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                            row.sid(),
                            digest,
                            body)
                    .executeUpdate();
        }
        sql.bind(
                        "INSERT INTO arrival(" + ArrivalRow.COLUMNS
                                + ", body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                        digest == null ? body : null)
                .executeUpdate();
    }

    @Override
    long bytes() {
        return (long) delivery.body().length + delivery.header().length;
    }

    @Override
    boolean turnAway(String why) {
        return stage().complete(new Receipt.Refused(why));
    }
}
