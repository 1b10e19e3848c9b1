package dev.holdfast.journal;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;

/**
 * A real PostgreSQL server, one for all tests of this JVM, stopped after the last. Where no server can be
 * started the tests fail.
 */
final class PostgresServer {
    private static final EmbeddedPostgres SERVER = start();

    private PostgresServer() {}

    private static EmbeddedPostgres start() {
        try {
            // The library turns fsync off for speed; durability is what is tested here.
            return EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    // An administrator's wish that the journal must not follow.
                    .setServerConfig("synchronous_commit", "off")
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("no PostgreSQL server can be started here", e);
        }
    }

    /** Ends the server, once all is on its disk: ending it may take no longer than a few seconds. */
    static void stop() {
        run("CHECKPOINT");
        try {
            SERVER.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int port() {
        return SERVER.getPort();
    }

    static String url() {
        return url(port());
    }

    static String url(int port) {
        return "postgresql://postgres:postgres@localhost:" + port + "/postgres";
    }

    static PostgresOptions options(String schema, InstantSource clock) {
        return PostgresOptions.standard()
                .withSchema(schema)
                .withJournal(JournalOptions.standard().withClock(clock));
    }

    /** A connection of an administrator. */
    static Connection admin() throws SQLException {
        return DriverManager.getConnection(
                "jdbc:postgresql://localhost:" + port() + "/postgres", "postgres", "postgres");
    }

    /** Runs statements; answers the first column of the first row of the last one that has rows, or empty text. */
    static String run(String sql) {
        try (Connection connection = admin();
                Statement statement = connection.createStatement()) {
            boolean rows = statement.execute(sql);
            if (!rows) {
                return "";
            }
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? String.valueOf(row.getString(1)) : "";
            }
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }
}
