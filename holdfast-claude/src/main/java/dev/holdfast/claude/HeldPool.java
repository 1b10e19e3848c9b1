package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The places for live processes and the one authority that asks for one back (HS-04, HS-23). A newcomer takes a free place,
 * or waits in line for a while; for each one in line the least recently turned process between turns is asked to leave.
 * Thread-safe; holders are called without its lock.
 */
final class HeldPool {
    /** Who wants or has a place. No method waits. */
    interface Holder {
        /** The place is there. */
        void granted();

        /** Nobody left in time. */
        void denied();

        /** Asks it to end its process; answered by {@link HeldPool#release} or {@link HeldPool#stays}. */
        void pleaseLeave();

        /** Whether its process is between turns just now. */
        boolean resting();

        /** When its last turn ended; only differences mean something. */
        long lastTurn();

        /** Whether nobody would miss its process. */
        boolean spare();
    }

    private static final class Waiter {
        private final Holder holder;
        private Background.Later alarm = () -> {};

        Waiter(Holder holder) {
            this.holder = holder;
        }
    }

    private final Object lock = new Object();
    private final int cap;
    private final Duration patience;
    private final Background background;
    private final Set<Holder> held = new LinkedHashSet<>();
    private final Set<Holder> asked = new LinkedHashSet<>();
    private final Deque<Waiter> line = new ArrayDeque<>();
    private volatile boolean crowded;

    HeldPool(int cap, Duration patience, Background background) {
        this.cap = cap;
        this.patience = patience;
        this.background = background;
    }

    int cap() {
        return cap;
    }

    int inUse() {
        synchronized (lock) {
            return held.size();
        }
    }

    /** Answered by {@link Holder#granted} or {@link Holder#denied}, once. */
    void request(Holder holder) {
        if (tryRequest(holder)) {
            holder.granted();
            return;
        }
        var waiter = new Waiter(holder);
        synchronized (lock) {
            line.add(waiter);
            crowded = true;
            waiter.alarm = background.after(patience, () -> impatient(waiter));
        }
        settle();
    }

    /** Takes a place if one is free and nobody waits for it. */
    boolean tryRequest(Holder holder) {
        synchronized (lock) {
            return held.size() < cap && line.isEmpty() && held.add(holder);
        }
    }

    /** Gives the place back, or leaves the line. Idempotent. */
    void release(Holder holder) {
        synchronized (lock) {
            held.remove(holder);
            asked.remove(holder);
            line.removeIf(waiter -> {
                boolean his = waiter.holder.equals(holder);
                if (his) {
                    waiter.alarm.callOff();
                }
                return his;
            });
            crowded = !line.isEmpty();
        }
        settle();
    }

    /** An asked holder is in a turn by now and keeps its place. */
    void stays(Holder holder) {
        synchronized (lock) {
            asked.remove(holder);
        }
        settle();
    }

    /** A holder's turn is over; costs a look while nobody waits. */
    void rested() {
        if (crowded) {
            settle();
        }
    }

    private void impatient(Waiter waiter) {
        boolean waited;
        synchronized (lock) {
            waited = line.remove(waiter);
            crowded = !line.isEmpty();
        }
        if (waited) {
            waiter.holder.denied();
        }
    }

    /** Gives out free places, and asks for as many as are waited for. */
    private void settle() {
        var granted = new ArrayList<Holder>();
        var toAsk = new ArrayList<Holder>();
        synchronized (lock) {
            while (held.size() < cap && !line.isEmpty()) {
                Waiter next = line.removeFirst();
                next.alarm.callOff();
                held.add(next.holder);
                granted.add(next.holder);
            }
            crowded = !line.isEmpty();
            long wanted = (long) line.size() - asked.size();
            if (wanted > 0) {
                leastRecent().stream().limit(wanted).forEach(toAsk::add);
                asked.addAll(toAsk);
            }
        }
        granted.forEach(Holder::granted);
        toAsk.forEach(Holder::pleaseLeave);
    }

    /** What a holder was when it was looked at: it may change at any time, and what is sorted must not. */
    private record Seen(Holder holder, boolean spare, long lastTurn) {}

    private List<Holder> leastRecent() {
        return held.stream()
                .filter(holder -> !asked.contains(holder) && holder.resting())
                .map(holder -> new Seen(holder, holder.spare(), holder.lastTurn()))
                .sorted((a, b) -> a.spare() == b.spare()
                        ? Long.signum(a.lastTurn() - b.lastTurn())
                        : Boolean.compare(b.spare(), a.spare()))
                .map(Seen::holder)
                .toList();
    }
}
