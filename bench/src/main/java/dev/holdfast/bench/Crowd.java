package dev.holdfast.bench;

import java.io.IOException;

/** Several sessions of one kind, each with an agent process of its own. */
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

    /** All sessions at once, each so many turns one after the other. */
    abstract void round(int perSession, Latencies into) throws Exception;

    @Override
    public abstract void close() throws IOException;

    /** Counts a round that was run. */
    final void ran(int perSession, long usedCpuNanos) {
        cpuNanos += usedCpuNanos;
        turns += (long) perSession * size;
    }

    final void measured() {
        cpuNanos = 0;
        turns = 0;
    }

    /** CPU time of the host's process per turn, in microseconds; the agents' own is not in it. */
    final double cpuPerTurn() {
        return turns == 0 ? 0 : cpuNanos / 1e3 / turns;
    }
}
