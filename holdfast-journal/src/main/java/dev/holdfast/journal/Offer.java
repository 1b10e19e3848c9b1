package dev.holdfast.journal;

import dev.holdfast.Delivery;
import dev.holdfast.Receipt;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A delivery as a store sees it, whatever it is stored in: whether it is accepted into a session in a given state, as
 * which row, and what that changes. Digests and checksums of the payload are taken on the caller's thread, where this
 * object is made. Immutable.
 */
final class Offer {
    /** Headers are read with the queue. */
    static final int HEADER_BYTES = 64 << 10;

    private final Delivery delivery;
    private final long bodyLimit;
    private final byte[] messageId;
    private final byte @Nullable [] keyHash;
    private final byte @Nullable [] bodyDigest;
    private final long bodyCrc;

    /** @throws IllegalArgumentException when the header is too long */
    Offer(Delivery delivery, long bodyLimit) {
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

    Delivery delivery() {
        return delivery;
    }

    /** SHA-256 of the sender's key; null without one. */
    byte @Nullable [] keyHash() {
        return keyHash;
    }

    /** What is said when {@code first} was accepted with the same key (IN-12). */
    Receipt given(ArrivalRow first) {
        return first.meansTheSame(delivery.fingerprint())
                ? new Receipt.Duplicate(first.id(), first.number(), Micros.toInstant(first.acceptedAt()))
                : new Receipt.KeyConflict(first.number());
    }

    /**
     * Why it is not accepted; absent when it is.
     *
     * @param through the address it came through, as it is in the store
     * @param busy why a delivery that wants an idle session is refused, if it is (TN-09)
     */
    Optional<Receipt> refusal(Head head, Optional<AddressRow> through, Optional<Receipt> busy) {
        return addressed(head, through)
                .or(() -> admitted(head))
                .or(() -> delivery.onlyIdle() ? busy : Optional.empty())
                .or(() -> full(head));
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

    private Optional<Receipt> admitted(Head head) {
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

    /** Its row, as the next arrival of the session. */
    ArrivalRow row(Head head, long now) {
        boolean urgent = delivery.kind().urgent();
        return new ArrivalRow(
                head.sid,
                head.lastArrival + 1,
                messageId,
                delivery.kind().code(),
                urgent ? 1 : 0,
                keyHash,
                delivery.fingerprint(),
                now,
                urgent ? head.openTurn : OptionalLong.empty(),
                urgent ? head.takenThrough : 0,
                delivery.header(),
                delivery.body().length,
                bodyCrc,
                bodyDigest);
    }

    /** Counts the row, and marks the session ready (IN-21). */
    Receipt.Accepted accept(Head head, ArrivalRow row) {
        head.lastArrival = row.number();
        if (delivery.kind().urgent()) {
            head.lastUrgent = row.number();
        }
        if (delivery.kind().counted()) {
            head.ordinary++;
            head.ordinaryBytes += row.bytes();
        }
        if (head.readyAt.isEmpty()) {
            head.ready(OptionalLong.of(row.acceptedAt()));
        }
        head.sessionChanged = true;
        return new Receipt.Accepted(delivery.id(), row.number(), Micros.toInstant(row.acceptedAt()));
    }

    /** Bytes of payload. */
    long bytes() {
        return (long) delivery.body().length + delivery.header().length;
    }
}
