package dev.holdfast.bench;

import java.io.IOException;

/** One way to run turns with one agent of its own, which stays warm from the first round to the end. */
interface Lane extends AutoCloseable {
    String name();

    /** Runs one turn to its end. */
    void turn(int number) throws Exception;

    /** Runs {@code count} turns, one after the other, adding the duration of each and the wall time of all. */
    default void round(int count, Latencies into) throws Exception {
        long round = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            turn(i);
            into.add(System.nanoTime() - began);
        }
        into.elapsed(System.nanoTime() - round);
    }

    /** Forgets what was counted so far, at the end of the warm-up. */
    default void measured() {}

    /** Adds what only this variant counts. */
    default void report(Figures figures) {}

    @Override
    void close() throws IOException;
}
