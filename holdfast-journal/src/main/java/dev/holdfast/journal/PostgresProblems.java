package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

/** Gives the errors of server and connection their names, and says what they mean for a transaction. */
final class PostgresProblems {
    /** A row is locked by somebody else for longer than one waits. */
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String DISK_FULL = "53100";
    private static final String READ_ONLY = "25006";

    /** The server ended the connection, or takes none now; a failover makes a server read-only for a moment. */
    private static final Set<String> PASSING = Set.of(
            "57P01", // admin_shutdown, also pg_terminate_backend
            "57P02", // crash_shutdown
            "57P03", // cannot_connect_now
            "57P05", // idle_session_timeout
            "25P03", // idle_in_transaction_session_timeout
            "25P04", // transaction_timeout
            "53300", // too_many_connections
            "57014", // query_canceled, also statement_timeout
            "40001", // serialization_failure
            "40P01", // deadlock_detected
            LOCK_NOT_AVAILABLE,
            READ_ONLY);

    private PostgresProblems() {}

    static JournalException of(SQLException error, String doing, PostgresUrl url) {
        SQLException cause = telling(error);
        String where = doing + " in " + url + ": " + cause.getMessage();
        return switch (state(cause)) {
            case DISK_FULL ->
                new JournalException(
                        Problem.FULL_DISK,
                        "the server's disk is full while " + where + "; free some space, what was acknowledged is kept",
                        error);
            case READ_ONLY, "42501" ->
                new JournalException(
                        Problem.READ_ONLY,
                        "the database does not let itself be written while " + where
                                + "; check the rights of the user and that the server is the primary",
                        error);
            case "XX001", "XX002" ->
                new JournalException(Problem.DAMAGED, "the server found the database damaged while " + where, error);
            case "3D000" ->
                new JournalException(
                        Problem.NOT_FOUND, "there is no such database while " + where + "; create it first", error);
            default -> new JournalException(Problem.FAILED, "the database failed while " + where, error);
        };
    }

    /** Whether the same may work a little later, on a new connection. */
    static boolean mayPass(SQLException error) {
        SQLException cause = telling(error);
        String state = state(cause);
        return state.startsWith("08")
                || PASSING.contains(state)
                || cause instanceof SQLTransientConnectionException
                || cause instanceof SQLNonTransientConnectionException;
    }

    /** Whether somebody else had the row for too long; the transaction is undone, nothing else is wrong. */
    static boolean isLocked(SQLException error) {
        return state(error).equals(LOCK_NOT_AVAILABLE);
    }

    /** Whether the server's limit for one statement was reached; with less to do it may not be. */
    static boolean tookTooLong(SQLException error) {
        return state(error).equals("57014");
    }

    /** Whether the error lies in one item of a batch, so that the others can be committed without it. */
    static boolean isOfOneItem(SQLException error) {
        String state = state(error);
        return state.startsWith("22") || state.startsWith("23") || state.startsWith("54");
    }

    /** Batches and pools put the error that tells something inside of one of their own. */
    private static SQLException telling(SQLException error) {
        SQLException found = error;
        for (int depth = 0; depth < 10; depth++) {
            SQLException next = found.getNextException();
            if (next == null && found.getCause() instanceof SQLException cause) {
                next = cause;
            }
            if (next == null) {
                return found;
            }
            found = next;
        }
        return found;
    }

    private static String state(SQLException error) {
        String state = telling(error).getSQLState();
        return state == null ? "" : state;
    }
}
