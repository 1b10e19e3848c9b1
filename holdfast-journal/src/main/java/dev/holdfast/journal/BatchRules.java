package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.util.OptionalLong;

/** What an owner's batch may say, and what it changes in a session's head, whatever that is stored in. */
final class BatchRules {
    /** The phase in which a session that is not admitting is closed for good. */
    static final String CLOSED_PHASE = "CLOSED";

    private BatchRules() {}

    /** The number of the batch's last event. */
    static long lastSeq(Batch batch) {
        return batch.expectedSeq() + batch.events().size();
    }

    static OptionalLong dueAt(Batch batch) {
        return batch.dueAt().isPresent()
                ? OptionalLong.of(Micros.up(batch.dueAt().get()))
                : OptionalLong.empty();
    }

    /** Bytes of payload. */
    static long bytes(Batch batch) {
        long sum =
                batch.snapshot().map(snapshot -> (long) snapshot.body().length).orElse(0L);
        for (EventRecord event : batch.events()) {
            sum += event.body().length;
        }
        return sum;
    }

    /** @throws JournalException FAILED when it contradicts what is stored */
    static void check(SessionName session, Batch batch, Head head) {
        if (batch.expectedSeq() != head.seq) {
            throw refused(
                    session,
                    "it expects sequence number " + batch.expectedSeq() + " and the store is at " + head.seq
                            + "; claim the session again and rebuild its state");
        }
        if (batch.takenThrough() < head.takenThrough || batch.takenThrough() > head.lastArrival) {
            throw refused(
                    session,
                    "takenThrough is " + batch.takenThrough() + " and must lie between " + head.takenThrough
                            + ", where it was, and " + head.lastArrival + ", the last arrival");
        }
        if (batch.ordinaryDone() < 0 || batch.ordinaryDone() > head.ordinary) {
            throw refused(
                    session,
                    "ordinaryDone is " + batch.ordinaryDone() + " and " + head.ordinary
                            + " ordinary messages were accepted");
        }
        if (batch.ordinaryDoneBytes() < 0 || batch.ordinaryDoneBytes() > head.ordinaryBytes) {
            throw refused(
                    session,
                    "ordinaryDoneBytes is " + batch.ordinaryDoneBytes() + " and " + head.ordinaryBytes
                            + " bytes were accepted");
        }
        if (batch.snapshot().isPresent() && batch.snapshot().get().seq() != lastSeq(batch)) {
            throw refused(
                    session,
                    "its snapshot is of sequence number "
                            + batch.snapshot().get().seq() + " and must be of its last event, " + lastSeq(batch));
        }
    }

    private static JournalException refused(SessionName session, String why) {
        return new JournalException(Problem.FAILED, "a batch of session '" + session + "' was not appended: " + why);
    }

    /**
     * Whether senders are let in after the batch: one of the codes of {@link Head}. A session that is not admitting in
     * phase CLOSED is closed for good: it refuses every kind.
     */
    static int admission(Batch batch, Head head) {
        boolean open = batch.admission().map(Batch.Admission::open).orElse(head.admission == Head.OPEN);
        int shut = batch.summary().phase().equals(CLOSED_PHASE) ? Head.CLOSED : Head.NOT_NOW;
        return open ? Head.OPEN : shut;
    }

    static String admissionReason(Batch batch, Head head) {
        return batch.admission().map(Batch.Admission::reason).orElse(head.admissionReason);
    }

    /** Whether the batch changes what senders lock: admission, or the durable wake. */
    static boolean changesSession(Batch batch, Head head) {
        return admission(batch, head) != head.admission
                || !admissionReason(batch, head).equals(head.admissionReason)
                || (batch.quietThrough().isPresent() && head.readyAt.isPresent());
    }

    /** Moves the head to where the batch leaves it; what senders change is marked where it changes. */
    static void apply(Batch batch, Head head) {
        head.seq = lastSeq(batch);
        head.batchId = batch.id();
        head.takenThrough = batch.takenThrough();
        head.ordinaryDone = batch.ordinaryDone();
        head.ordinaryDoneBytes = batch.ordinaryDoneBytes();
        head.dueAt = dueAt(batch);
        head.openTurn = batch.openTurn();
        head.phase = batch.summary().phase();
        int admission = admission(batch, head);
        String reason = admissionReason(batch, head);
        if (admission != head.admission || !reason.equals(head.admissionReason)) {
            head.admission = admission;
            head.admissionReason = reason;
            head.sessionChanged = true;
        }
        if (batch.quietThrough().isPresent() && batch.quietThrough().getAsLong() == head.lastArrival) {
            head.ready(OptionalLong.empty());
        }
    }
}
