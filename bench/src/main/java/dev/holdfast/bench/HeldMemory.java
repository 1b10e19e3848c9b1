package dev.holdfast.bench;

import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HeldSessions;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** What sessions cost in heap and threads: those with a process, and those that have lost theirs to others. */
final class HeldMemory {
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    private static final int PROCESSES = 8;

    private final Path program;
    private final Path directory;
    private final int live;
    private final int evicted;

    HeldMemory(Path program, Path directory, boolean quick) {
        this.program = program;
        this.directory = directory;
        this.live = quick ? 4 : 64;
        this.evicted = quick ? 12 : 1_000;
    }

    void run(Figures figures) throws Exception {
        live(figures);
        evicted(figures);
    }

    private void live(Figures figures) throws InterruptedException {
        ClaudeCodeAgent agent = HeldCrowd.agent(program);
        String row = "memory of a live session";
        try (HeldSessions sessions = HeldCrowd.open(directory.resolve("live"), directory, live)) {
            HeldCrowd.turn(sessions, agent, "s0", "first");
            long heap = heap();
            int threads = threads();
            for (int i = 1; i < live; i++) {
                HeldCrowd.turn(sessions, agent, "s" + i, "first");
            }
            put(row, live - 1, heap() - heap, figures);
            figures.put(row, "threads", Figures.round((threads() - threads) / (double) (live - 1)));
        }
    }

    /** Every process but a few is given up for the next session; as many sessions as there is time for. */
    private void evicted(Figures figures) throws InterruptedException {
        ClaudeCodeAgent agent = HeldCrowd.agent(program);
        try (HeldSessions sessions = HeldCrowd.open(directory.resolve("evicted"), directory, PROCESSES)) {
            var next = new AtomicInteger();
            var failure = new AtomicReference<Throwable>();
            long until = System.nanoTime() + PATIENCE_NANOS;
            var callers = new ArrayList<Thread>();
            for (int i = 0; i < PROCESSES; i++) {
                HeldCrowd.turn(sessions, agent, "warm" + i, "first");
            }
            long heap = heap();
            for (int i = 0; i < PROCESSES / 2; i++) {
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (next.get() < evicted && System.nanoTime() < until) {
                            HeldCrowd.turn(sessions, agent, "e" + next.getAndIncrement(), "first");
                        }
                    } catch (InterruptedException | RuntimeException e) {
                        failure.set(e);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            if (failure.get() != null) {
                throw new IllegalStateException("a turn of an evicted session failed", failure.get());
            }
            String row = "memory of evicted sessions";
            put(row, next.get(), heap() - heap, figures);
        }
    }

    private static void put(String row, int count, long bytes, Figures figures) {
        figures.put(row, "count", count);
        figures.put(row, "heap_kib", Figures.round(Math.max(0, bytes) / 1024.0 / count));
        figures.put(row, "heap_mb", Figures.round(Math.max(0, bytes) / 1e6));
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
