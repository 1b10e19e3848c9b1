package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;

/** Names a damaged row: the table, the session and the number. It is reported and never skipped (D2). */
final class Damage {
    private Damage() {}

    static JournalException of(String table, String session, long number, String what) {
        return new JournalException(
                Problem.DAMAGED,
                "table " + table + ", session '" + session + "', number " + number + ": " + what
                        + "; keep a copy of the store, then restore it from a backup");
    }
}
