package dev.holdfast.bench;

import java.io.IOException;

/** One way to run turns with one agent of its own, which stays warm from the first round to the end. */
interface Lane extends AutoCloseable {
    String name();

    /** Runs {@code count} turns, adding the duration of each and the wall time of all. */
    void round(int count, Latencies into) throws Exception;

    /** Forgets what was counted so far, at the end of the warm-up. */
    default void measured() {}

    /** Adds what only this variant counts. */
    default void report(Figures figures) {}

    @Override
    void close() throws IOException;
}
