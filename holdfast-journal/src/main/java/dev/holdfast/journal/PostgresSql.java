package dev.holdfast.journal;

import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one connection, for as long as it is borrowed; giving the connection back closes them, and the driver
 * keeps them prepared. Used by one thread.
 */
final class PostgresSql {
    /** Microseconds of the server's clock, now and not at the beginning of the transaction. */
    static final String SERVER_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private final Connection connection;
    private final Map<String, PreparedStatement> prepared = new LinkedHashMap<>();

    PostgresSql(Connection connection) {
        this.connection = connection;
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement known = prepared.get(sql);
        if (known == null) {
            known = connection.prepareStatement(sql);
            prepared.put(sql, known);
        }
        return known;
    }

    /** Runs a statement without parameters. */
    void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Binds bytes or their absence, {@link Long}, {@link Integer}, {@link String}, {@link OptionalLong}, {@link Array}. */
    PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = prepare(sql);
        for (int i = 0; i < values.length; i++) {
            bindOne(statement, i + 1, values[i]);
        }
        return statement;
    }

    /** Adds a row to those that {@link #send} writes. */
    void add(String sql, @Nullable Object... values) throws SQLException {
        bind(sql, values).addBatch();
    }

    /** Writes the rows added to a statement, in one go. Answers how many rows each changed. */
    int[] send(String sql) throws SQLException {
        return prepare(sql).executeBatch();
    }

    private static void bindOne(PreparedStatement statement, int at, @Nullable Object value) throws SQLException {
        switch (value) {
            case null -> statement.setNull(at, Types.BINARY);
            case Long number -> statement.setLong(at, number);
            case Integer number -> statement.setLong(at, number);
            case String text -> statement.setString(at, text);
            case byte[] bytes -> statement.setBytes(at, bytes);
            case Array array -> statement.setArray(at, array);
            case OptionalLong maybe -> {
                if (maybe.isPresent()) {
                    statement.setLong(at, maybe.getAsLong());
                } else {
                    statement.setNull(at, Types.BIGINT);
                }
            }
            default -> throw new IllegalArgumentException("a " + value.getClass() + " cannot be bound");
        }
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

    /** Text as the store keeps it where U+0000 may stand in it. */
    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Text of a column that holds UTF-8 and is never NULL. */
    static String text(ResultSet row, int column) throws SQLException {
        return new String(row.getBytes(column), StandardCharsets.UTF_8);
    }
}
