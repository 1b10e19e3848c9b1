package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.sql.SQLException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Gives the errors of disk and database their names, and says which of them a committer survives. */
final class Problems {
    private Problems() {}

    static JournalException of(SQLException error, String doing, Path directory) {
        String where = doing + " in " + directory + ": " + error.getMessage();
        return switch (primary(error)) {
            case SQLITE_FULL ->
                new JournalException(
                        Problem.FULL_DISK,
                        "the disk is full while " + where + "; free some space, what was acknowledged is kept",
                        error);
            case SQLITE_READONLY, SQLITE_PERM ->
                new JournalException(
                        Problem.READ_ONLY,
                        "the store cannot be written while " + where + "; check its permissions and its mount",
                        error);
            case SQLITE_CORRUPT, SQLITE_NOTADB ->
                new JournalException(
                        Problem.DAMAGED,
                        "the database is damaged, found while " + where + "; keep a copy, then run the doctor",
                        error);
            default -> new JournalException(Problem.FAILED, "the database failed while " + where, error);
        };
    }

    static JournalException of(IOException error, String doing, Path directory) {
        String where = doing + " in " + directory + ": " + error;
        if (error instanceof AccessDeniedException || notPermitted(error)) {
            return new JournalException(
                    Problem.READ_ONLY,
                    "the directory cannot be written while " + where + "; check its permissions and its mount",
                    error);
        }
        if (reason(error).contains("No space left")) {
            return new JournalException(
                    Problem.FULL_DISK, "the disk is full while " + where + "; free some space", error);
        }
        return new JournalException(Problem.FAILED, "the disk failed while " + where, error);
    }

    /** Whether the error is a full disk, after which a clean rollback leaves the store usable. */
    static boolean isFull(SQLException error) {
        return primary(error) == SQLiteErrorCode.SQLITE_FULL;
    }

    /** Whether another process holds the write lock: nothing was written and nothing is wrong. */
    static boolean isBusy(SQLException error) {
        SQLiteErrorCode code = primary(error);
        return code == SQLiteErrorCode.SQLITE_BUSY || code == SQLiteErrorCode.SQLITE_LOCKED;
    }

    /** Whether the error lies in one item of a batch, not in the disk: the others can be committed without it. */
    static boolean isOfOneItem(SQLException error) {
        return switch (primary(error)) {
            case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_ERROR -> true;
            default -> false;
        };
    }

    /** The code without its extension: SQLITE_IOERR for SQLITE_IOERR_FSYNC. */
    private static SQLiteErrorCode primary(SQLException error) {
        return error instanceof SQLiteException sqlite
                ? SQLiteErrorCode.getErrorCode(sqlite.getResultCode().code & 0xff)
                : SQLiteErrorCode.UNKNOWN_ERROR;
    }

    private static boolean notPermitted(IOException error) {
        String reason = reason(error);
        return reason.contains("Read-only file system") || reason.contains("not permitted");
    }

    private static String reason(IOException error) {
        String text = error instanceof FileSystemException file ? file.getReason() : error.getMessage();
        return text == null ? "" : text;
    }
}
