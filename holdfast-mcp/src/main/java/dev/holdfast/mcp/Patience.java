package dev.holdfast.mcp;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Interrupts the thread that made it once its time is up, unless it is closed before; afterwards it interrupts nobody. */
final class Patience implements AutoCloseable {
    private final Thread thread = Thread.currentThread();
    private final CompletableFuture<Boolean> late = new CompletableFuture<>();
    private boolean closed;

    Patience(Duration time) {
        var unused = late.completeOnTimeout(true, time.toNanos(), TimeUnit.NANOSECONDS)
                .thenAccept(passed -> {
                    if (passed) {
                        interrupt();
                    }
                });
    }

    private synchronized void interrupt() {
        if (!closed) {
            thread.interrupt();
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        late.complete(false);
    }
}
