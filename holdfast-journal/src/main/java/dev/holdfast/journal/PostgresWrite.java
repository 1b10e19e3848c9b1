package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One write to one session that waits for a commit, and the stage of the caller who waits for it. A write may be
 * applied more than once: its transaction may be undone for the sake of another, or break off.
 *
 * <p>When the connection breaks while a commit is answered, nobody knows what became of it. The write is then in
 * doubt: before it is applied again it looks in the store for what only it can have left there. Its rows are locked
 * by then, so that a commit still on its way is waited for.
 *
 * @param <R> what the caller is told
 */
abstract class PostgresWrite<R> {
    /** Which rows are locked for a write, always in this order. */
    enum Rows {
        /** None that is there already; a name or a token. */
        NONE(false, false),
        /** What senders change. */
        SESSION(true, false),
        /** What the owner changes. */
        HEAD(false, true),
        BOTH(true, true);

        final boolean session;
        final boolean head;

        Rows(boolean session, boolean head) {
            this.session = session;
            this.head = head;
        }
    }

    private final SessionName session;
    private final CompletableFuture<R> stage = new CompletableFuture<>();
    private long since;
    private boolean inDoubt;
    private @Nullable R outcome;
    private @Nullable JournalException refusal;

    PostgresWrite(SessionName session) {
        this.session = session;
    }

    final SessionName session() {
        return session;
    }

    final CompletableFuture<R> stage() {
        return stage;
    }

    /** {@link Monotonic} time at which it was handed in. */
    final long since() {
        return since;
    }

    final void handedIn(long nanos) {
        since = nanos;
    }

    /** Which rows it needs, as far as that can be told before they are read. */
    abstract Rows rows();

    /** Whether it makes the session if there is none of that name: nobody else may make it meanwhile. */
    boolean makes() {
        return false;
    }

    /** The limits of an empty session that is to be there before this is applied. */
    Optional<SessionLimits> limits() {
        return Optional.empty();
    }

    /** Whether it takes so long that nobody should wait for it in a batch. */
    boolean alone() {
        return false;
    }

    /** Tokens of addresses that it claims: nobody else may claim them meanwhile. */
    Set<String> tokens() {
        return Set.of();
    }

    /** Whether the locks it asked for are enough after all; otherwise {@link #rows} asks for more the next time. */
    boolean enough(PostgresSession at) {
        return true;
    }

    /** Says what has to be looked up that needs no session. */
    void ask(PostgresLookups lookups) {}

    /** Says what else has to be looked up, once the rows are locked. */
    void ask(PostgresLookups lookups, PostgresSession at) throws SQLException {}

    /**
     * Checks and writes within the open transaction.
     *
     * @param at the session; null when there is none of that name
     * @throws JournalException when it cannot be done; thrown before anything is written or changed
     */
    protected abstract R apply(PostgresTransaction store, @Nullable PostgresSession at) throws SQLException;

    /**
     * What the last attempt gave, if the store shows that it was committed; null if not. Only asked when in doubt.
     *
     * @param before what the last attempt gave
     */
    protected @Nullable R found(PostgresTransaction store, @Nullable PostgresSession at, R before) throws SQLException {
        return null;
    }

    /** Bytes of payload. */
    abstract long bytes();

    /** Tells the caller that too much is waiting; false when this write must never be turned away. */
    abstract boolean turnAway(String why);

    /** What the last attempt gave; null before the first, and when it was refused. */
    final @Nullable R outcome() {
        return outcome;
    }

    final boolean inDoubt() {
        return inDoubt;
    }

    final void doubt() {
        inDoubt |= outcome != null;
    }

    final void attempt(PostgresTransaction store, @Nullable PostgresSession at) throws SQLException {
        R before = outcome;
        if (inDoubt && before != null) {
            R found = found(store, at, before);
            if (found != null) {
                outcome = found;
                return;
            }
            inDoubt = false;
        }
        outcome = null;
        refusal = null;
        try {
            outcome = apply(store, at);
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
