package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves reads on a few platform threads, each with a connection while it reads. A connection that is lost is
 * replaced and the read begun again, as long as the patience lasts. Stages are completed on these threads, so whoever
 * is told must not block for long. Thread-safe.
 */
final class PostgresReadPool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresReadPool.class);
    private static final int WAITING = 100_000;
    private static final long END_SECONDS = 30;

    private final PostgresConnections connections;
    private final PostgresUrl url;
    private final long patience;
    private final Supplier<@Nullable JournalException> ended;
    private final ThreadPoolExecutor threads;

    /** @param ended why nothing is read any more; null as long as reads are served */
    PostgresReadPool(
            PostgresConnections connections,
            PostgresUrl url,
            PostgresOptions options,
            Supplier<@Nullable JournalException> ended) {
        this.connections = connections;
        this.url = url;
        this.patience = options.patience().toNanos();
        this.ended = ended;
        int readers = options.journal().readers();
        this.threads = new ThreadPoolExecutor(
                readers, readers, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING), JournalThreads.readers());
        threads.allowCoreThreadTimeOut(true);
    }

    /** What a reader does with its connection. */
    interface Read<R> {
        R from(PostgresSql sql) throws SQLException;
    }

    /** Reads with statements that each see what is committed when they begin. */
    <R> CompletionStage<R> read(String what, Read<R> body) {
        return read(what, false, body);
    }

    /** Reads in one transaction that sees one state. */
    <R> CompletionStage<R> readAtOnce(String what, Read<R> body) {
        return read(what, true, body);
    }

    private <R> CompletionStage<R> read(String what, boolean atOnce, Read<R> body) {
        CompletableFuture<R> stage = new CompletableFuture<>();
        long since = Monotonic.nanos();
        try {
            threads.execute(() -> run(what, atOnce, body, stage, since));
        } catch (RejectedExecutionException e) {
            JournalException end = ended.get();
            stage.completeExceptionally(
                    end != null
                            ? end
                            : new JournalException(
                                    Problem.FAILED, WAITING + " reads wait already; " + what + " was not begun", e));
        }
        return stage;
    }

    private <R> void run(String what, boolean atOnce, Read<R> body, CompletableFuture<R> stage, long since) {
        PostgresBackoff backoff = new PostgresBackoff();
        while (true) {
            JournalException end = ended.get();
            if (end != null) {
                stage.completeExceptionally(end);
                return;
            }
            R result;
            try {
                result = attempt(atOnce, body);
            } catch (SQLException e) {
                if (PostgresProblems.mayPass(e) && Monotonic.nanos() - since < patience && backoff.pause()) {
                    continue;
                }
                stage.completeExceptionally(PostgresProblems.of(e, what, url));
                return;
            } catch (Throwable e) {
                stage.completeExceptionally(e);
                return;
            }
            stage.complete(result);
            return;
        }
    }

    private <R> R attempt(boolean atOnce, Read<R> body) throws SQLException {
        try (Connection connection = connections.take()) {
            PostgresSql sql = new PostgresSql(connection);
            if (atOnce) {
                sql.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
            }
            R result = body.from(sql);
            connection.commit();
            return result;
        }
    }

    /** Waits for reads that have begun. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a read of {} goes on after {} s and is broken off", url, END_SECONDS);
                threads.shutdownNow().forEach(Runnable::run); // each is told that this is closed
            }
        } catch (InterruptedException e) {
            threads.shutdownNow().forEach(Runnable::run); // each is told that this is closed
            Thread.currentThread().interrupt();
        }
    }
}
