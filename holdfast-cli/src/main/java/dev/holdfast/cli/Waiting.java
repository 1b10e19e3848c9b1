package dev.holdfast.cli;

import dev.holdfast.HoldfastException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** Waits on the calling thread for a stage, and gives its failure as it was thrown. */
final class Waiting {
    private Waiting() {}

    static <T> T on(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new HoldfastException("interrupted while waiting; what was accepted is kept", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
