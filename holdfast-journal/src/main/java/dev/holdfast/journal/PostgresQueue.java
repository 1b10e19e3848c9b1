package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.SessionName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written. Writes to one session keep their order, whatever becomes of the sessions around it.
 *
 * <p>A session whose rows somebody else holds is passed over, with all that waits for it, and is in the next batch
 * again. Passed over {@value #ROUNDS} times it leaves the batches and stands in a line of its own, which stragglers
 * serve one session at a time, waiting for the rows. So a row that is held for long stalls its own session and
 * nothing else.
 *
 * <p>Thread-safe. Every state is guarded by the one lock.
 */
final class PostgresQueue {
    /** Rounds in which a session is passed over before it is served alone. */
    static final int ROUNDS = 3;

    /** How long the next round waits for others to come when all that is left was passed over just now. */
    private static final long PASSED_OVER_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final JournalOptions options;
    private final String where;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Condition slowCame = lock.newCondition();
    private final Condition ending = lock.newCondition();
    private final ArrayDeque<PostgresWrite<?>> fresh = new ArrayDeque<>();
    /** Sessions of which something was passed over, in the order in which that began. */
    private final Map<SessionName, Lane> lanes = new LinkedHashMap<>();

    private final ArrayDeque<Lane> slow = new ArrayDeque<>();
    private int waiting;
    private long waitingBytes;
    private boolean closing;
    private @Nullable JournalException ended;

    PostgresQueue(JournalOptions options, String where) {
        this.options = options;
        this.where = where;
    }

    /** The writes to one session that were passed over, and those behind them. */
    private static final class Lane {
        final SessionName session;
        final ArrayDeque<PostgresWrite<?>> writes = new ArrayDeque<>();
        int rounds;
        boolean alone;

        Lane(SessionName session) {
            this.session = session;
        }
    }

    /**
     * Hands a write in. It is turned away when too much waits, in all or for a session that stands alone; its stage is
     * then complete.
     *
     * @param closed what a write is told once the queue is closed
     */
    void submit(PostgresWrite<?> write, JournalException closed) {
        lock.lock();
        try {
            write.handedIn(Monotonic.nanos());
            if (ended != null) {
                write.fail(ended);
            } else if (closing) {
                write.fail(closed);
            } else if (!tooMuch(write) || !write.turnAway(tooMuchWaits())) {
                waiting++;
                waitingBytes += write.bytes();
                add(write);
            }
        } finally {
            lock.unlock();
        }
    }

    private void add(PostgresWrite<?> write) {
        if (!write.alone() || lanes.containsKey(write.session())) {
            fresh.add(write);
            changed.signal();
            return;
        }
        Lane lane = new Lane(write.session());
        lanes.put(write.session(), lane);
        for (Iterator<PostgresWrite<?>> all = fresh.iterator(); all.hasNext(); ) {
            PostgresWrite<?> earlier = all.next();
            if (earlier.session().equals(write.session())) {
                lane.writes.add(earlier);
                all.remove();
            }
        }
        lane.writes.add(write);
        lane.alone = true;
        slow.add(lane);
        slowCame.signal();
    }

    private boolean tooMuch(PostgresWrite<?> write) {
        Lane lane = lanes.get(write.session());
        return waiting >= options.waitingItems()
                || (waiting > 0 && waitingBytes + write.bytes() > options.waitingBytes())
                || (lane != null && lane.alone && lane.writes.size() >= Math.max(1, options.waitingItems() / 16));
    }

    private String tooMuchWaits() {
        return where + " has " + waiting + " writes (" + waitingBytes + " bytes) waiting; try again";
    }

    /** The next batch: what was passed over first. Null when the queue is closed and nothing waits any more. */
    @Nullable
    List<PostgresWrite<?>> take() {
        lock.lock();
        try {
            while (true) {
                if (ended != null || (closing && waiting == 0)) {
                    return null;
                }
                List<PostgresWrite<?>> batch = gather();
                if (!batch.isEmpty()) {
                    return batch;
                }
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private List<PostgresWrite<?>> gather() {
        if (lanes.values().stream().anyMatch(lane -> !lane.alone && !lane.writes.isEmpty())) {
            awaitFresh();
        }
        List<PostgresWrite<?>> batch = new ArrayList<>();
        Set<SessionName> cut = new HashSet<>();
        long bytes = 0;
        for (Lane lane : lanes.values()) {
            while (!lane.alone && !lane.writes.isEmpty()) {
                PostgresWrite<?> next = lane.writes.element();
                if (full(batch, bytes, next)) {
                    cut.add(lane.session);
                    break;
                }
                batch.add(lane.writes.remove());
                bytes += next.bytes();
            }
        }
        while (!fresh.isEmpty() && !full(batch, bytes, fresh.element())) {
            PostgresWrite<?> next = fresh.remove();
            Lane lane = lanes.get(next.session());
            if (lane != null && (lane.alone || cut.contains(next.session()))) {
                lane.writes.add(next);
            } else {
                batch.add(next);
                bytes += next.bytes();
            }
        }
        return batch;
    }

    private void awaitFresh() {
        try {
            long left = PASSED_OVER_NANOS;
            while (left > 0 && fresh.isEmpty() && ended == null) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // The committer's thread is ours; nobody has a reason to interrupt it.
        }
    }

    private boolean full(List<PostgresWrite<?>> batch, long bytes, PostgresWrite<?> next) {
        return batch.size() >= options.batchItems()
                || (!batch.isEmpty() && bytes + next.bytes() > options.batchBytes());
    }

    /**
     * Says what became of a batch: each write is done, or was passed over, or has to be done again for a reason that is
     * not its session's.
     *
     * @param passedOver in their order
     * @param again in their order; none of them behind one that was passed over
     */
    void finished(List<PostgresWrite<?>> batch, List<PostgresWrite<?>> passedOver, List<PostgresWrite<?>> again) {
        JournalException given;
        lock.lock();
        try {
            count(batch, -1);
            if (ended == null) {
                putBack(batch, passedOver, again);
                return;
            }
            given = ended;
        } finally {
            lock.unlock();
        }
        passedOver.forEach(write -> write.fail(given));
        again.forEach(write -> write.fail(given));
    }

    private void putBack(
            List<PostgresWrite<?>> batch, List<PostgresWrite<?>> passedOver, List<PostgresWrite<?>> again) {
        count(passedOver, 1);
        count(again, 1);
        Map<SessionName, List<PostgresWrite<?>>> back = new HashMap<>();
        Set<SessionName> held = new HashSet<>();
        for (PostgresWrite<?> write : passedOver) {
            held.add(write.session());
            back.computeIfAbsent(write.session(), name -> new ArrayList<>()).add(write);
        }
        for (PostgresWrite<?> write : again) {
            back.computeIfAbsent(write.session(), name -> new ArrayList<>()).add(write);
        }
        back.forEach((session, writes) -> {
            Lane lane = lanes.computeIfAbsent(session, Lane::new);
            writes.reversed().forEach(lane.writes::addFirst);
        });
        for (PostgresWrite<?> write : batch) {
            Lane lane = lanes.get(write.session());
            if (lane != null) {
                passedOver(lane, held.remove(write.session()), back.containsKey(write.session()));
            }
        }
        signal();
    }

    private void passedOver(Lane lane, boolean held, boolean back) {
        if (held) {
            lane.rounds++;
            if (lane.rounds >= ROUNDS && !lane.alone) {
                lane.alone = true;
                slow.add(lane);
                slowCame.signal();
            }
        } else if (!back && !lane.alone) {
            lane.rounds = 0;
            if (lane.writes.isEmpty()) {
                lanes.remove(lane.session);
            }
        }
    }

    /** The next session to serve alone, with what waits for it. Null when the queue is closed and nothing waits. */
    @Nullable
    List<PostgresWrite<?>> takeSlow() {
        lock.lock();
        try {
            while (slow.isEmpty()) {
                if (ended != null || (closing && waiting == 0)) {
                    return null;
                }
                slowCame.awaitUninterruptibly();
            }
            Lane lane = slow.remove();
            List<PostgresWrite<?>> batch = new ArrayList<>();
            long bytes = 0;
            while (!lane.writes.isEmpty() && !full(batch, bytes, lane.writes.element())) {
                PostgresWrite<?> next = lane.writes.remove();
                batch.add(next);
                bytes += next.bytes();
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Says what became of a batch from {@link #takeSlow}; what is left stands in line again, or goes with the others.
     */
    void finishedSlow(List<PostgresWrite<?>> batch, List<PostgresWrite<?>> again) {
        JournalException given;
        lock.lock();
        try {
            count(batch, -1);
            if (ended == null) {
                standAgain(batch, again);
                return;
            }
            given = ended;
        } finally {
            lock.unlock();
        }
        again.forEach(write -> write.fail(given));
    }

    private void standAgain(List<PostgresWrite<?>> batch, List<PostgresWrite<?>> again) {
        count(again, 1);
        Lane lane = lanes.computeIfAbsent(batch.getFirst().session(), Lane::new);
        again.reversed().forEach(lane.writes::addFirst);
        if (!again.isEmpty()) {
            slow.add(lane);
            slowCame.signal();
        } else {
            lane.alone = false;
            lane.rounds = 0;
            if (lane.writes.isEmpty()) {
                lanes.remove(lane.session);
            }
        }
        signal();
    }

    private void count(List<PostgresWrite<?>> writes, int sign) {
        for (PostgresWrite<?> write : writes) {
            waiting += sign;
            waitingBytes += sign * write.bytes();
        }
    }

    private void signal() {
        if (closing && waiting == 0) {
            signalAll();
        } else {
            changed.signal();
        }
    }

    private void signalAll() {
        changed.signalAll();
        slowCame.signalAll();
        ending.signalAll();
    }

    /** Waits a moment, or until the queue ends. */
    void pause(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (left > 0 && ended == null) {
                left = ending.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            // As in gather.
        } finally {
            lock.unlock();
        }
    }

    /** Takes nothing new; what waits is still done. */
    void close() {
        lock.lock();
        try {
            closing = true;
            signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** From now on every write fails with {@code reason}, unless one was given before; what waits as well. */
    void end(JournalException reason) {
        List<PostgresWrite<?>> left = new ArrayList<>();
        JournalException given;
        lock.lock();
        try {
            if (ended == null) {
                ended = reason;
            }
            given = ended;
            left.addAll(fresh);
            fresh.clear();
            for (Iterator<Lane> all = lanes.values().iterator(); all.hasNext(); all.remove()) {
                left.addAll(all.next().writes);
            }
            slow.clear();
            signalAll();
        } finally {
            lock.unlock();
        }
        left.forEach(write -> write.fail(given));
    }

    /** Why nothing is done any more; null while writes are taken. */
    @Nullable
    JournalException ended(JournalException closed) {
        lock.lock();
        try {
            return ended == null && closing ? closed : ended;
        } finally {
            lock.unlock();
        }
    }
}
