package dev.holdfast;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What an owner appends in one commit.
 *
 * @param id makes a retry recognisable
 * @param expectedSeq the last sequence number the owner knows
 * @param events at least one
 * @param admission the new admission; absent for unchanged
 * @param takenThrough every arrival up to here is named by an event
 * @param ordinaryDone count of ordinary messages named so far, since the session began
 * @param ordinaryDoneBytes their bytes
 * @param quietThrough when present: no turn is open and nothing up to this arrival number is unread, so the session is no
 *     longer ready unless a later arrival came in (IN-21)
 * @param dueAt the earliest durable deadline
 * @param openTurn the turn in flight, which an unnamed cancel binds to (IN-06)
 * @param urgentThrough when present: append only if no urgent arrival above this number was accepted (IN-13)
 * @param summary for listings
 * @param snapshot written in the same commit when due; its {@code seq} is that of the last event of this batch
 */
public record Batch(
        UUID id,
        long expectedSeq,
        List<EventRecord> events,
        Optional<Admission> admission,
        long takenThrough,
        long ordinaryDone,
        long ordinaryDoneBytes,
        OptionalLong quietThrough,
        Optional<Instant> dueAt,
        OptionalLong openTurn,
        OptionalLong urgentThrough,
        Summary summary,
        Optional<SnapshotRecord> snapshot) {
    public Batch {
        events = List.copyOf(events);
        if (events.isEmpty()) {
            throw new IllegalArgumentException("a batch without events cannot be appended");
        }
    }

    /** Whether senders are let in, and what they are told if not. */
    public record Admission(boolean open, String reason) {}

    /** Figures for listings; {@code lastWords} at most 200 characters, {@code phaseReason} at most 500. */
    public record Summary(
            String phase, String phaseReason, Optional<Instant> turnSince, OptionalLong costMicros, String lastWords) {}
}
