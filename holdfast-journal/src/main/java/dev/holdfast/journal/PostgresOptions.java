package dev.holdfast.journal;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How a {@link PostgresJournal} works. Immutable; begin with {@link #standard()}.
 *
 * @param journal what is the same for every store: clock, sizes of commits, what may wait, readers
 * @param schema where the tables lie, made when it is not there: letters, digits and {@code _}, at most 63
 * @param patience how long a call is tried again while the server cannot be reached or a row is locked by somebody
 *     else; then its stage fails
 * @param statement how long the server may take for one statement, at least 1 s; afterwards the connection is given up
 * @param rowWait how long one attempt waits for a session's rows, when somebody else has had them several times
 * @param lease how long a node owns its sessions after the last sign of life: what a failover waits for
 * @param watchdog after how long without an answer the node itself takes its lease for lost; less than the lease
 */
public record PostgresOptions(
        JournalOptions journal,
        String schema,
        Duration patience,
        Duration statement,
        Duration rowWait,
        Duration lease,
        Duration watchdog) {
    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public PostgresOptions {
        if (!SCHEMA.matcher(schema).matches()) {
            throw new IllegalArgumentException("schema '" + schema
                    + "' is not allowed: use 1 to 63 letters, digits or '_', not beginning with a digit");
        }
        atLeast("patience", patience, Duration.ofMillis(1));
        atLeast("statement", statement, Duration.ofSeconds(1));
        atLeast("rowWait", rowWait, Duration.ofMillis(1));
        atLeast("watchdog", watchdog, Duration.ofMillis(10));
        if (watchdog.compareTo(lease) >= 0) {
            throw new IllegalArgumentException("the watchdog (" + watchdog + ") must be shorter than the lease ("
                    + lease + "): a node has to know that its lease is over before others do");
        }
    }

    /**
     * {@link JournalOptions#standard()}; schema {@code holdfast}; 30 s of patience; 15 s for a statement; 1 s for a
     * row; a lease of 10 s, taken for lost after 6 s.
     */
    public static PostgresOptions standard() {
        return new PostgresOptions(
                JournalOptions.standard(),
                "holdfast",
                Duration.ofSeconds(30),
                Duration.ofSeconds(15),
                Duration.ofSeconds(1),
                Duration.ofSeconds(10),
                Duration.ofSeconds(6));
    }

    public PostgresOptions withJournal(JournalOptions options) {
        return new PostgresOptions(options, schema, patience, statement, rowWait, lease, watchdog);
    }

    public PostgresOptions withSchema(String name) {
        return new PostgresOptions(journal, name, patience, statement, rowWait, lease, watchdog);
    }

    public PostgresOptions withPatience(Duration time) {
        return new PostgresOptions(journal, schema, time, statement, rowWait, lease, watchdog);
    }

    public PostgresOptions withStatement(Duration time) {
        return new PostgresOptions(journal, schema, patience, time, rowWait, lease, watchdog);
    }

    public PostgresOptions withRowWait(Duration time) {
        return new PostgresOptions(journal, schema, patience, statement, time, lease, watchdog);
    }

    public PostgresOptions withLease(Duration time, Duration watchdogTime) {
        return new PostgresOptions(journal, schema, patience, statement, rowWait, time, watchdogTime);
    }

    private static void atLeast(String what, Duration value, Duration least) {
        if (value.compareTo(least) < 0) {
            throw new IllegalArgumentException(what + " must be at least " + least + "; got " + value);
        }
    }
}
