package dev.holdfast.bench;

import java.util.Arrays;

/** Durations of one variant over all rounds, and the time in which they were measured. Not thread-safe. */
final class Latencies {
    private long[] nanos = new long[1024];
    private int size;
    private long elapsed;

    void add(long duration) {
        if (size == nanos.length) {
            nanos = Arrays.copyOf(nanos, size * 2);
        }
        nanos[size++] = duration;
    }

    /** The wall time of a round, in nanoseconds. */
    void elapsed(long duration) {
        elapsed += duration;
    }

    void clear() {
        size = 0;
        elapsed = 0;
    }

    int count() {
        return size;
    }

    double perSecond() {
        return elapsed == 0 ? 0 : size * 1e9 / elapsed;
    }

    /** In microseconds; 0 when nothing was measured. */
    double percentile(double percent) {
        if (size == 0) {
            return 0;
        }
        long[] sorted = Arrays.copyOf(nanos, size);
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(percent / 100 * size);
        return sorted[Math.max(0, rank - 1)] / 1e3;
    }
}
