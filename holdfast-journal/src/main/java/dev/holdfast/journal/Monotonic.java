package dev.holdfast.journal;

/** The machine's monotonic time, for deadlines that a set clock must not move. */
final class Monotonic {
    private Monotonic() {}

    /** Nanoseconds since some moment; only differences mean something. */
    static long nanos() {
        return System.nanoTime();
    }
}
