package dev.holdfast.journal;

import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One connection and the statements prepared on it, each prepared once. Used by one thread at a time. */
class Statements implements AutoCloseable {
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

    /**
     * Binds bytes, or {@code null} for none, {@link Long}, {@link Integer}, {@link String}, {@link OptionalLong}, or an
     * {@link Array} where the database has such, from 1 on.
     */
    PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = prepare(sql);
        for (int i = 0; i < values.length; i++) {
            bindOne(statement, i + 1, values[i]);
        }
        return statement;
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

    /** How text that somebody else wrote, and in which U+0000 may stand, is bound. */
    Object stored(String text) {
        return text;
    }

    /** Runs a query whose rows are not held in memory all at once, only so many. */
    ResultSet page(PreparedStatement select, int atOnce) throws SQLException {
        return select.executeQuery();
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

    /** Text of a column that is never NULL, however it is {@link #stored}. */
    static String text(ResultSet row, int column) throws SQLException {
        return new String(bytes(row, column), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
