package dev.holdfast.claude;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The owner of threads, clock and randomness in this module. Holds nothing that would have to be closed. */
final class SystemBackground implements Background {
    private static final Executor QUICK =
            task -> Thread.ofVirtual().name("holdfast-claude-alarm").start(task);

    /** For code of users: a thread of its own for each task, where it may wait. */
    static final Executor USERS =
            task -> Thread.ofVirtual().name("holdfast-held").start(task);

    @Override
    public void run(String name, Runnable task) {
        Thread.ofPlatform().daemon().name(name).start(task);
    }

    @Override
    public Later after(Duration delay, Runnable task) {
        CompletableFuture<@Nullable Void> time = new CompletableFuture<>();
        var unused = time.thenRunAsync(task, QUICK);
        time.completeOnTimeout(null, delay.toNanos(), TimeUnit.NANOSECONDS);
        return () -> time.cancel(false);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public UUID newId() {
        return UUID.randomUUID();
    }
}
