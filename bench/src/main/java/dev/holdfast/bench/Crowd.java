package dev.holdfast.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Several sessions of one kind, each with an agent process and a calling thread of its own. */
abstract class Crowd implements AutoCloseable {
    private final String name;
    private final int size;
    private long cpuNanos;
    private long turns;

    Crowd(String name, int size) {
        this.name = name + ", " + size;
        this.size = size;
    }

    final String name() {
        return name;
    }

    final int size() {
        return size;
    }

    /** Runs one turn of one session to its end. */
    abstract void turn(int session, int number) throws Exception;

    @Override
    public abstract void close() throws IOException;

    /** All sessions at once, each so many turns one after the other. */
    final void round(int perSession, Latencies into) throws Exception {
        long cpu = cpu();
        long began = System.nanoTime();
        List<long[]> durations = new ArrayList<>();
        if (size == 1) {
            durations.add(turns(0, perSession));
        } else {
            durations.addAll(together(perSession));
        }
        into.elapsed(System.nanoTime() - began);
        cpuNanos += cpu() - cpu;
        turns += (long) perSession * size;
        durations.forEach(each -> {
            for (long duration : each) {
                into.add(duration);
            }
        });
    }

    private List<long[]> together(int perSession) throws InterruptedException {
        var go = new CountDownLatch(1);
        var found = new long[size][];
        var failures = new ArrayList<Exception>();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < size; i++) {
            int session = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    go.await();
                    found[session] = turns(session, perSession);
                } catch (Exception e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException("a turn of " + name + " failed", failures.getFirst());
        }
        return List.of(found);
    }

    private long[] turns(int session, int count) throws Exception {
        var durations = new long[count];
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            turn(session, i);
            durations[i] = System.nanoTime() - began;
        }
        return durations;
    }

    final void measured() {
        cpuNanos = 0;
        turns = 0;
    }

    /** CPU time of this JVM per turn, in microseconds; the agents' own is not in it. */
    final double cpuPerTurn() {
        return turns == 0 ? 0 : cpuNanos / 1e3 / turns;
    }

    private static long cpu() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(java.time.Duration::toNanos)
                .orElse(0L);
    }
}
