package dev.holdfast.journal;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One connection and the statements prepared on it, each prepared once. Used by one thread at a time. */
final class Statements implements AutoCloseable {
    private final Connection connection;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    Statements(Connection connection) {
        this.connection = connection;
    }

    PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement known = prepared.get(sql);
        if (known == null) {
            known = connection.prepareStatement(sql);
            prepared.put(sql, known);
        }
        return known;
    }

    /** Drops what is prepared. The driver ends a statement that failed, and would refuse to run it again. */
    void forget() {
        for (PreparedStatement statement : prepared.values()) {
            try {
                statement.close();
            } catch (SQLException e) {
                // It has failed before and is ended already.
            }
        }
        prepared.clear();
    }

    /** Runs a statement without parameters. */
    void run(String sql) throws SQLException {
        prepare(sql).execute();
    }

    /** Binds {@code null}, {@link Long}, {@link Integer}, {@link String}, {@link OptionalLong} or bytes, from 1 on. */
    PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = prepare(sql);
        for (int i = 0; i < values.length; i++) {
            bindOne(statement, i + 1, values[i]);
        }
        return statement;
    }

    private static void bindOne(PreparedStatement statement, int at, @Nullable Object value) throws SQLException {
        switch (value) {
            case null -> statement.setNull(at, java.sql.Types.NULL);
            case Long number -> statement.setLong(at, number);
            case Integer number -> statement.setLong(at, number);
            case String text -> statement.setString(at, text);
            case byte[] bytes -> statement.setBytes(at, bytes);
            case OptionalLong maybe -> {
                if (maybe.isPresent()) {
                    statement.setLong(at, maybe.getAsLong());
                } else {
                    statement.setNull(at, java.sql.Types.NULL);
                }
            }
            default -> throw new IllegalArgumentException("a " + value.getClass() + " cannot be bound");
        }
    }

    static OptionalLong maybe(ResultSet row, int column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** Bytes of a column that is never NULL; the driver may give {@code null} for none. */
    static byte[] bytes(ResultSet row, int column) throws SQLException {
        byte @Nullable [] value = row.getBytes(column);
        return value == null ? new byte[0] : value;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
