package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Reads a store in a PostgreSQL database. Nothing is made or changed, and a user who may only read will do.
 * Thread-safe; stages complete on a reader's thread, and what depends on them must not block there.
 *
 * <p>A page of events or arrivals may be shorter than asked for, since it also ends at 16 MiB of payload; only an empty
 * page is the end.
 */
public final class PostgresReader extends StoreReading {
    private final PostgresConnections connections;
    private final PostgresReadPool reads;
    private final String where;
    private final String storeId;
    private volatile @Nullable JournalException closed;

    private PostgresReader(PostgresUrl url, PostgresOptions options, String storeId) {
        this.storeId = storeId;
        this.where = "schema " + options.schema() + " of " + url;
        this.connections =
                new PostgresConnections(url, options, options.journal().readers());
        this.reads = new PostgresReadPool(connections, url, options, () -> closed);
    }

    static PostgresReader open(String address, PostgresOptions options) {
        PostgresUrl url = PostgresUrl.of(address);
        String storeId;
        try (Connection connection = PostgresConnections.opened(url, options.schema(), options.statement())) {
            storeId = PostgresMigrations.check(connection, options.schema(), url);
        } catch (SQLException e) {
            throw PostgresProblems.of(e, "opening the store", url);
        }
        return new PostgresReader(url, options, storeId);
    }

    /** Identity of the store, see {@link dev.holdfast.Journal#storeId()}. */
    public String storeId() {
        return storeId;
    }

    /** Reads every row and checks checksums, numbers and sums; for {@code doctor}. Takes long on a large store. */
    public CompletionStage<Verification> verify() {
        return reads.read("verifying", sql -> Verifier.verify(sql, where));
    }

    @Override
    <R> CompletionStage<R> read(String what, Query<R> query) {
        return reads.read(what, query::of);
    }

    /** Idempotent. */
    @Override
    public void close() {
        closed = new JournalException(Problem.STOPPED, "the reader of " + where + " is closed");
        reads.close();
        connections.close();
    }
}
