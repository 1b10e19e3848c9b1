package dev.holdfast.claude;

import java.time.Duration;
import java.util.UUID;

/** Threads, time and chance of an attachment. The one in {@link SystemBackground} is real; tests have their own. */
interface Background {
    /** Runs a task that may wait, on a thread of its own. */
    void run(String name, Runnable task);

    /** Runs a quick task later. */
    void after(Duration delay, Runnable task);

    /** Monotonic time; only differences mean something. */
    long nanoTime();

    UUID newId();
}
