package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.sql.SQLException;

/** Creates a session when it is new (IN-16). */
final class Opening extends Write<Boolean> {
    private final SessionName session;
    private final SessionLimits limits;

    Opening(SessionName session, SessionLimits limits) {
        this.session = session;
        this.limits = limits;
    }

    @Override
    protected Boolean apply(WriteStore store) throws SQLException {
        if (store.find(session) != null) {
            return false;
        }
        store.create(session, limits);
        return true;
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "session '" + session + "' was not opened: " + why));
        return true;
    }
}
