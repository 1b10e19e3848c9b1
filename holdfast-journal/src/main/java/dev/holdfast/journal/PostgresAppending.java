package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.Claim.Appended;
import dev.holdfast.EventRecord;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Appends an owner's batch. Only the owner's row is locked, so that settling never waits for senders; a change of the
 * admission or of the durable wake locks the senders' row as well, first.
 */
final class PostgresAppending extends PostgresWrite<Appended> {
    private final long epoch;
    private final Batch batch;
    private final BooleanSupplier holds;
    private boolean changesSession;

    /** @param holds whether the node's lease has not run out */
    PostgresAppending(SessionName session, long epoch, Batch batch, BooleanSupplier holds) {
        super(session);
        this.epoch = epoch;
        this.batch = batch;
        this.holds = holds;
        this.changesSession =
                batch.quietThrough().isPresent() || batch.admission().isPresent();
    }

    @Override
    Rows rows() {
        return changesSession ? Rows.BOTH : Rows.HEAD;
    }

    @Override
    boolean enough(PostgresSession at) {
        if (!at.sessionLocked && BatchRules.changesSession(batch, at.head)) {
            changesSession = true;
            return false;
        }
        return true;
    }

    @Override
    void ask(PostgresLookups lookups, PostgresSession at) {
        batch.urgentThrough().ifPresent(after -> lookups.askUrgent(at.sid(), after));
        if (outcome() != null) {
            lookups.askHappened(at.sid(), batch.expectedSeq() + 1);
        }
    }

    /**
     * The identity of the batch tells, while it is the last one. Is it not, then another owner came; an owner appends
     * one batch at a time, so that an event of our epoch in our place is ours.
     */
    @Override
    protected @Nullable Appended found(PostgresTransaction store, @Nullable PostgresSession at, Appended before) {
        boolean committed = at != null
                && before instanceof Appended.Committed
                && store.found().happened(at.sid(), batch.expectedSeq() + 1).equals(OptionalLong.of(epoch));
        return committed ? before : null;
    }

    @Override
    protected Appended apply(PostgresTransaction store, @Nullable PostgresSession found) throws SQLException {
        PostgresSession at = PostgresTransaction.known(session(), found);
        Head head = at.head;
        if (head.batchId.equals(batch.id())) {
            return new Appended.Committed(head.seq);
        }
        if (head.epoch != epoch || !holds.getAsBoolean()) {
            return new Appended.Fenced(head.epoch);
        }
        BatchRules.check(session(), batch, head);
        if (batch.urgentThrough().isPresent()) {
            long known = batch.urgentThrough().getAsLong();
            long last = Math.max(
                    head.lastUrgent, store.found().urgent(at.sid(), known).orElse(0));
            if (last > known) {
                return new Appended.Behind(last);
            }
        }
        long seq = head.seq;
        for (EventRecord event : batch.events()) {
            seq++;
            store.rows().event(at.sid(), seq, epoch, store.now(), event);
        }
        if (batch.snapshot().isPresent()) {
            store.rows().snapshot(at.sid(), batch.snapshot().get());
        }
        BatchRules.apply(batch, head);
        at.summary = batch.summary();
        at.headChanged = true;
        return new Appended.Committed(head.seq);
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
