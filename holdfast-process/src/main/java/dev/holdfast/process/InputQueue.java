package dev.holdfast.process;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lines on their way to a child's stdin and the loop that writes them, run by one thread (HS-12), which comes when there
 * is something for it and goes after a while without. Callers only queue and never wait; one that knows of room in the pipe
 * may write its line itself while nothing else is on its way. Urgent lines pass ordinary ones that are not yet being
 * written; a line being written is never cut. Both lanes are bounded in bytes, the line being written included.
 */
final class InputQueue implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(InputQueue.class);

    /** What a queued line costs beside its bytes, so that a flood of empty lines is bounded too. */
    private static final int LINE_COST = 64;

    /** How long the thread stays with nothing to write. */
    private static final long STAYS_NANOS = 1_000_000_000;

    private static final class Lane {
        final Deque<Pending> waiting = new ArrayDeque<>();
        long bytes;
    }

    private static final class Pending {
        final byte[] line;
        final Lane lane;
        final CompletableFuture<@Nullable Void> written = new CompletableFuture<>();

        Pending(byte[] line, Lane lane) {
            this.line = line;
            this.lane = lane;
        }

        long cost() {
            return line.length + (long) LINE_COST;
        }
    }

    private final OutputStream stdin;
    private final long limit;
    private final String child;
    private final Consumer<Runnable> threads;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Lane urgent = new Lane();
    private final Lane ordinary = new Lane();
    private @Nullable Pending writing;

    /** The writing thread is there, or on its way. */
    private boolean served;

    private boolean closing;
    private boolean closed;
    private @Nullable String goneBecause;

    /**
     * @param child how messages name the child
     * @param threads starts a thread, and may throw an {@link OutOfMemoryError} when there is none
     */
    InputQueue(OutputStream stdin, long limit, String child, Consumer<Runnable> threads) {
        this.stdin = stdin;
        this.limit = limit;
        this.child = child;
        this.threads = threads;
    }

    CompletionStage<@Nullable Void> offer(byte[] line, boolean passing) {
        Lane lane = passing ? urgent : ordinary;
        Pending pending = new Pending(line, lane);
        boolean first;
        lock.lock();
        try {
            WriteFailed refusal = refusal(lane, pending.cost());
            if (refusal != null) {
                return CompletableFuture.failedStage(refusal);
            }
            lane.waiting.add(pending);
            lane.bytes += pending.cost();
            changed.signal();
            first = !served;
            served = true;
        } finally {
            lock.unlock();
        }
        if (first) {
            startServing();
        }
        return pending.written.minimalCompletionStage();
    }

    /** Without a thread the child can be told nothing: it is as good as gone. */
    private void startServing() {
        try {
            threads.accept(this);
        } catch (OutOfMemoryError e) {
            childGone("there is no thread to write with");
            notServed();
        }
    }

    private void notServed() {
        lock.lock();
        try {
            served = false;
            closeWhenOver();
        } finally {
            lock.unlock();
        }
    }

    /** Of the writing thread, after a line that could not be written. */
    private void leave() {
        lock.lock();
        try {
            writing = null;
            notServed();
        } finally {
            lock.unlock();
        }
    }

    /** Closes the pipe once nobody writes and nobody will. */
    private void closeWhenOver() {
        boolean over = goneBecause != null || (closing && urgent.waiting.isEmpty() && ordinary.waiting.isEmpty());
        if (over && !served && writing == null && !closed) {
            closed = true;
            try {
                stdin.close();
            } catch (IOException e) {
                LOG.debug("closing the stdin of {} failed; nothing waits in it", child, e);
            }
        }
    }

    /**
     * Like {@link #offer}, but writes in the calling thread when nothing else is on its way; so the caller must know that the
     * pipe has room for the line.
     */
    CompletionStage<@Nullable Void> offerNow(byte[] line) {
        Pending pending = new Pending(line, ordinary);
        lock.lock();
        try {
            if (writing != null || !urgent.waiting.isEmpty() || !ordinary.waiting.isEmpty()) {
                return offer(line, false);
            }
            WriteFailed refusal = refusal(ordinary, pending.cost());
            if (refusal != null) {
                return CompletableFuture.failedStage(refusal);
            }
            writing = pending;
            ordinary.bytes += pending.cost();
        } finally {
            lock.unlock();
        }
        try {
            write(stdin, pending);
        } catch (IOException e) {
            childGone("its stdin is closed (" + e.getMessage() + ")");
            callerLeaves();
        } catch (RuntimeException | Error e) {
            childGone("a line may have been written in part: " + e);
            callerLeaves();
            throw e;
        }
        return pending.written.minimalCompletionStage();
    }

    private void callerLeaves() {
        lock.lock();
        try {
            writing = null;
            changed.signal();
            closeWhenOver();
        } finally {
            lock.unlock();
        }
    }

    private void write(OutputStream out, Pending pending) throws IOException {
        out.write(pending.line);
        out.write('\n');
        out.flush();
        done(pending);
        pending.written.complete(null);
    }

    private @Nullable WriteFailed refusal(Lane lane, long cost) {
        if (goneBecause != null) {
            return new ChildGone("nothing can be written to " + child + ": " + goneBecause);
        }
        if (closing) {
            return new InputClosed("nothing can be written to " + child + ": its stdin was closed here");
        }
        if (lane.bytes > 0 && lane.bytes + cost > limit) {
            return new InputFull(child + " is not reading its stdin: " + lane.bytes + " bytes wait, the bound is "
                    + limit + "; wait for earlier writes before adding " + cost);
        }
        if (cost > limit + LINE_COST) {
            return new InputFull("a line of " + cost + " bytes exceeds the bound of " + limit + " for " + child
                    + "; raise the input limit");
        }
        return null;
    }

    /** Closes stdin once all queued lines are out. Lines offered later are refused. */
    void close() {
        lock.lock();
        try {
            closing = true;
            changed.signal();
            closeWhenOver();
        } finally {
            lock.unlock();
        }
    }

    /** The child can read nothing more: everything that waits fails, the writing loop ends. */
    void childGone(String why) {
        List<Pending> failed = new ArrayList<>();
        lock.lock();
        try {
            if (goneBecause == null) {
                goneBecause = why;
            }
            if (writing != null) {
                failed.add(writing);
            }
            failed.addAll(urgent.waiting);
            failed.addAll(ordinary.waiting);
            urgent.waiting.clear();
            ordinary.waiting.clear();
            changed.signal();
            closeWhenOver();
        } finally {
            lock.unlock();
        }
        for (Pending pending : failed) {
            pending.written.completeExceptionally(new ChildGone(
                    "a line of " + pending.line.length + " bytes was not taken by " + child + ": " + why));
        }
    }

    /** The writing loop; ends when there was nothing for a while, when stdin is closed, or the child is gone. */
    @Override
    public void run() {
        try {
            Pending pending = next();
            while (pending != null) {
                write(stdin, pending);
                pending = next();
            }
        } catch (IOException e) {
            childGone("its stdin is closed (" + e.getMessage() + ")");
            leave();
        } catch (OutOfMemoryError e) {
            childGone("a line may have been written in part, for want of memory");
            leave();
        } catch (RuntimeException | Error e) {
            childGone("a line may have been written in part: " + e);
            leave();
            throw e;
        }
    }

    /** The line to write now; null when this thread is to go, and then it counts as gone. */
    private @Nullable Pending next() {
        lock.lock();
        try {
            long left = STAYS_NANOS;
            while (goneBecause == null) {
                if (writing != null) { // by a caller
                    changed.awaitUninterruptibly();
                    continue;
                }
                Pending first = urgent.waiting.poll();
                if (first == null) {
                    first = ordinary.waiting.poll();
                }
                if (first != null) {
                    writing = first;
                    return first;
                }
                if (closing || left <= 0) {
                    break;
                }
                left = changed.awaitNanos(left);
            }
            served = false;
            closeWhenOver();
            return null;
        } catch (InterruptedException e) {
            throw new IllegalStateException("a writing thread was interrupted; nothing may do that", e);
        } finally {
            lock.unlock();
        }
    }

    private void done(Pending pending) {
        lock.lock();
        try {
            writing = null;
            pending.lane.bytes -= pending.cost();
            if (closing || !urgent.waiting.isEmpty() || !ordinary.waiting.isEmpty()) {
                changed.signal();
            }
            closeWhenOver();
        } finally {
            lock.unlock();
        }
    }
}
