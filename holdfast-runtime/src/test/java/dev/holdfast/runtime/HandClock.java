package dev.holdfast.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** Time that passes when a test says so, and tasks that run at once, on the thread that gives them. */
final class HandClock implements Surroundings {
    private final List<Pending> pending = new ArrayList<>();
    private Instant now = Instant.parse("2026-08-01T12:00:00Z");

    private record Pending(Instant at, Runnable task) {}

    void pass(Duration time) {
        now = now.plus(time);
        for (Pending p : List.copyOf(pending)) {
            if (!p.at().isAfter(now) && pending.remove(p)) {
                p.task().run();
            }
        }
    }

    @Override
    public Instant now() {
        return now;
    }

    @Override
    public Executor executor() {
        return Runnable::run;
    }

    @Override
    public Executor toolExecutor() {
        return Runnable::run;
    }

    @Override
    public Alarm at(Instant at, Runnable task) {
        var alarm = new Pending(at, task);
        pending.add(alarm);
        return () -> pending.remove(alarm);
    }

    @Override
    public byte[] random(int count) {
        return new byte[count];
    }
}
