package dev.holdfast.claude;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Threads and time in a test's hand: what would run on a thread waits for {@link #work}, time stands still. */
final class ManualBackground implements Background {
    private record Alarm(long at, long order, Runnable task) {}

    private final PriorityQueue<Alarm> alarms =
            new PriorityQueue<>(Comparator.comparingLong(Alarm::at).thenComparingLong(Alarm::order));
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private long now = Long.MAX_VALUE - 1_000_000_000;
    private long order;
    private long ids;
    /** Thrown at the next attempt to start a thread. */
    @Nullable
    Error runFailure;
    /** Happens when somebody looks at the clock next. */
    Runnable atNextLook = () -> {};

    @Override
    public void run(String name, Runnable task) {
        Error failure = runFailure;
        runFailure = null;
        if (failure != null) {
            throw failure;
        }
        tasks.add(task);
    }

    /** Called once, in the middle of whatever sets the next alarm. */
    Runnable whileSetting = () -> {};

    @Override
    public Later after(Duration delay, Runnable task) {
        Runnable once = whileSetting;
        whileSetting = () -> {};
        once.run();
        var alarm = new Alarm(elapsed() + delay.toNanos(), order++, task);
        alarms.add(alarm);
        return () -> alarms.remove(alarm);
    }

    /** How many tasks are yet to run. */
    int pending() {
        return alarms.size();
    }

    @Override
    public long nanoTime() {
        Runnable look = atNextLook;
        atNextLook = () -> {};
        look.run();
        return now;
    }

    private long elapsed() {
        return now - (Long.MAX_VALUE - 1_000_000_000);
    }

    @Override
    public UUID newId() {
        ids++;
        return new UUID(0xABCD_0000_0000_4000L, 0x8000_0000_0000_0000L + ids);
    }

    /** Runs what would be on other threads now. */
    void work() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    void advance(Duration by) {
        long until = elapsed() + by.toNanos();
        while (!alarms.isEmpty() && alarms.peek().at() <= until) {
            Alarm next = alarms.poll();
            now += Math.max(0, next.at() - elapsed());
            next.task().run();
        }
        now += until - elapsed();
    }
}
