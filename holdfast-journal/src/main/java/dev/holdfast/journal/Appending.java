package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.Claim.Appended;
import dev.holdfast.EventRecord;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Appends an owner's batch: epoch and sequence compared, and that no urgent arrival came which the owner must know
 * first (IN-13); then events, head, admission and snapshot in one commit.
 */
final class Appending extends Write<Appended> {
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
        BatchRules.check(session, batch, head);
        if (batch.urgentThrough().isPresent() && batch.urgentThrough().getAsLong() < head.lastUrgent) {
            return new Appended.Behind(head.lastUrgent);
        }
        store.changed();
        writeHead(store, head);
        writeEvents(store, head);
        if (batch.snapshot().isPresent()) {
            writeSnapshot(store.sql(), head.sid, batch.snapshot().get());
        }
        BatchRules.apply(batch, head);
        return new Appended.Committed(head.seq);
    }

    /** Columns that have an index are written only when they change: each costs a page of its index per commit. */
    private void writeHead(WriteStore store, Head head) throws SQLException {
        Batch.Summary summary = batch.summary();
        StringBuilder update = new StringBuilder("UPDATE journal_head SET seq = ?, batch_id = ?, taken_through = ?,"
                + " ordinary_done = ?, ordinary_done_bytes = ?, phase_reason = ?, turn_since = ?, cost_micros = ?,"
                + " last_words = ?");
        List<@Nullable Object> values = new ArrayList<>();
        values.add(BatchRules.lastSeq(batch));
        values.add(Uuids.bytes(batch.id()));
        values.add(batch.takenThrough());
        values.add(batch.ordinaryDone());
        values.add(batch.ordinaryDoneBytes());
        values.add(summary.phaseReason());
        values.add(summary.turnSince().map(Micros::of).orElse(null));
        values.add(summary.costMicros());
        values.add(summary.lastWords());
        if (!head.dueAt.equals(BatchRules.dueAt(batch))) {
            update.append(", due_at = ?");
            values.add(BatchRules.dueAt(batch));
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

    @Override
    long bytes() {
        return BatchRules.bytes(batch);
    }

    @Override
    boolean turnAway(String why) {
        return false;
    }
}
