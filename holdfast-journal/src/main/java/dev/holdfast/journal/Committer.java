package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes. It takes all that waits, over all sessions, as one transaction with one fsync, tells the
 * callers, and begins again: the more wait, the more share a commit, and nobody waits for a commit to fill up.
 *
 * <p><b>Failures.</b> A write that cannot be stored is told so and does not harm the others of its batch: they are
 * applied again, each alone. A full disk fails the batch and, when the rollback leaves the database where it was, no
 * more than that. Any other error of the disk or of the database stops the committer for good (fail-stop): after a
 * failed fsync nobody knows what is on the disk.
 *
 * <p><b>Threads.</b> It is a platform thread, since calls into SQLite pin a virtual one. Stages are completed and
 * listeners called on it, so whoever is told must not block.
 */
final class Committer {
    private static final Logger LOG = LoggerFactory.getLogger(Committer.class);

    private final WriteStore store;
    private final Path directory;
    private final JournalOptions options;
    private final List<Consumer<SessionName>> listeners = new CopyOnWriteArrayList<>();
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    // Guarded by the lock.
    private final ArrayDeque<Write<?>> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private boolean closing;
    private @Nullable JournalException ended;

    private volatile boolean clean;
    private final AtomicLong commits = new AtomicLong();

    Committer(WriteStore store, Path directory, JournalOptions options) {
        this.store = store;
        this.directory = directory;
        this.options = options;
        this.thread = JournalThreads.committer(this::run);
    }

    void start() {
        thread.start();
    }

    /** Commits since the journal was opened, its own first one not counted. */
    long commits() {
        return commits.get();
    }

    void listen(Consumer<SessionName> listener) {
        listeners.add(listener);
    }

    <R> CompletionStage<R> submit(Write<R> write) {
        lock.lock();
        try {
            if (ended != null) {
                write.fail(ended);
            } else if (closing) {
                write.fail(closed());
            } else if (!tooMuchWaits(write.bytes())) {
                enqueue(write);
            } else if (!write.turnAway("the store has " + waiting.size() + " writes (" + waitingBytes
                    + " bytes) waiting for the disk; try again")) {
                enqueue(write);
            }
        } finally {
            lock.unlock();
        }
        return write.stage();
    }

    private boolean tooMuchWaits(long more) {
        return waiting.size() >= options.waitingItems()
                || (!waiting.isEmpty() && waitingBytes + more > options.waitingBytes());
    }

    private void enqueue(Write<?> write) {
        waiting.add(write);
        waitingBytes += write.bytes();
        arrived.signal();
    }

    /** The reason why nothing is done any more; null while the committer works. */
    @Nullable
    JournalException ended() {
        lock.lock();
        try {
            return ended == null && closing ? closed() : ended;
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            while (true) {
                List<Write<?>> batch = take();
                if (batch.isEmpty()) {
                    break;
                }
                commit(batch);
                store.checkpointWhenDue();
            }
            if (!stopped()) {
                store.checkpointAtEnd();
                clean = true;
            }
        } catch (SQLException e) {
            stop(Problems.of(e, "folding the log into the database", directory));
        } catch (Throwable e) {
            stop(new JournalException(Problem.FAILED, "the committer failed: " + e, e));
        } finally {
            end(closed());
            try {
                store.close();
            } catch (SQLException | IOException e) {
                LOG.warn("the database in {} was not closed cleanly: {}", directory, e.toString());
            }
        }
    }

    /** Whether the journal was closed, with all that waited committed and the log folded; asked after the end. */
    boolean endedCleanly() {
        return clean;
    }

    private boolean stopped() {
        lock.lock();
        try {
            return ended != null;
        } finally {
            lock.unlock();
        }
    }

    private JournalException closed() {
        return new JournalException(Problem.STOPPED, "the journal in " + directory + " is closed");
    }

    /** Waits for writes; an empty list means that the journal was closed or stopped and nothing waits any more. */
    private List<Write<?>> take() {
        List<Write<?>> batch = new ArrayList<>();
        lock.lock();
        try {
            while (waiting.isEmpty() && !closing && ended == null) {
                arrived.awaitUninterruptibly();
            }
            long bytes = 0;
            while (!waiting.isEmpty() && batch.size() < options.batchItems()) {
                long next = waiting.peek().bytes();
                if (!batch.isEmpty() && bytes + next > options.batchBytes()) {
                    break;
                }
                batch.add(waiting.remove());
                bytes += next;
                waitingBytes -= next;
            }
        } finally {
            lock.unlock();
        }
        return batch;
    }

    private void commit(List<Write<?>> batch) {
        try {
            attempt(batch);
        } catch (SQLException e) {
            recover(batch, e);
            return;
        } catch (IOException e) {
            fatal(batch, Problems.of(e, "writing the head file", directory));
            return;
        } catch (RuntimeException e) {
            isolate(batch, new JournalException(Problem.FAILED, "a write could not be applied: " + e, e));
            return;
        } catch (Error e) {
            fatal(batch, new JournalException(Problem.FAILED, "the committer failed: " + e, e));
            throw e;
        }
        for (Write<?> write : batch) {
            write.settle();
        }
        announce();
    }

    private void attempt(List<Write<?>> batch) throws SQLException, IOException {
        long bytes = 0;
        store.begin(options.clock().instant());
        for (Write<?> write : batch) {
            write.attempt(store);
            bytes += write.bytes();
        }
        if (store.commit(bytes)) {
            commits.incrementAndGet();
        }
    }

    private void recover(List<Write<?>> batch, SQLException error) {
        JournalException named = Problems.of(error, "committing", directory);
        if (Problems.isOfOneItem(error)) {
            isolate(batch, named);
        } else if ((Problems.isFull(error) || Problems.isBusy(error)) && store.rollback()) {
            LOG.warn("{} writes were not stored: {}", batch.size(), named.getMessage());
            batch.forEach(write -> write.fail(named));
        } else {
            fatal(batch, named);
        }
    }

    private void isolate(List<Write<?>> batch, JournalException error) {
        if (!store.rollback()) {
            fatal(batch, error);
        } else if (batch.size() == 1) {
            batch.getFirst().fail(error);
        } else {
            for (Write<?> write : batch) {
                if (stopped()) {
                    write.fail(error);
                } else {
                    commit(List.of(write));
                }
            }
        }
    }

    private void fatal(List<Write<?>> batch, JournalException error) {
        stop(error);
        batch.forEach(write -> write.fail(error));
    }

    private void stop(JournalException error) {
        LOG.error("the journal in {} has stopped: {}", directory, error.getMessage(), error);
        end(new JournalException(
                Problem.STOPPED,
                "the journal in " + directory + " has stopped after a failed write, whose outcome is unknown: "
                        + error.getMessage() + ". What was acknowledged is kept; open the journal again",
                error));
    }

    /** From now on every call fails with {@code reason}, unless one was given before. */
    private void end(JournalException reason) {
        List<Write<?>> left;
        JournalException given;
        lock.lock();
        try {
            if (ended == null) {
                ended = reason;
            }
            given = ended;
            left = List.copyOf(waiting);
            waiting.clear();
            waitingBytes = 0;
        } finally {
            lock.unlock();
        }
        left.forEach(write -> write.fail(given));
    }

    private void announce() {
        for (SessionName session : List.copyOf(store.arrivedAt())) {
            for (Consumer<SessionName> listener : listeners) {
                try {
                    listener.accept(session);
                } catch (RuntimeException e) {
                    LOG.warn("a listener for arrivals failed for session '{}'", session, e);
                }
            }
        }
    }

    /** Writes what waits, folds the log into the database and ends the thread. */
    void close() {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(
                    "a journal cannot be closed on its own thread; close it where it was opened");
        }
        lock.lock();
        try {
            closing = true;
            arrived.signal();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
