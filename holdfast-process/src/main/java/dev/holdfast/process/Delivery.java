package dev.holdfast.process;

import dev.holdfast.process.ChildListener.SkipReason;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only way to a child's listener: one call at a time, no line after the end, exceptions logged. A listener that
 * hangs in a call holds up the reading of its own child, but not its end: that is told without waiting longer than a
 * second.
 */
final class Delivery implements LineFramer.Sink {

    private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);
    private static final long PATIENCE_SECONDS = 1;

    private final ChildListener listener;
    private final String child;
    private final ReentrantLock gate = new ReentrantLock();
    private volatile boolean outputOver;

    Delivery(ChildListener listener, String child) {
        this.listener = listener;
        this.child = child;
    }

    /** Takes what was cut from one piece of the output; nothing else is told in between, and what was told is worked off. */
    void read(Runnable cutting) {
        gate.lock();
        try {
            if (!outputOver) {
                cutting.run();
                guarded(listener::caughtUp);
            }
        } finally {
            gate.unlock();
        }
    }

    /** Only within {@link #read}, as the next two. */
    @Override
    public void line(OutputLine line) {
        if (!outputOver) {
            try {
                listener.line(line);
            } catch (RuntimeException | Error e) {
                threw(e);
            }
        }
    }

    @Override
    public void skipped(long bytes, SkipReason reason) {
        if (!outputOver) {
            guarded(() -> listener.skippedLine(bytes, reason));
        }
    }

    @Override
    public void partial(OutputLine rest) {
        if (!outputOver) {
            guarded(() -> listener.partialLine(rest));
        }
    }

    /** Nothing more of the output is told. */
    void mute() {
        outputOver = true;
    }

    void endOfOutput() {
        gate.lock();
        try {
            if (!outputOver) {
                guarded(listener::endOfOutput);
            }
        } finally {
            gate.unlock();
        }
    }

    void step(StopStep step) {
        notice(() -> listener.step(step));
    }

    void ended(Ended ended) {
        outputOver = true;
        notice(() -> listener.ended(ended));
    }

    void gone(Stopped stopped) {
        outputOver = true;
        notice(() -> listener.gone(stopped));
    }

    private void notice(Runnable call) {
        boolean held = false;
        try {
            held = gate.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            guarded(call);
        } finally {
            if (held) {
                gate.unlock();
            }
        }
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            threw(e);
        }
    }

    private void threw(Throwable e) {
        LOG.warn("the listener of {} threw; the child goes on", child, e);
    }
}
