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
 * Accepts a delivery (P1): key looked up, address, admission and limits checked, number given, session marked ready.
 * Digests and checksums of the payload are taken on the caller's thread, where this object is made.
 */
final class Acceptance extends Write<Receipt> {
    /** Headers are read with the queue. */
    static final int HEADER_BYTES = 64 << 10;

    static final String BY_KEY = "SELECT " + ArrivalRow.COLUMNS + " FROM arrival WHERE sid = ? AND key_hash = ?";

    final Delivery delivery;
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
        this.bodyDigest = ArrivalRow.bodyDigest(delivery.body());
        this.bodyCrc = RowCrc.of(delivery.body());
    }

    @Override
    protected Receipt apply(WriteStore store) throws SQLException {
        Head head = store.find(delivery.session());
        return head == null || head.admission == Head.DELETED
                ? new Receipt.UnknownSession(delivery.session())
                : accept(store, head, head.busy());
    }

    /** @param busy why a delivery that wants an idle session is refused, if it is (TN-09) */
    Receipt accept(WriteStore store, Head head, Optional<Receipt> busy) throws SQLException {
        Optional<Receipt> earlier = earlier(store, head);
        if (earlier.isPresent()) {
            return earlier.get();
        }
        Optional<AddressRow> through = delivery.address().isPresent()
                ? AddressRow.find(store.sql(), delivery.address().get())
                : Optional.empty();
        Optional<Receipt> refusal = addressed(head, through)
                .or(() -> refusal(head))
                .or(() -> delivery.onlyIdle() ? busy : Optional.empty())
                .or(() -> full(head));
        if (refusal.isPresent()) {
            return refusal.get();
        }
        Receipt.Accepted accepted = insert(store, head);
        if (through.isPresent() && through.get().once()) {
            through.get().released(accepted.number()).put(store.sql());
        }
        return accepted;
    }

    /** Whether the address it came through is the session's and takes its kind (IN-01, IN-10, IN-20). */
    private Optional<Receipt> addressed(Head head, Optional<AddressRow> through) {
        if (delivery.address().isEmpty()) {
            return Optional.empty();
        }
        if (through.isEmpty()
                || through.get().sid() != head.sid
                || through.get().releasedNo().isPresent()) {
            return Optional.of(new Receipt.Released(delivery.address().get()));
        }
        return through.get().takes(delivery.kind())
                ? Optional.empty()
                : Optional.of(new Receipt.Refused("the address it was sent to takes "
                        + through.get().kinds() + ", not " + AddressRow.word(delivery.kind())));
    }

    /** The receipt the same key was given before, in an earlier commit or in this one (IN-12). */
    Optional<Receipt> earlier(WriteStore store, Head head) throws SQLException {
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
        boolean waits = delivery.kind().counted();
        return head.admission == Head.CLOSED || (head.admission == Head.NOT_NOW && waits)
                ? Optional.of(new Receipt.Refused(head.admissionReason))
                : Optional.empty();
    }

    private Optional<Receipt> full(Head head) {
        int size = delivery.body().length;
        if (!delivery.kind().counted()) {
            return Optional.empty();
        }
        if (head.unread() >= head.unreadLimit) {
            return Optional.of(new Receipt.Full(head.unread(), head.unreadLimit, "messages"));
        }
        return size > head.unreadBytesLimit - head.unreadBytes()
                ? Optional.of(new Receipt.Full(head.unreadBytes(), head.unreadBytesLimit, "bytes"))
                : Optional.empty();
    }

    private Receipt.Accepted insert(WriteStore store, Head head) throws SQLException {
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
        row.insert(store.sql(), body);
        head.lastArrival = row.number();
        if (urgent) {
            head.lastUrgent = row.number();
        }
        if (delivery.kind().counted()) {
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

    @Override
    long bytes() {
        return (long) delivery.body().length + delivery.header().length;
    }

    @Override
    boolean turnAway(String why) {
        return stage().complete(new Receipt.Refused(why));
    }
}
