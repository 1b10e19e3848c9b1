package dev.holdfast.claude;

import java.time.Duration;
import java.util.UUID;

/** Threads, time and chance of an attachment. The one in {@link SystemBackground} is real; tests have their own. */
interface Background {
    /** A task that is yet to run. */
    interface Later {
        /** Lets go of the task; does nothing once it has begun. */
        void callOff();
    }

    /** Runs a task that may wait, on a thread of its own. */
    void run(String name, Runnable task);

    /** Runs a quick task later, unless it is called off before. */
    Later after(Duration delay, Runnable task);

    /** Monotonic time; only differences mean something. */
    long nanoTime();

    UUID newId();
}
