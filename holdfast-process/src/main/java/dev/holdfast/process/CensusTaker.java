package dev.holdfast.process;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes censuses on a thread of its own, one at a time: all who ask while one is being taken share the next. A hundred
 * children that end at once cost two or three searches, and a search that hangs on a stuck process holds up nobody.
 */
final class CensusTaker implements AutoCloseable {

    /** A search normally takes some 10 ms; after this long the answer is given without environments. */
    private static final long PATIENCE_SECONDS = 5;

    private final ProcessTable table;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition asked = lock.newCondition();
    private List<CompletableFuture<Census>> waiting = new ArrayList<>();
    private boolean closed;

    CensusTaker(ProcessTable table, Platform platform, String name) {
        this.table = table;
        platform.thread(name, this::serve).start();
    }

    /** A census whose taking began after this call. */
    Census take() {
        CompletableFuture<Census> answer = new CompletableFuture<>();
        lock.lock();
        try {
            if (closed) {
                return table.census(false);
            }
            waiting.add(answer);
            asked.signal();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException | TimeoutException e) {
                    return table.census(false);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void serve() {
        List<CompletableFuture<Census>> served = nextAskers();
        while (!served.isEmpty()) {
            try {
                Census census = table.census(true);
                served.forEach(asker -> asker.complete(census));
            } catch (RuntimeException | Error e) {
                served.forEach(asker -> asker.completeExceptionally(e));
            }
            served = nextAskers();
        }
    }

    private List<CompletableFuture<Census>> nextAskers() {
        lock.lock();
        try {
            while (waiting.isEmpty() && !closed) {
                asked.awaitUninterruptibly();
            }
            List<CompletableFuture<Census>> askers = waiting;
            waiting = new ArrayList<>();
            return askers;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread after the askers that already wait were served. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            asked.signal();
        } finally {
            lock.unlock();
        }
    }
}
