package dev.holdfast.claude;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Code of users that runs where a turn ends, on the thread that serves its session: what waits there waits for itself.
 * Thread-safe.
 */
final class Telling {
    private static final Logger LOG = LoggerFactory.getLogger(Telling.class);
    private static final ThreadLocal<Boolean> HERE = ThreadLocal.withInitial(() -> false);

    private Telling() {}

    /** Runs it; what it throws is logged and changes nothing. */
    static void tell(Runnable code) {
        boolean before = HERE.get();
        HERE.set(true);
        try {
            code.run();
        } catch (Throwable e) {
            LOG.error("what was to hear of a turn's end threw; it must not, and nothing else is changed by it", e);
        } finally {
            HERE.set(before);
        }
    }

    /** @throws IllegalStateException when called from within such code */
    static void mayWait(String method) {
        if (HERE.get()) {
            throw new IllegalStateException(
                    method + " waits, and was called from within whenEnded, on the thread that"
                            + " serves the session: it would wait for itself. Hand over to a thread of your own, or use result()");
        }
    }
}
