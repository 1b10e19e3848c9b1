package dev.holdfast.claude;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
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

    private static final SecureRandom CHANCE = new SecureRandom();
    private static final int IDS_DRAWN = 64;

    private final ByteBuffer chance =
            ByteBuffer.allocate(IDS_DRAWN * 2 * Long.BYTES).position(IDS_DRAWN * 2 * Long.BYTES);

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

    /** Chance is drawn for many ids together: one draw waits for the whole JVM's source of it. */
    @Override
    public UUID newId() {
        long high;
        long low;
        synchronized (chance) {
            if (!chance.hasRemaining()) {
                CHANCE.nextBytes(chance.array());
                chance.clear();
            }
            high = chance.getLong();
            low = chance.getLong();
        }
        return new UUID((high & ~0xF000L) | 0x4000L, (low & (-1L >>> 2)) | Long.MIN_VALUE); // version 4
    }
}
