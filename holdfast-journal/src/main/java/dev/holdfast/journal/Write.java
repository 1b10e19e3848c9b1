package dev.holdfast.journal;

import dev.holdfast.JournalException;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One write that waits for the committer, and the stage of the caller who waits for it. A write may be applied more
 * than once: when another one spoils the transaction they share, each is applied again alone.
 *
 * @param <R> what the caller is told
 */
abstract class Write<R> {
    private final CompletableFuture<R> stage = new CompletableFuture<>();
    private @Nullable R outcome;
    private @Nullable JournalException refusal;

    /**
     * Checks and writes within the open transaction.
     *
     * @throws JournalException when it cannot be done; thrown before anything is written or changed in a head
     */
    protected abstract R apply(WriteStore store) throws SQLException;

    /** Bytes of payload. */
    abstract long bytes();

    /** Tells the caller that too much is waiting; false when this write must never be turned away. */
    abstract boolean turnAway(String why);

    final CompletableFuture<R> stage() {
        return stage;
    }

    final void attempt(WriteStore store) throws SQLException {
        outcome = null;
        refusal = null;
        try {
            outcome = apply(store);
        } catch (JournalException e) {
            refusal = e;
        }
    }

    /** Tells the caller what the last attempt gave; called after the commit. */
    final void settle() {
        if (refusal != null) {
            stage.completeExceptionally(refusal);
        } else if (outcome != null) {
            stage.complete(outcome);
        } else {
            stage.completeExceptionally(new IllegalStateException("a write was settled before it was attempted"));
        }
    }

    final void fail(JournalException error) {
        stage.completeExceptionally(error);
    }
}
