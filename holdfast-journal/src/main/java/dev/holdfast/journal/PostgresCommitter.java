package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that write. One gathers all that waits, over all sessions, into one transaction, tells the callers, and
 * begins again: the more wait, the more share a commit, and nobody waits for a commit to fill up. Two more serve
 * sessions whose rows somebody else holds for long; see {@link PostgresQueue}.
 *
 * <p><b>Failures.</b> A write that cannot be stored is told so and does not harm the others of its batch: they are
 * applied again, each alone. A connection that is lost, a deadlock, a time limit: all are applied again on a new
 * connection, those whose commit was not answered after a look at what became of them, until each one's patience has
 * run out. Nothing stops for good: what the server has acknowledged is on its disk, and it never acknowledges
 * anything after a failed fsync.
 *
 * <p>Stages are completed and listeners called on these threads, so whoever is told must not block.
 */
final class PostgresCommitter {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresCommitter.class);
    static final int STRAGGLERS = 2;

    private final PostgresConnections connections;
    private final PostgresUrl url;
    private final PostgresOptions options;
    private final PostgresStep step;
    private final PostgresQueue queue;
    private final List<Consumer<SessionName>> listeners = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong commits = new AtomicLong();

    PostgresCommitter(PostgresConnections connections, PostgresUrl url, PostgresOptions options, PostgresStep step) {
        this.connections = connections;
        this.url = url;
        this.options = options;
        this.step = step;
        this.queue = new PostgresQueue(options.journal(), "the store in " + url);
        threads.add(JournalThreads.committer(this::serveAll));
        for (int i = 0; i < STRAGGLERS; i++) {
            threads.add(JournalThreads.straggler(this::serveSlow));
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /** Commits since the journal was opened. */
    long commits() {
        return commits.get();
    }

    void listen(Consumer<SessionName> listener) {
        listeners.add(listener);
    }

    <R> CompletionStage<R> submit(PostgresWrite<R> write) {
        queue.submit(write, closed());
        return write.stage();
    }

    private JournalException closed() {
        return new JournalException(Problem.STOPPED, "the journal in " + url + " is closed");
    }

    /** The reason why nothing is done any more; null while the committer works. */
    @Nullable
    JournalException ended() {
        return queue.ended(closed());
    }

    private void serveAll() {
        PostgresBackoff backoff = new PostgresBackoff();
        serve(() -> {
            List<PostgresWrite<?>> batch = queue.take();
            if (batch != null) {
                Result result = commit(batch, false);
                queue.finished(batch, result.passedOver, result.again);
                pauseAfter(result, backoff);
            }
            return batch != null;
        });
    }

    private void serveSlow() {
        PostgresBackoff backoff = new PostgresBackoff();
        serve(() -> {
            List<PostgresWrite<?>> batch = queue.takeSlow();
            if (batch != null) {
                Result result = commit(batch, true);
                List<PostgresWrite<?>> again = new ArrayList<>(result.passedOver);
                again.addAll(result.again);
                queue.finishedSlow(batch, again);
                pauseAfter(result, backoff);
            }
            return batch != null;
        });
    }

    private interface Round {
        /** Whether there may be another. */
        boolean serve();
    }

    private void serve(Round round) {
        try {
            while (round.serve()) {
                // until the journal is closed and nothing waits
            }
        } catch (Throwable e) {
            LOG.error("the journal in {} has stopped", url, e);
            queue.end(new JournalException(
                    Problem.STOPPED, "the journal in " + url + " has stopped: " + e + "; open it again", e));
            throw e;
        }
    }

    private void pauseAfter(Result result, PostgresBackoff backoff) {
        if (result.broken) {
            queue.pause(backoff.nanos());
        } else {
            backoff.reset();
        }
    }

    /** What became of a batch: what is in neither list was told. */
    private static final class Result {
        final List<PostgresWrite<?>> passedOver = new ArrayList<>();
        final List<PostgresWrite<?>> again = new ArrayList<>();
        boolean broken;
    }

    private Result commit(List<PostgresWrite<?>> batch, boolean waits) {
        Result result = new Result();
        commit(batch, waits, result);
        return result;
    }

    private void commit(List<PostgresWrite<?>> batch, boolean waits, Result result) {
        Attempt attempt = new Attempt(batch, waits);
        try {
            attempt.run();
        } catch (SQLException e) {
            failed(attempt, e, result);
            return;
        } catch (RuntimeException e) {
            isolate(attempt, new JournalException(Problem.FAILED, "a write could not be applied: " + e, e), result);
            return;
        } catch (Error e) {
            JournalException error = new JournalException(Problem.FAILED, "the committer failed: " + e, e);
            batch.forEach(write -> write.fail(error));
            throw e;
        }
        result.passedOver.addAll(attempt.passedOver);
        attempt.applied.forEach(PostgresWrite::settle);
        announce(attempt.arrivedAt);
    }

    /** One transaction, and how far it got. */
    private final class Attempt {
        private final List<PostgresWrite<?>> batch;
        private final boolean waits;
        private List<PostgresWrite<?>> passedOver = List.of();
        private List<PostgresWrite<?>> applied = List.of();
        private List<SessionName> arrivedAt = List.of();
        private boolean committing;

        Attempt(List<PostgresWrite<?>> batch, boolean waits) {
            this.batch = batch;
            this.waits = waits;
        }

        void run() throws SQLException {
            try (Connection connection = connections.take()) {
                PostgresSql sql = new PostgresSql(connection);
                if (waits) {
                    sql.run("SET LOCAL lock_timeout = " + options.rowWait().toMillis());
                }
                PostgresTransaction transaction = new PostgresTransaction(
                        sql, options.schema(), options.journal().clock().instant(), waits);
                passedOver = transaction.apply(batch);
                Set<PostgresWrite<?>> not = new HashSet<>(passedOver);
                applied = batch.stream().filter(write -> !not.contains(write)).toList();
                arrivedAt = List.copyOf(transaction.arrivedAt());
                step.at(PostgresStep.Point.BEFORE_COMMIT, sql);
                committing = true;
                connection.commit();
                step.at(PostgresStep.Point.AFTER_COMMIT, sql);
                commits.incrementAndGet();
            }
        }
    }

    private void failed(Attempt attempt, SQLException error, Result result) {
        if (attempt.committing) {
            attempt.applied.forEach(PostgresWrite::doubt);
        }
        JournalException named = PostgresProblems.of(error, "committing", url);
        if (PostgresProblems.isOfOneItem(error) || (attempt.batch.size() > 1 && PostgresProblems.tookTooLong(error))) {
            isolate(attempt, named, result);
        } else if (PostgresProblems.mayPass(error)) {
            result.broken |= !PostgresProblems.isLocked(error);
            LOG.debug("{} writes are tried again: {}", attempt.batch.size(), named.getMessage());
            long now = Monotonic.nanos();
            for (PostgresWrite<?> write : attempt.batch) {
                if (now - write.since() < options.patience().toNanos()) {
                    result.again.add(write);
                } else {
                    write.fail(outOfPatience(write, named));
                }
            }
        } else {
            LOG.warn("{} writes were not stored: {}", attempt.batch.size(), named.getMessage());
            attempt.batch.forEach(write -> write.fail(named));
        }
    }

    private JournalException outOfPatience(PostgresWrite<?> write, JournalException last) {
        String outcome = write.inDoubt()
                ? "whether it was stored is not known: ask with the same key, or claim the session again"
                : "nothing of it was stored";
        return new JournalException(
                last.problem(),
                "a write to session '" + write.session() + "' was given up after " + options.patience() + ", " + outcome
                        + ". " + last.getMessage(),
                last);
    }

    /** One write has spoilt the batch: each is applied again, alone. */
    private void isolate(Attempt attempt, JournalException error, Result result) {
        if (attempt.batch.size() == 1) {
            attempt.batch.getFirst().fail(error);
            return;
        }
        for (PostgresWrite<?> write : attempt.batch) {
            if (holdsUp(result.again, write)) {
                result.again.add(write);
            } else if (holdsUp(result.passedOver, write)) {
                result.passedOver.add(write);
            } else {
                commit(List.of(write), attempt.waits, result);
            }
        }
    }

    private static boolean holdsUp(List<PostgresWrite<?>> earlier, PostgresWrite<?> write) {
        return earlier.stream().anyMatch(other -> other.session().equals(write.session()));
    }

    private void announce(List<SessionName> sessions) {
        for (SessionName session : sessions) {
            for (Consumer<SessionName> listener : listeners) {
                try {
                    listener.accept(session);
                } catch (RuntimeException e) {
                    LOG.warn("a listener for arrivals failed for session '{}'", session, e);
                }
            }
        }
    }

    /** Writes what waits, as far as the patience of each allows, and ends the threads. */
    void close() {
        if (threads.contains(Thread.currentThread())) {
            throw new IllegalStateException(
                    "a journal cannot be closed on its own thread; close it where it was opened");
        }
        queue.close();
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        queue.end(closed());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
