package dev.holdfast.journal;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;

/**
 * Opens connections, each with the time limits that keep anybody from hanging: an answer that does not come gives the
 * connection up here, and a transaction whose client is silent or gone is ended by the server, which frees its locks.
 * Thread-safe.
 */
final class PostgresConnections implements AutoCloseable {
    private static final long CONNECT_MS = 5_000;
    /** The pool takes no shorter time. */
    private static final long SHORTEST_WAIT_MS = 250;
    /** A transaction of ours is never idle for long: what stands still in one is frozen or gone. */
    private static final long IDLE_IN_TRANSACTION_MS = 5_000;
    /** After this long without an acknowledgement a peer counts as gone. */
    private static final long PEER_GONE_MS = 10_000;
    /** The server notices within this time that the client of a running statement is gone. */
    private static final long PEER_CHECK_MS = 5_000;
    /** How much longer than the server's own limit an answer is waited for. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final PostgresUrl url;
    private final PostgresOptions options;
    private final HikariDataSource pool;

    /** @param size most connections at once: one for each thread that takes them */
    PostgresConnections(PostgresUrl url, PostgresOptions options, int size) {
        this.url = url;
        this.options = options;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.jdbc());
        config.setDataSourceProperties(properties(url, options.statement().plus(GRACE)));
        config.setPoolName("holdfast");
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setAutoCommit(false);
        // Otherwise the settings below belong to the first transaction, and go when it is undone.
        config.setIsolateInternalQueries(true);
        config.setConnectionTimeout(Math.clamp(options.patience().toMillis(), SHORTEST_WAIT_MS, CONNECT_MS));
        config.setInitializationFailTimeout(-1);
        config.setConnectionInitSql(settings(options.schema(), options.statement()));
        config.setThreadFactory(JournalThreads.connections());
        this.pool = new HikariDataSource(config);
    }

    /** A connection of the pool, outside of a transaction and without auto-commit. Closing gives it back. */
    Connection take() throws SQLException {
        return pool.getConnection();
    }

    /** A connection of its own with a shorter limit for each answer, and auto-commit. */
    Connection apart(Duration answer) throws SQLException {
        return opened(url, options.schema(), answer);
    }

    /** A connection before there is a pool; the schema need not be there yet. */
    static Connection opened(PostgresUrl url, String schema, Duration answer) throws SQLException {
        Connection connection = DriverManager.getConnection(url.jdbc(), properties(url, answer));
        boolean done = false;
        try (Statement statement = connection.createStatement()) {
            statement.execute(settings(schema, answer));
            done = true;
        } finally {
            if (!done) {
                connection.close();
            }
        }
        return connection;
    }

    private static Properties properties(PostgresUrl url, Duration answer) {
        Properties properties = url.credentials();
        properties.setProperty("ApplicationName", "holdfast");
        properties.setProperty("connectTimeout", Long.toString(CONNECT_MS / 1_000));
        properties.setProperty("socketTimeout", Long.toString(Math.max(1, answer.toSeconds())));
        properties.setProperty("tcpKeepAlive", "true");
        // One statement for all rows of a table.
        properties.setProperty("reWriteBatchedInserts", "true");
        // Otherwise the driver puts the values of a statement that failed, bodies and tokens, into its messages.
        properties.setProperty("logServerErrorDetail", "false");
        return properties;
    }

    /** An administrator's {@code synchronous_commit = off} would make receipts of what is not on the disk (P1). */
    private static String settings(String schema, Duration statement) {
        return "SET search_path TO \"" + schema + "\"; SET statement_timeout = " + statement.toMillis()
                + "; SET lock_timeout = " + statement.toMillis()
                + "; SET idle_in_transaction_session_timeout = " + IDLE_IN_TRANSACTION_MS
                + "; SET tcp_user_timeout = " + PEER_GONE_MS
                + "; SET client_connection_check_interval = " + PEER_CHECK_MS
                + "; SELECT set_config('synchronous_commit', 'on', false)"
                + " WHERE current_setting('synchronous_commit') = 'off'";
    }

    @Override
    public void close() {
        pool.close();
    }
}
