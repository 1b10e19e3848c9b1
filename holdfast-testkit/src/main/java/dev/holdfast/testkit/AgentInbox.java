package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The messages that the agent has read and not begun, and whether it says that it is busy. The reading thread puts,
 * the turn thread takes. Safe for use by several threads; frames are printed under its lock, so that their order is
 * the order of what they tell.
 */
final class AgentInbox {
    /** One message as it was read. */
    record Line(String uuid, Json content, boolean query, boolean later, boolean now, long readAt) {}

    private final AgentMachine machine;
    private final AgentProfile profile;
    private final Runnable announceRunning;
    private final Runnable announceIdle;
    private final List<Line> waiting = new ArrayList<>();
    private final Set<String> received = new HashSet<>();
    private boolean busy;
    private boolean closed;
    private boolean woken;

    AgentInbox(AgentMachine machine, AgentProfile profile, Runnable announceRunning, Runnable announceIdle) {
        this.machine = machine;
        this.profile = profile;
        this.announceRunning = announceRunning;
        this.announceIdle = announceIdle;
    }

    synchronized boolean received(String uuid) {
        return received.contains(uuid);
    }

    synchronized boolean isWaiting(String uuid) {
        for (Line line : waiting) {
            if (line.uuid().equals(uuid)) {
                return true;
            }
        }
        return false;
    }

    synchronized boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    synchronized boolean isBusy() {
        return busy;
    }

    synchronized List<String> waitingUuids() {
        List<String> uuids = new ArrayList<>();
        for (Line line : waiting) {
            uuids.add(line.uuid());
        }
        return uuids;
    }

    synchronized void put(Line line, Runnable announceQueued) {
        becomeBusy();
        announceQueued.run();
        received.add(line.uuid());
        waiting.add(line);
        notifyAll();
    }

    /** Takes a waiting message back. */
    synchronized boolean withdraw(String uuid) {
        return waiting.removeIf(line -> line.uuid().equals(uuid));
    }

    synchronized void becomeBusy() {
        if (!busy) {
            busy = true;
            announceRunning.run();
        }
    }

    /** No more messages will come. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Makes {@link #take} return an empty batch, for a turn that nobody asked for. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Says idle when nothing waits. */
    synchronized void rest() {
        if (waiting.isEmpty() && busy) {
            busy = false;
            announceIdle.run();
        }
    }

    /** Says idle without changing anything: the answer to a message that starts no turn. */
    synchronized void repeatIdle() {
        if (!busy) {
            announceIdle.run();
        }
    }

    /** What {@link #take} gives. */
    record Taken(List<Line> batch, boolean end) {}

    /**
     * Waits for the next messages. A message that finds the agent resting is taken alone; all that waited during a
     * turn are taken together, as far as they can be joined.
     */
    synchronized Taken take(boolean wasResting) {
        while (waiting.isEmpty()) {
            if (woken) {
                woken = false;
                return new Taken(List.of(), false);
            }
            if (closed) {
                return new Taken(List.of(), true);
            }
            machine.await(this, 0);
        }
        boolean rested = wasResting;
        long due = waiting.getFirst().readAt() + profile.pickUpDelay().toMillis();
        while (machine.millis() < due && !waiting.isEmpty()) {
            machine.await(this, Math.max(1, due - machine.millis()));
        }
        List<Line> batch = new ArrayList<>();
        if (waiting.isEmpty()) {
            return new Taken(batch, false);
        }
        int first = firstInOrder();
        batch.add(waiting.remove(first));
        while (!rested && joins(batch.getLast()) && !waiting.isEmpty() && joins(waiting.getFirst())) {
            batch.add(waiting.removeFirst());
        }
        return new Taken(batch, false);
    }

    private int firstInOrder() {
        int soonest = -1;
        for (int at = 0; at < waiting.size(); at++) {
            if (waiting.get(at).now()) {
                return at;
            }
            if (soonest < 0 && !waiting.get(at).later()) {
                soonest = at;
            }
        }
        return Math.max(soonest, 0);
    }

    private static boolean joins(Line line) {
        return line.query()
                && !line.later()
                && !line.now()
                && LocalCommand.nameIn(line.content()).isEmpty();
    }

    /** The messages that are folded into a running turn between two of its model calls. */
    synchronized List<Line> takeFoldable() {
        List<Line> folded = new ArrayList<>();
        for (Line line : List.copyOf(waiting)) {
            if (!line.later()
                    && !line.now()
                    && LocalCommand.nameIn(line.content()).isEmpty()) {
                folded.add(line);
                waiting.remove(line);
            }
        }
        return folded;
    }
}
