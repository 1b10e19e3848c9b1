package dev.holdfast.journal;

import java.sql.SQLException;

/** Called by the committer at its durable steps. Tests make one fail, or end the process there. */
interface Step {
    Step NONE = point -> {};

    /** @throws SQLException to fail as the disk would */
    void at(Point point) throws SQLException;

    /** The steps, in order. */
    enum Point {
        /** All rows are written; nothing is durable. */
        BEFORE_COMMIT,
        /** The commit and its fsync are done; the head file is still behind. */
        AFTER_COMMIT,
        /** The head file is written; nobody was told yet. */
        AFTER_HEAD
    }
}
