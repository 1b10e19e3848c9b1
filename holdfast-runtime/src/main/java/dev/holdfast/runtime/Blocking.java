package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Stages for callers: waited for on their thread, with failures as the API's one family, or handed on to an executor. */
final class Blocking {
    private Blocking() {}

    /** What really failed. */
    static @Nullable Throwable cause(@Nullable Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** As {@link #cause}, of a stage that has failed. */
    static Throwable failure(@Nullable Throwable failure) {
        var cause = cause(failure);
        return cause == null ? new IllegalStateException("a stage failed without saying why") : cause;
    }

    /** The same stage, completing on the executor. */
    static <T extends @Nullable Object> CompletionStage<T> on(Executor executor, CompletionStage<T> stage) {
        return stage.handleAsync(
                (value, failure) -> {
                    if (failure != null) {
                        throw new CompletionException(cause(failure));
                    }
                    return value;
                },
                executor);
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
