package dev.holdfast;

import java.util.Optional;

/**
 * What a sender gives to the store.
 *
 * @param key the sender's idempotency key
 * @param fingerprint digest of what the sender meant: kind, payload and author, not surface and not time
 * @param header small, read with the queue: author, surface, options
 * @param body the payload; read only when its turn comes
 * @param address the address it came through, absent for the session's own: looked at in the accepting transaction
 * @param onlyIdle refuse it when a turn is open or anything counted is unread (TN-09); looked at there as well
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record Delivery(
        SessionName session,
        MessageId id,
        ArrivalKind kind,
        Optional<String> key,
        byte[] fingerprint,
        byte[] header,
        byte[] body,
        Optional<String> address,
        boolean onlyIdle) {
    /** A delivery to the session's own address. */
    public Delivery(
            SessionName session,
            MessageId id,
            ArrivalKind kind,
            Optional<String> key,
            byte[] fingerprint,
            byte[] header,
            byte[] body) {
        this(session, id, kind, key, fingerprint, header, body, Optional.empty(), false);
    }
}
