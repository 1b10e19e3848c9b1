package dev.holdfast;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Ownership of one session under one epoch. Used by one owner, which appends one batch at a time. */
public interface Claim {
    SessionName session();

    long epoch();

    /** What to rebuild the state from: the newest usable snapshot and every event after it. */
    Recovered recovered();

    /**
     * Whether this node may still act for the session: false once its lease has run out or a newer claim is known. Asked
     * right before an effect outside of the store; never blocks (P3).
     */
    default boolean holds() {
        return true;
    }

    /** Appends; a repeated batch (same id) is recognised and answered as before. Exceptional completion is fail-stop. */
    CompletionStage<Appended> append(Batch batch);

    /** Gives the ownership back. The claim is unusable afterwards. */
    CompletionStage<Void> resign(Optional<SnapshotRecord> last);

    /** @param seq the last sequence number in the store; 0 when there are no events */
    record Recovered(Optional<SnapshotRecord> snapshot, List<StoredEvent> tail, long seq) {
        public Recovered {
            tail = List.copyOf(tail);
        }
    }

    /** The answer to an append. */
    sealed interface Appended {
        /** Committed; {@code seq} is the last event's number. */
        record Committed(long seq) implements Appended {}

        /** Refused: someone else owns the session now. Nothing was stored. */
        record Fenced(long newerEpoch) implements Appended {}

        /**
         * Refused: an urgent arrival that the owner has not read was accepted before (IN-13). Nothing was stored; read it,
         * and decide again.
         */
        record Behind(long urgentArrival) implements Appended {}
    }
}
