package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import java.sql.SQLException;
import java.util.Optional;

/** Keeps the last snapshot of an owner that gives a session back. Answers whether it was still the owner. */
final class Resigning extends Write<Boolean> {
    private final SessionName session;
    private final long epoch;
    private final Optional<SnapshotRecord> last;

    Resigning(SessionName session, long epoch, Optional<SnapshotRecord> last) {
        this.session = session;
        this.epoch = epoch;
        this.last = last;
    }

    @Override
    protected Boolean apply(WriteStore store) throws SQLException {
        Head head = store.find(session);
        if (head == null || head.epoch != epoch) {
            return false;
        }
        if (last.isPresent()) {
            SnapshotRecord snapshot = last.get();
            if (snapshot.seq() != head.seq) {
                throw new JournalException(
                        Problem.FAILED,
                        "the last snapshot of session '" + session + "' is of sequence number " + snapshot.seq()
                                + " and the store is at " + head.seq + "; it was not kept");
            }
            store.changed();
            Appending.writeSnapshot(store.sql(), head.sid, snapshot);
        }
        return true;
    }

    @Override
    long bytes() {
        return last.map(snapshot -> (long) snapshot.body().length).orElse(0L);
    }

    @Override
    boolean turnAway(String why) {
        return false;
    }
}
