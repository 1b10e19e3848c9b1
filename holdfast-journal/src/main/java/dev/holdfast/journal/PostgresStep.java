package dev.holdfast.journal;

import java.sql.SQLException;

/** Called by the committer at its durable steps. Tests make one fail, or end the connection there. */
interface PostgresStep {
    PostgresStep NONE = (point, sql) -> {};

    /** @throws SQLException to fail as a lost connection would */
    void at(Point point, PostgresSql sql) throws SQLException;

    /** The steps, in order. */
    enum Point {
        /** All rows are written; nothing is durable. */
        BEFORE_COMMIT,
        /** The commit is done on the server; nobody was told yet. */
        AFTER_COMMIT
    }
}
