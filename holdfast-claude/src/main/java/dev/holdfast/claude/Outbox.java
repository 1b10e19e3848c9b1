package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands reports to the sink in the order they were put in, by one thread at a time and never under the attachment's lock,
 * so that a sink may call back. Thread-safe.
 */
final class Outbox {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Report> waiting = new ArrayDeque<>();
    private final ReportSink sink;
    private boolean delivering;

    Outbox(ReportSink sink) {
        this.sink = sink;
    }

    void put(Report report) {
        lock.lock();
        try {
            waiting.add(report);
        } finally {
            lock.unlock();
        }
    }

    /** Delivers what waits, unless another thread does; called with no lock held. */
    void deliver() {
        for (Report next = take(true); next != null; next = take(false)) {
            try {
                sink.report(next);
            } catch (RuntimeException e) {
                LOG.error("a report sink threw; it must not, and the report {} may be lost", next, e);
            }
        }
    }

    private @Nullable Report take(boolean first) {
        lock.lock();
        try {
            if (first && delivering) {
                return null;
            }
            Report next = waiting.poll();
            delivering = next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }
}
