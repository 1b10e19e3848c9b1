package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a schema to the latest format by the scripts {@code postgres/V1.sql} and so on, all in one transaction under
 * an advisory lock: of two hosts that start at once the second waits and finds the work done. A script is never
 * changed once it was released.
 */
final class PostgresMigrations {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresMigrations.class);
    /** The format this version writes. */
    static final int LATEST = 1;

    /** From here on the server knows every setting a connection is given. */
    private static final int OLDEST_SERVER = 150_000;

    private PostgresMigrations() {}

    /** Answers the identity of the store. */
    static String apply(Connection connection, String schema, PostgresUrl url) throws SQLException {
        PostgresSql sql = new PostgresSql(connection);
        checkServer(sql, url);
        connection.setAutoCommit(false);
        boolean done = false;
        try {
            sql.bind("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "holdfast format of " + schema)
                    .execute();
            if (!exists(sql, "SELECT 1 FROM pg_namespace WHERE nspname = ?", schema)) {
                sql.run("CREATE SCHEMA \"" + schema + "\"");
            }
            int format = present(sql, schema) ? format(sql, schema, url) : 0;
            for (int next = format + 1; next <= LATEST; next++) {
                for (String statement : Migrations.statements(script(next))) {
                    sql.run(statement);
                }
                putMeta(sql, "format", Integer.toString(next));
            }
            if (format == 0) {
                putMeta(sql, "store_id", newId(sql));
            }
            String storeId = meta(sql, "store_id");
            connection.commit();
            done = true;
            return storeId;
        } finally {
            if (!done) {
                connection.rollback();
            }
        }
    }

    /** Checks that there is a store of this version's format; changes nothing. Answers its identity. */
    static String check(Connection connection, String schema, PostgresUrl url) throws SQLException {
        PostgresSql sql = new PostgresSql(connection);
        checkServer(sql, url);
        int format = present(sql, schema) ? format(sql, schema, url) : 0;
        if (format == 0) {
            throw new JournalException(
                    Problem.NOT_FOUND,
                    "there is no store in schema " + schema + " of " + url + "; a host that opens it makes one");
        }
        if (format < LATEST) {
            throw new JournalException(
                    Problem.FAILED,
                    "the store in schema " + schema + " of " + url + " has format " + format
                            + ", which has to be brought to " + LATEST + " first; a host that opens it does so");
        }
        return meta(sql, "store_id");
    }

    private static boolean present(PostgresSql sql, String schema) throws SQLException {
        return exists(sql, "SELECT 1 FROM pg_tables WHERE tablename = 'meta' AND schemaname = ?", schema);
    }

    private static void checkServer(PostgresSql sql, PostgresUrl url) throws SQLException {
        int version = Integer.parseInt(setting(sql, "server_version_num"));
        if (version < OLDEST_SERVER) {
            throw new JournalException(
                    Problem.FAILED,
                    url + " is PostgreSQL " + setting(sql, "server_version") + "; use version 15 or a newer one");
        }
        if (!setting(sql, "server_encoding").equals("UTF8")) {
            throw new JournalException(
                    Problem.FAILED,
                    url + " is encoded in " + setting(sql, "server_encoding")
                            + "; create a database with ENCODING 'UTF8'");
        }
        if (setting(sql, "fsync").equals("off")) {
            LOG.warn("{} runs with fsync = off: what it acknowledges can be lost when its machine fails", url);
        }
    }

    private static String setting(PostgresSql sql, String name) throws SQLException {
        try (ResultSet row = sql.bind("SELECT current_setting(?)", name).executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    private static boolean exists(PostgresSql sql, String query, String name) throws SQLException {
        try (ResultSet row = sql.bind(query, name).executeQuery()) {
            return row.next();
        }
    }

    private static int format(PostgresSql sql, String schema, PostgresUrl url) throws SQLException {
        String text = meta(sql, "format");
        int format;
        try {
            format = Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new JournalException(
                    Problem.DAMAGED,
                    "'format' in table meta of schema " + schema + " in " + url + " is '" + text + "' and no number",
                    e);
        }
        if (format > LATEST) {
            throw new JournalException(
                    Problem.NEWER_FORMAT,
                    "the store in schema " + schema + " of " + url + " has format " + format
                            + ", this version knows formats up to " + LATEST
                            + "; use the version that wrote it, or a newer one");
        }
        return format;
    }

    private static String meta(PostgresSql sql, String name) throws SQLException {
        try (ResultSet row =
                sql.bind("SELECT value FROM meta WHERE name = ?", name).executeQuery()) {
            return row.next() ? Statements.text(row, 1) : "";
        }
    }

    private static void putMeta(PostgresSql sql, String name, String value) throws SQLException {
        sql.bind(
                        "INSERT INTO meta(name, value) VALUES(?, ?)"
                                + " ON CONFLICT(name) DO UPDATE SET value = excluded.value",
                        name,
                        PostgresSql.utf8(value))
                .executeUpdate();
    }

    private static String newId(PostgresSql sql) throws SQLException {
        try (ResultSet row =
                sql.bind("SELECT replace(gen_random_uuid()::text, '-', '')").executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }

    private static String script(int version) {
        String name = "postgres/V" + version + ".sql";
        try (InputStream in = PostgresMigrations.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the script " + name + " is missing from this program");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the script " + name + " cannot be read", e);
        }
    }
}
