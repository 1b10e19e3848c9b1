package dev.holdfast.journal;

import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Ownership of a session under one epoch, as long as the node's lease holds. The server compares the epoch at each
 * append (P3); what the node does outside of the store asks {@link #holds} before.
 */
final class PostgresClaim implements Claim {
    private final PostgresCommitter committer;
    private final SessionName session;
    private final long epoch;
    private final Recovered recovered;
    private final PostgresLease lease;
    private final Consumer<PostgresClaim> given;
    private final AtomicBoolean resigned = new AtomicBoolean();
    private volatile boolean fenced;

    /** @param given told when the claim is given back */
    PostgresClaim(
            PostgresCommitter committer,
            SessionName session,
            long epoch,
            Recovered recovered,
            PostgresLease lease,
            Consumer<PostgresClaim> given) {
        this.committer = committer;
        this.session = session;
        this.epoch = epoch;
        this.recovered = recovered;
        this.lease = lease;
        this.given = given;
    }

    @Override
    public SessionName session() {
        return session;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public Recovered recovered() {
        return recovered;
    }

    @Override
    public boolean holds() {
        return !fenced && !resigned.get() && lease.holds();
    }

    /** A newer claim is known in this process. */
    void fence() {
        fenced = true;
    }

    /** Refused as fenced as well once the lease has run out, whoever owns the session now. */
    @Override
    public CompletionStage<Appended> append(Batch batch) {
        if (resigned.get()) {
            return CompletableFuture.failedFuture(gone());
        }
        return committer
                .submit(new PostgresAppending(session, epoch, batch, lease::holds))
                .thenApply(answer -> {
                    if (answer instanceof Appended.Fenced) {
                        fence();
                    }
                    return answer;
                });
    }

    @Override
    public CompletionStage<Void> resign(Optional<SnapshotRecord> last) {
        if (resigned.getAndSet(true)) {
            return CompletableFuture.failedFuture(gone());
        }
        given.accept(this);
        return committer.submit(new PostgresResigning(session, epoch, last)).thenAccept(owner -> {});
    }

    private JournalException gone() {
        return new JournalException(
                Problem.FAILED,
                "the claim on session '" + session + "' under epoch " + epoch + " was given back; claim it again");
    }

    @Override
    public String toString() {
        return "claim on '" + session + "' under epoch " + epoch;
    }
}
