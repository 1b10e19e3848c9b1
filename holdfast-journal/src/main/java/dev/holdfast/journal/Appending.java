package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.Claim.Appended;
import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Appends an owner's batch: epoch and sequence compared, and that no urgent arrival came which the owner must know
 * first (IN-13); then events, head, admission and snapshot in one commit.
 */
final class Appending extends Write<Appended> {
    /** The phase in which a session that is not admitting is closed for good. */
    static final String CLOSED_PHASE = "CLOSED";

    private final SessionName session;
    private final long epoch;
    private final Batch batch;

    Appending(SessionName session, long epoch, Batch batch) {
        this.session = session;
        this.epoch = epoch;
        this.batch = batch;
    }

    @Override
    protected Appended apply(WriteStore store) throws SQLException {
        Head head = store.known(session);
        if (head.batchId.equals(batch.id())) {
            return new Appended.Committed(head.seq);
        }
        if (head.epoch != epoch) {
            return new Appended.Fenced(head.epoch);
        }
        check(head);
        if (batch.urgentThrough().isPresent() && batch.urgentThrough().getAsLong() < head.lastUrgent) {
            return new Appended.Behind(head.lastUrgent);
        }
        store.changed();
        writeHead(store, head);
        writeEvents(store, head);
        if (batch.snapshot().isPresent()) {
            writeSnapshot(store.sql(), head.sid, batch.snapshot().get());
        }
        head.seq = lastSeq();
        head.batchId = batch.id();
        head.takenThrough = batch.takenThrough();
        head.ordinaryDone = batch.ordinaryDone();
        head.ordinaryDoneBytes = batch.ordinaryDoneBytes();
        head.dueAt = dueAt();
        head.openTurn = batch.openTurn();
        head.phase = batch.summary().phase();
        admit(head);
        if (batch.quietThrough().isPresent() && batch.quietThrough().getAsLong() == head.lastArrival) {
            head.ready(OptionalLong.empty());
        }
        return new Appended.Committed(head.seq);
    }

    private long lastSeq() {
        return batch.expectedSeq() + batch.events().size();
    }

    private OptionalLong dueAt() {
        return batch.dueAt().isPresent()
                ? OptionalLong.of(Micros.up(batch.dueAt().get()))
                : OptionalLong.empty();
    }

    private void check(Head head) {
        if (batch.expectedSeq() != head.seq) {
            throw refused("it expects sequence number " + batch.expectedSeq() + " and the store is at " + head.seq
                    + "; claim the session again and rebuild its state");
        }
        if (batch.takenThrough() < head.takenThrough || batch.takenThrough() > head.lastArrival) {
            throw refused("takenThrough is " + batch.takenThrough() + " and must lie between " + head.takenThrough
                    + ", where it was, and " + head.lastArrival + ", the last arrival");
        }
        if (batch.ordinaryDone() < 0 || batch.ordinaryDone() > head.ordinary) {
            throw refused("ordinaryDone is " + batch.ordinaryDone() + " and " + head.ordinary
                    + " ordinary messages were accepted");
        }
        if (batch.ordinaryDoneBytes() < 0 || batch.ordinaryDoneBytes() > head.ordinaryBytes) {
            throw refused("ordinaryDoneBytes is " + batch.ordinaryDoneBytes() + " and " + head.ordinaryBytes
                    + " bytes were accepted");
        }
        if (batch.snapshot().isPresent() && batch.snapshot().get().seq() != lastSeq()) {
            throw refused("its snapshot is of sequence number "
                    + batch.snapshot().get().seq() + " and must be of its last event, " + lastSeq());
        }
    }

    private JournalException refused(String why) {
        return new JournalException(Problem.FAILED, "a batch of session '" + session + "' was not appended: " + why);
    }

    /** Columns that have an index are written only when they change: each costs a page of its index per commit. */
    private void writeHead(WriteStore store, Head head) throws SQLException {
        Batch.Summary summary = batch.summary();
        StringBuilder update = new StringBuilder("UPDATE journal_head SET seq = ?, batch_id = ?, taken_through = ?,"
                + " ordinary_done = ?, ordinary_done_bytes = ?, phase_reason = ?, turn_since = ?, cost_micros = ?,"
                + " last_words = ?");
        List<@Nullable Object> values = new ArrayList<>();
        values.add(lastSeq());
        values.add(Uuids.bytes(batch.id()));
        values.add(batch.takenThrough());
        values.add(batch.ordinaryDone());
        values.add(batch.ordinaryDoneBytes());
        values.add(summary.phaseReason());
        values.add(summary.turnSince().map(Micros::of).orElse(null));
        values.add(summary.costMicros());
        values.add(summary.lastWords());
        if (!head.dueAt.equals(dueAt())) {
            update.append(", due_at = ?");
            values.add(dueAt());
        }
        if (!head.openTurn.equals(batch.openTurn())) {
            update.append(", open_turn = ?");
            values.add(batch.openTurn());
        }
        if (!head.phase.equals(summary.phase())) {
            update.append(", phase = ?");
            values.add(summary.phase());
        }
        update.append(" WHERE sid = ? AND epoch = ? AND seq = ?");
        values.add(head.sid);
        values.add(epoch);
        values.add(head.seq);
        if (store.sql().bind(update.toString(), values.toArray()).executeUpdate() != 1) {
            throw new IllegalStateException("the head of session '" + session + "' is not at epoch " + epoch
                    + " and sequence number " + head.seq + ", as the committer knew it");
        }
    }

    private void writeEvents(WriteStore store, Head head) throws SQLException {
        long seq = head.seq;
        for (EventRecord event : batch.events()) {
            seq++;
            EventRow.insert(store.sql(), head.sid, seq, epoch, store.now(), event);
        }
    }

    static void writeSnapshot(Statements sql, long sid, SnapshotRecord snapshot) throws SQLException {
        sql.bind(
                        "INSERT INTO snapshot(sid, " + EventRow.SNAPSHOT_COLUMNS + ") VALUES(?, ?, ?, ?, ?)"
                                + " ON CONFLICT(sid) DO UPDATE SET seq = excluded.seq, version = excluded.version,"
                                + " crc = excluded.crc, body = excluded.body",
                        sid,
                        snapshot.seq(),
                        snapshot.version(),
                        EventRow.crc(sid, snapshot),
                        snapshot.body())
                .executeUpdate();
    }

    /** A session that is not admitting in phase CLOSED is closed for good: it refuses every kind. */
    private void admit(Head head) {
        boolean open = batch.admission().map(Batch.Admission::open).orElse(head.admission == Head.OPEN);
        String reason = batch.admission().map(Batch.Admission::reason).orElse(head.admissionReason);
        int shut = batch.summary().phase().equals(CLOSED_PHASE) ? Head.CLOSED : Head.NOT_NOW;
        int admission = open ? Head.OPEN : shut;
        if (admission != head.admission || !reason.equals(head.admissionReason)) {
            head.admission = admission;
            head.admissionReason = reason;
            head.sessionChanged = true;
        }
    }

    @Override
    long bytes() {
        long sum =
                batch.snapshot().map(snapshot -> (long) snapshot.body().length).orElse(0L);
        for (EventRecord event : batch.events()) {
            sum += event.body().length;
        }
        return sum;
    }

    @Override
    boolean turnAway(String why) {
        return false;
    }
}
