package dev.holdfast.journal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Advisory locks on names that are not in the store yet, held to the end of the transaction: whoever makes a row with
 * such a name has its lock, so that nobody ever waits for another's uncommitted row inside of a unique index.
 */
final class PostgresLocks {
    private final PostgresSql sql;
    private final String prefix;
    private final SortedSet<Long> wanted = new TreeSet<>();
    private final Set<Long> taken = new HashSet<>();

    PostgresLocks(PostgresSql sql, String schema, String kind) {
        this.sql = sql;
        this.prefix = "holdfast/" + schema + "/" + kind + "/";
    }

    void want(String name) {
        wanted.add(number(name));
    }

    /** @param waits whether a lock that somebody else has is waited for; else it is passed over */
    void take(boolean waits) throws SQLException {
        if (wanted.isEmpty()) {
            return;
        }
        PreparedStatement select = sql.bind(
                waits
                        ? "SELECT n, pg_advisory_xact_lock(n) FROM unnest(?) AS given(n)"
                        : "SELECT n FROM unnest(?) AS given(n) WHERE pg_try_advisory_xact_lock(n)",
                sql.numbers(wanted));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                taken.add(row.getLong(1));
            }
        }
    }

    boolean has(String name) {
        return taken.contains(number(name));
    }

    private long number(String name) {
        return ByteBuffer.wrap(Sha256.of((prefix + name).getBytes(StandardCharsets.UTF_8)))
                .getLong();
    }
}
