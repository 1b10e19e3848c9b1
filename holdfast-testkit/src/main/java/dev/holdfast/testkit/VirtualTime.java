package dev.holdfast.testkit;

import dev.holdfast.runtime.Surroundings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.Executor;

/**
 * A world of one thread: tasks and alarms of every simulated host and agent, run one at a time in an order drawn from a
 * seed. Time stands still while a task is ready and jumps to the next alarm when none is. Not thread-safe.
 */
public final class VirtualTime {
    static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");

    /** What runs beside the owner takes so long at most, now and then: longer than a verdict counts. */
    private static final int SLOW_TOOL_MILLIS = 7_000;

    private final Random random;
    private final List<Task> ready = new ArrayList<>();
    private final PriorityQueue<Pending> alarms = new PriorityQueue<>();
    private Instant now = EPOCH;
    private long order;

    public VirtualTime(Random random) {
        this.random = random;
    }

    /** A group of tasks with one fate: a host, or the agents' machine. */
    public final class Group implements Surroundings {
        private final List<Task> held = new ArrayList<>();
        private boolean dead;
        private boolean paused;
        private Optional<Instant> stoppedAt = Optional.empty();
        private Duration ahead = Duration.ZERO;

        /** Nothing of this group runs any more: kill -9. */
        public void kill() {
            dead = true;
            stoppedAt = stoppedAt.or(() -> Optional.of(now));
        }

        /** Nothing of this group runs until it is resumed. */
        public void pause() {
            paused = true;
            stoppedAt = Optional.of(now);
        }

        public void resume() {
            paused = false;
            if (!dead) {
                stoppedAt = Optional.empty();
            }
            ready.addAll(held);
            held.clear();
        }

        /** Sets its clock forward, or back, as somebody does who corrects it; pending alarms come when they would have. */
        public void jump(Duration by) {
            ahead = ahead.plus(by);
        }

        public boolean dead() {
            return dead;
        }

        /** Since when nothing of it runs; empty while it does. */
        Optional<Instant> stoppedAt() {
            return stoppedAt;
        }

        Instant trueNow() {
            return now;
        }

        public boolean paused() {
            return paused;
        }

        /** What its clock says. */
        @Override
        public Instant now() {
            return now.plus(ahead);
        }

        @Override
        public Executor executor() {
            return task -> {
                if (!dead) {
                    ready.add(new Task(this, task));
                }
            };
        }

        @Override
        public Executor toolExecutor() {
            return task -> {
                if (random.nextInt(3) == 0) {
                    after(Duration.ofMillis(random.nextInt(SLOW_TOOL_MILLIS)), task);
                } else {
                    executor().execute(task);
                }
            };
        }

        @Override
        public Alarm at(Instant at, Runnable task) {
            var alarm = new Pending(at.minus(ahead), order++, this, task);
            alarms.add(alarm);
            return () -> alarm.cancelled = true;
        }

        public void after(Duration delay, Runnable task) {
            at(now().plus(delay), task);
        }

        @Override
        public byte[] random(int count) {
            var bytes = new byte[count];
            random.nextBytes(bytes);
            return bytes;
        }
    }

    private record Task(Group group, Runnable work) {}

    private static final class Pending implements Comparable<Pending> {
        final Instant at;
        final long order;
        final Group group;
        final Runnable work;
        boolean cancelled;

        Pending(Instant at, long order, Group group, Runnable work) {
            this.at = at;
            this.order = order;
            this.group = group;
            this.work = work;
        }

        @Override
        public int compareTo(Pending other) {
            int byTime = at.compareTo(other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    public Instant now() {
        return now;
    }

    /** Runs one ready task, or jumps to the next alarm. False when nothing is left to do before {@code until}. */
    public boolean step(Instant until) {
        while (!ready.isEmpty()) {
            int at = random.nextInt(ready.size());
            var task = ready.get(at);
            var last = ready.removeLast();
            if (at < ready.size()) {
                ready.set(at, last);
            }
            if (task.group().paused && !task.group().dead) {
                task.group().held.add(task);
            } else if (!task.group().dead) {
                task.work().run();
                return true;
            }
        }
        while (!alarms.isEmpty() && !alarms.peek().at.isAfter(until)) {
            var alarm = alarms.poll();
            now = alarm.at.isAfter(now) ? alarm.at : now;
            if (!alarm.cancelled && !alarm.group.dead) {
                alarm.group.executor().execute(alarm.work);
                return true;
            }
        }
        return false;
    }
}
