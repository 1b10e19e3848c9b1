package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Waits on the caller's thread for a stage, and gives its failure as the API's one exception family. */
final class Blocking {
    private Blocking() {}

    /** What really failed. */
    static @Nullable Throwable cause(@Nullable Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    static <T> T await(String what, CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new HoldfastException("interrupted: " + what + "; what was accepted stays accepted", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HoldfastException failure) {
                throw failure;
            }
            throw new HoldfastException(what + " failed: " + e.getMessage(), e);
        }
    }
}
