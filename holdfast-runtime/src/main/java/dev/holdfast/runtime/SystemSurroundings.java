package dev.holdfast.runtime;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one place of the runtime that reads the clock, makes threads and takes randomness. */
final class SystemSurroundings implements Surroundings {
    private final Clock clock = Clock.systemUTC();
    private final SecureRandom random = new SecureRandom();
    private final ExecutorService tasks = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledThreadPoolExecutor timer;

    SystemSurroundings() {
        timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("holdfast-timer").daemon().factory());
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(5, TimeUnit.SECONDS); // so that a host that was closed leaves no thread (HS-16)
        timer.allowCoreThreadTimeOut(true);
    }

    @Override
    public Instant now() {
        return clock.instant();
    }

    @Override
    public Executor executor() {
        return tasks;
    }

    @Override
    public Executor toolExecutor() {
        return tasks;
    }

    @Override
    public Alarm at(Instant at, Runnable task) {
        long nanos = Math.max(0, Duration.between(now(), at).toNanos());
        var future = timer.schedule(() -> tasks.execute(task), nanos, TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public byte[] random(int count) {
        var bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
