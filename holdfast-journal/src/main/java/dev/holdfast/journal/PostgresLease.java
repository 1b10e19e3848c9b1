package dev.holdfast.journal;

import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One registration of a node: the right to own sessions while the server says so. The node itself takes it for lost
 * earlier than the server does, by its own monotonic clock, and once lost it is never prolonged (P3). Thread-safe.
 */
final class PostgresLease {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresLease.class);

    private final String node;
    private final long incarnation;
    private final long watchdogNanos;
    private final LongSupplier nanos;
    private volatile long holdsUntil;
    private volatile boolean lost;

    /**
     * @param nanos monotonic time
     * @param asked monotonic time before the server was asked for it
     */
    PostgresLease(String node, long incarnation, long watchdogNanos, LongSupplier nanos, long asked) {
        this.node = node;
        this.incarnation = incarnation;
        this.watchdogNanos = watchdogNanos;
        this.nanos = nanos;
        this.holdsUntil = asked + watchdogNanos;
    }

    String node() {
        return node;
    }

    long incarnation() {
        return incarnation;
    }

    /** Whether the node may still act as the owner of its sessions; never again once this was false. */
    boolean holds() {
        if (lost) {
            return false;
        }
        if (nanos.getAsLong() - holdsUntil >= 0) {
            lost("the server did not answer in time");
            return false;
        }
        return true;
    }

    /**
     * The server has prolonged it.
     *
     * @param asked monotonic time before it was asked
     */
    void prolonged(long asked) {
        if (holds()) {
            holdsUntil = asked + watchdogNanos;
        }
    }

    void lost(String why) {
        if (!lost) {
            lost = true;
            LOG.warn(
                    "node '{}' has lost its lease: {}; its claims are void, sessions have to be claimed again",
                    node,
                    why);
        }
    }

    /** Given back; nothing to warn about. */
    void ended() {
        lost = true;
    }
}
