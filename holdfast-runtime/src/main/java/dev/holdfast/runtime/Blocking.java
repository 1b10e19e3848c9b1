package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** Waits on the caller's thread for a stage, and gives its failure as the API's one exception family. */
final class Blocking {
    private Blocking() {}

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
