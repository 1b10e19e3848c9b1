package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Creates a session when it is new (IN-16). The transaction has made it when this is applied; the first is told so. */
final class PostgresOpening extends PostgresWrite<Boolean> {
    private final SessionLimits limits;
    private long made;

    PostgresOpening(SessionName session, SessionLimits limits) {
        super(session);
        this.limits = limits;
    }

    @Override
    Rows rows() {
        return Rows.NONE;
    }

    @Override
    boolean makes() {
        return true;
    }

    @Override
    Optional<SessionLimits> limits() {
        return Optional.of(limits);
    }

    /** Numbers are given once. */
    @Override
    protected @Nullable Boolean found(PostgresTransaction store, @Nullable PostgresSession at, Boolean before) {
        boolean mine = before && at != null && at.sid() == made;
        return mine ? before : null;
    }

    @Override
    protected Boolean apply(PostgresTransaction store, @Nullable PostgresSession at) {
        if (at == null || !store.takeMade(session())) {
            return false;
        }
        made = at.sid();
        return true;
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "session '" + session() + "' was not opened: " + why));
        return true;
    }
}
