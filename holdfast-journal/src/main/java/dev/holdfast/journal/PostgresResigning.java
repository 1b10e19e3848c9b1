package dev.holdfast.journal;

import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Gives a session back, so that any node may claim it at once, and keeps the owner's last snapshot. Answers whether it
 * was still the owner.
 */
final class PostgresResigning extends PostgresWrite<Boolean> {
    private final long epoch;
    private final Optional<SnapshotRecord> last;

    PostgresResigning(SessionName session, long epoch, Optional<SnapshotRecord> last) {
        super(session);
        this.epoch = epoch;
        this.last = last;
    }

    @Override
    Rows rows() {
        return Rows.HEAD;
    }

    @Override
    protected Boolean apply(PostgresTransaction store, @Nullable PostgresSession at) throws SQLException {
        if (at == null || at.head.epoch != epoch) {
            return false;
        }
        if (last.isPresent() && last.get().seq() != at.head.seq) {
            throw PostgresTransaction.failed("the last snapshot of session '" + session() + "' is of sequence number "
                    + last.get().seq() + " and the store is at " + at.head.seq + "; it was not kept");
        }
        if (last.isPresent()) {
            store.rows().snapshot(at.sid(), last.get());
        }
        at.node = "";
        at.headChanged = true;
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
