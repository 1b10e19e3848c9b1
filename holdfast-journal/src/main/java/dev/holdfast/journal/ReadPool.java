package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves reads on a few platform threads (calls into SQLite pin a virtual one), each with a connection of its own while
 * it reads. Stages are completed on these threads, so whoever is told must not block for long. Thread-safe.
 */
final class ReadPool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReadPool.class);
    private static final int WAITING = 100_000;
    private static final long END_SECONDS = 30;
    private static final int ATTEMPTS = 5;

    private final Source source;
    private final Path directory;
    private final Supplier<@Nullable JournalException> ended;
    private final ThreadPoolExecutor threads;
    private final ConcurrentLinkedQueue<Statements> idle = new ConcurrentLinkedQueue<>();

    /**
     * @param ended why nothing is read any more; null as long as reads are served
     */
    ReadPool(Source source, Path directory, int readers, Supplier<@Nullable JournalException> ended) {
        this.source = source;
        this.directory = directory;
        this.ended = ended;
        this.threads = new ThreadPoolExecutor(
                readers, readers, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING), JournalThreads.readers());
        threads.allowCoreThreadTimeOut(true);
    }

    /** What a reader does with its connection. */
    interface Read<R> {
        R from(Statements sql) throws SQLException;
    }

    /** Where connections come from. */
    interface Source {
        Connected open() throws SQLException;

        /** Whether what was read through an {@code untouched} connection may be believed. */
        default boolean stillUntouched() {
            return true;
        }
    }

    /**
     * A connection.
     *
     * @param untouched it takes no locks, is used once, and what it read counts only if nobody wrote meanwhile
     */
    record Connected(Statements sql, boolean untouched) {}

    <R> CompletionStage<R> read(String what, Read<R> body) {
        CompletableFuture<R> stage = new CompletableFuture<>();
        try {
            threads.execute(() -> run(what, body, stage));
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

    private <R> void run(String what, Read<R> body, CompletableFuture<R> stage) {
        JournalException end = ended.get();
        if (end != null) {
            stage.completeExceptionally(end);
            return;
        }
        R result;
        try {
            result = attempt(body);
        } catch (SQLException e) {
            stage.completeExceptionally(Problems.of(e, what, directory));
            return;
        } catch (Throwable e) {
            stage.completeExceptionally(e);
            return;
        }
        stage.complete(result);
    }

    private <R> R attempt(Read<R> body) throws SQLException {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            Statements known = idle.poll();
            Connected connection = known == null ? source.open() : new Connected(known, false);
            if (!connection.untouched()) {
                return reading(body, connection.sql());
            }
            try (Statements sql = connection.sql()) {
                R result = body.from(sql);
                if (source.stillUntouched()) {
                    return result;
                }
            } catch (JournalException | SQLException e) {
                if (source.stillUntouched()) {
                    throw e;
                }
            }
        }
        throw new JournalException(
                Problem.FAILED, "the store in " + directory + " is opened and closed all the time; try again");
    }

    private <R> R reading(Read<R> body, Statements sql) throws SQLException {
        boolean usable = false;
        try {
            R result = body.from(sql);
            usable = true;
            return result;
        } catch (JournalException e) {
            usable = true;
            throw e;
        } finally {
            if (usable) {
                idle.add(sql);
            } else {
                sql.close();
            }
        }
    }

    /** Waits for reads that have begun, then closes the connections. */
    @Override
    public void close() {
        threads.shutdown();
        boolean interrupted = false;
        try {
            if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a read of {} goes on after {} s; its connection stays open", directory, END_SECONDS);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        for (Statements sql = idle.poll(); sql != null; sql = idle.poll()) {
            try {
                sql.close();
            } catch (SQLException e) {
                LOG.warn("a read connection of {} was not closed cleanly: {}", directory, e.toString());
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
