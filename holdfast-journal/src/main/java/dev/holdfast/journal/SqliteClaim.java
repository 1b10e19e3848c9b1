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

/** Ownership of a session under one epoch; the committer compares the epoch at each append (P3). */
final class SqliteClaim implements Claim {
    private final Committer committer;
    private final SessionName session;
    private final long epoch;
    private final Recovered recovered;
    private final AtomicBoolean resigned = new AtomicBoolean();

    SqliteClaim(Committer committer, SessionName session, long epoch, Recovered recovered) {
        this.committer = committer;
        this.session = session;
        this.epoch = epoch;
        this.recovered = recovered;
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
    public CompletionStage<Appended> append(Batch batch) {
        return resigned.get()
                ? CompletableFuture.failedFuture(gone())
                : committer.submit(new Appending(session, epoch, batch));
    }

    @Override
    public CompletionStage<Void> resign(Optional<SnapshotRecord> last) {
        return resigned.getAndSet(true)
                ? CompletableFuture.failedFuture(gone())
                : committer.submit(new Resigning(session, epoch, last)).thenAccept(owner -> {});
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
