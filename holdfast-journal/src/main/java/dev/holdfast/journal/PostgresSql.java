package dev.holdfast.journal;

import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one connection to a server, for as long as it is borrowed; giving the connection back closes
 * them, and the driver keeps them prepared. Used by one thread.
 */
final class PostgresSql extends Statements {
    /** Microseconds of the server's clock, now and not at the beginning of the transaction. */
    static final String SERVER_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private final Connection connection;

    PostgresSql(Connection connection) {
        super(connection);
        this.connection = connection;
    }

    @Override
    void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Adds a row to those that {@link #send} writes. */
    void add(String sql, @Nullable Object... values) throws SQLException {
        bind(sql, values).addBatch();
    }

    /** Writes the rows added to a statement, in one go. Answers how many rows each changed. */
    int[] send(String sql) throws SQLException {
        return prepare(sql).executeBatch();
    }

    Array texts(Collection<String> values) throws SQLException {
        return connection.createArrayOf("text", values.toArray());
    }

    Array numbers(Collection<? extends @Nullable Long> values) throws SQLException {
        return connection.createArrayOf("int8", values.toArray());
    }

    Array bytes(Collection<byte[]> values) throws SQLException {
        return connection.createArrayOf("bytea", values.toArray(byte[][]::new));
    }

    @Override
    Object stored(String text) {
        return utf8(text);
    }

    @Override
    ResultSet page(PreparedStatement select, int atOnce) throws SQLException {
        select.setFetchSize(atOnce);
        return select.executeQuery();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
