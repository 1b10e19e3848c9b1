package dev.holdfast.claude;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The host's executor, with an answer for tasks that it refuses: they run on a thread of ours, so that no turn is left
 * without its end because a pool is full or shut down. Each task runs at most once. Thread-safe.
 */
final class SureExecutor implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(SureExecutor.class);

    private final Executor executor;

    SureExecutor(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable task) {
        var begun = new AtomicBoolean();
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            executor.execute(once);
        } catch (RuntimeException | Error e) {
            if (begun.get()) {
                LOG.error("a task threw on the thread that handed it to the executor", e);
            } else {
                LOG.warn("the executor of the options refused a task; it runs on a thread of its own", e);
                SystemBackground.USERS.execute(once);
            }
        }
    }
}
