package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.SessionName;
import java.sql.SQLException;

/** Takes ownership of a session: the epoch is raised by one (P3). Answers the new epoch. */
final class Taking extends Write<Long> {
    private final SessionName session;
    private final Node node;

    Taking(SessionName session, Node node) {
        this.session = session;
        this.node = node;
    }

    @Override
    protected Long apply(WriteStore store) throws SQLException {
        Head head = store.known(session);
        int rows = store.sql()
                .bind(
                        "UPDATE journal_head SET epoch = ?, node = ? WHERE sid = ? AND epoch = ?",
                        head.epoch + 1,
                        node.name(),
                        head.sid,
                        head.epoch)
                .executeUpdate();
        if (rows != 1) {
            throw new IllegalStateException(
                    "the epoch of session '" + session + "' is not " + head.epoch + ", as the committer knew it");
        }
        store.changed();
        head.epoch++;
        return head.epoch;
    }

    static JournalException unknown(SessionName session) {
        return new JournalException(
                Problem.UNKNOWN_SESSION, "session '" + session + "' was never opened; open it first");
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        return false;
    }
}
