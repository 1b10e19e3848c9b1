package dev.holdfast;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A whole session as a store holds it, for a move between stores (MB-22): read in one transaction, written in one.
 *
 * @param arrivals every one from number 1, with bodies
 * @param events every one from sequence number 1
 * @param addresses in claim order
 */
public record SessionImage(
        SessionName name,
        SessionLimits limits,
        boolean admitting,
        String admissionReason,
        List<StoredArrival> arrivals,
        List<StoredEvent> events,
        Head head,
        List<Address> addresses) {
    public SessionImage {
        arrivals = List.copyOf(arrivals);
        events = List.copyOf(events);
        addresses = List.copyOf(addresses);
    }

    /** As it is in the store. */
    @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
    public record StoredArrival(Arrival arrival, Optional<byte[]> keyHash, byte[] fingerprint) {}

    /** What the owner's last append left. */
    public record Head(
            long epoch,
            long seq,
            long takenThrough,
            long ordinaryDone,
            long ordinaryDoneBytes,
            Optional<Instant> dueAt,
            OptionalLong openTurn,
            boolean ready,
            Batch.Summary summary) {}
}
