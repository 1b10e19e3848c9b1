package dev.holdfast.runtime;

import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolProgress;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of a host tool on its way to its one answer (TL-06): the tool's, or that its deadline has passed. A tool that
 * nobody waits for any more is interrupted, and the interrupt stays with it: the thread's next task does not see it.
 * Thread-safe.
 */
final class RunningCall {
    private static final Logger LOG = LoggerFactory.getLogger(RunningCall.class);

    private final String callId;
    private final String tool;
    private final Consumer<ToolAnswer> answered;
    private final Consumer<ToolProgress> progress;
    private final AtomicReference<@Nullable ToolProgress> latest = new AtomicReference<>();
    private boolean cancelled;
    private boolean over;
    private @Nullable Thread thread;
    private Surroundings.Alarm alarm = () -> {};

    /**
     * @param answered called once, on the tool's thread or on the one that sees the deadline pass; never blocks
     * @param progress called for what the tool reports, until it is over: see {@link #take}
     */
    RunningCall(String callId, String tool, Consumer<ToolAnswer> answered, Consumer<ToolProgress> progress) {
        this.callId = callId;
        this.tool = tool;
        this.answered = answered;
        this.progress = progress;
    }

    /** Sets the deadline; called before {@link #run}. */
    void within(Duration deadline, Surroundings surroundings) {
        alarm = surroundings.at(
                surroundings.now().plus(deadline),
                () -> finish(
                        ToolAnswer.error("the tool '" + tool + "' did not answer within " + deadline
                                + " and was told to stop; what it has done until then may have happened"),
                        true));
    }

    /** Runs the tool on this thread, unless the call is over. */
    void run(Supplier<ToolAnswer> work) {
        synchronized (this) {
            if (over || cancelled) {
                finishLater();
                return;
            }
            thread = Thread.currentThread();
        }
        ToolAnswer answer;
        try {
            answer = work.get();
        } catch (RuntimeException | Error e) { // whatever it is, the agent does not wait for the deadline
            LOG.error("a call of tool {} broke", tool, e);
            answer = ToolAnswer.error("the tool failed: " + e);
        } finally {
            synchronized (this) {
                thread = null;
                if (over || cancelled) {
                    var unused = Thread.interrupted();
                }
            }
        }
        finish(answer, false);
    }

    private void finishLater() {
        if (!over) {
            finish(ToolAnswer.error("the call was cancelled before the tool began; nothing was done"), false);
        }
    }

    /** Nobody wants the answer any more: the tool is told, and interrupted. Its end is reported all the same. */
    void cancel() {
        synchronized (this) {
            cancelled = true;
            interrupt();
        }
    }

    synchronized boolean isCancelled() {
        return cancelled || over;
    }

    /** What the tool says; only the newest is kept until somebody takes it. */
    void report(double done, OptionalDouble total, String note) {
        if (isCancelled()) {
            return;
        }
        var next = new ToolProgress(callId, tool, done, total, note);
        if (latest.getAndSet(next) == null) {
            progress.accept(next);
        }
    }

    /** The newest report, for whoever was told that there is one. */
    @Nullable
    ToolProgress take() {
        return latest.getAndSet(null);
    }

    private void finish(ToolAnswer answer, boolean late) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            if (late) {
                interrupt();
            }
        }
        alarm.cancel();
        answered.accept(answer);
    }

    private void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
