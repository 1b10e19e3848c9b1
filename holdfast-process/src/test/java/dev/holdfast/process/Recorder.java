package dev.holdfast.process;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Keeps everything a child's listener hears. */
final class Recorder implements ChildListener {

    /** Longer than anything here takes on a busy machine; only a hanging test meets it. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    final List<String> lines = new CopyOnWriteArrayList<>();
    final List<OutputLine> rawLines = new CopyOnWriteArrayList<>();
    final List<String> partial = new CopyOnWriteArrayList<>();
    final List<Long> skipped = new CopyOnWriteArrayList<>();
    final List<StopStep.Kind> steps = new CopyOnWriteArrayList<>();
    final List<String> order = new CopyOnWriteArrayList<>();
    final AtomicInteger endedCalls = new AtomicInteger();
    final CompletableFuture<Ended> ended = new CompletableFuture<>();
    final CompletableFuture<Stopped> gone = new CompletableFuture<>();
    final CompletableFuture<Boolean> outputEnded = new CompletableFuture<>();

    @Override
    public void line(OutputLine line) {
        rawLines.add(line);
        lines.add(line.text());
        order.add("line");
    }

    @Override
    public void skippedLine(long bytes, SkipReason reason) {
        skipped.add(bytes);
        order.add("skipped");
    }

    @Override
    public void partialLine(OutputLine rest) {
        partial.add(rest.text());
        order.add("partial");
    }

    @Override
    public void endOfOutput() {
        order.add("endOfOutput");
        outputEnded.complete(true);
    }

    @Override
    public void step(StopStep step) {
        steps.add(step.kind());
    }

    @Override
    public void ended(Ended how) {
        order.add("ended");
        endedCalls.incrementAndGet();
        ended.complete(how);
    }

    @Override
    public void gone(Stopped stopped) {
        order.add("gone");
        gone.complete(stopped);
    }

    Ended awaitEnded() {
        return get(ended);
    }

    Stopped awaitGone() {
        return get(gone);
    }

    static <T> T get(java.util.concurrent.CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw new AssertionError("failed: " + e.getCause(), e.getCause());
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new AssertionError("nothing came: " + e, e);
        }
    }

    static Throwable failure(java.util.concurrent.CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new AssertionError("nothing came: " + e, e);
        }
        throw new AssertionError("it did not fail");
    }
}
