package dev.holdfast;

import java.util.Optional;

/**
 * What a sender gives to the store.
 *
 * @param key the sender's idempotency key
 * @param fingerprint digest of what the sender meant: kind, payload and author, not surface and not time
 * @param header small, read with the queue: author, surface, options
 * @param body the payload; read only when its turn comes
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record Delivery(
        SessionName session,
        MessageId id,
        ArrivalKind kind,
        Optional<String> key,
        byte[] fingerprint,
        byte[] header,
        byte[] body) {}
