package dev.holdfast.server;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits of callers: each has a limit (P4) and ends when the host stops. Thread-safe. */
final class Waits {
    /** For a commit: longer than a store takes that is in order. */
    static final Duration COMMIT = Duration.ofSeconds(30);

    private final CompletableFuture<Void> stopping = new CompletableFuture<>();

    /** Ends every wait; later ones end at once. */
    void stop() {
        stopping.complete(null);
    }

    /** The result of what takes no longer than a commit. */
    <T> T on(CompletionStage<T> stage) {
        return on(stage, COMMIT)
                .orElseThrow(() -> new Problem(
                                504,
                                "slow",
                                "the store did not answer within " + COMMIT.toSeconds()
                                        + " s: ask again, with the same key if you gave one")
                        .refused());
    }

    /** The result, when there is one within the time and before the host stops. */
    <T> Optional<T> within(CompletionStage<T> stage, Duration time) {
        try {
            return on(stage, time);
        } catch (CallRefused stops) {
            return Optional.empty();
        }
    }

    /** The result, when there is one within the time. */
    <T> Optional<T> on(CompletionStage<T> stage, Duration time) {
        var result = stage.toCompletableFuture();
        try {
            CompletableFuture.anyOf(result, stopping).get(time.toMillis(), TimeUnit.MILLISECONDS);
            if (!result.isDone()) {
                throw new Problem(503, "stopping", "the host stops: ask again when one runs; what was accepted is kept")
                        .refused();
            }
            return Optional.of(result.get());
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Problem(503, "stopping", "the host stops: ask again when one runs; what was accepted is kept")
                    .refused();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
