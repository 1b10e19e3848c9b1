package dev.holdfast.claude;

import dev.holdfast.SteerAnswer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A turn that was asked for, until its end and after. Thread-safe. */
public final class HeldTurn {
    /** A message into a running turn, with its truthful answer (TN-09). */
    public interface Steering {
        /**
         * Within 5 s: {@code LANDED} when the agent took it into the running turn; {@code QUEUED} when it had not yet:
         * it lands later in this turn or in one of its own; {@code REFUSED} when there was no turn to steer.
         */
        CompletionStage<SteerAnswer> answer();

        /** The result of the turn it landed in. */
        CompletionStage<HeldResult> result();
    }

    private volatile HeldSession session;
    private final BoundAgent bound;
    private final TurnRequest request;
    private final Executor executor;
    private final CompletableFuture<HeldResult> done = new CompletableFuture<>();
    private final Runnable onCancel;

    /** It has ended; only its completion may still be on its way, behind the events. */
    private volatile boolean over;

    HeldTurn(HeldSession session, BoundAgent bound, TurnRequest request, Executor executor) {
        this.session = session;
        this.bound = bound;
        this.request = request;
        this.executor = executor;
        this.onCancel = this::cancel;
    }

    /** Completes on the executor of the options, with the result or with a {@link HeldFailure}. */
    public CompletionStage<HeldResult> result() {
        return handedOut(done, executor);
    }

    /**
     * Tells of the end at once, on the thread that serves the session, or on the calling one when the turn has ended: the
     * shortest way, for those who start the next turn there. The action must not wait; nothing is read from the agent
     * meanwhile, and what waits in this library refuses to be called from it.
     *
     * @param action is given the result, or else the failure
     */
    public void whenEnded(BiConsumer<@Nullable HeldResult, @Nullable HeldFailure> action) {
        var unused = done.whenComplete((result, failure) ->
                Telling.tell(() -> action.accept(result, failure == null ? null : failed(failure))));
    }

    private static HeldFailure failed(@Nullable Throwable failure) {
        if (failure instanceof HeldFailure known) {
            return known;
        }
        throw new IllegalStateException("the turn failed in a way that is a defect here", failure);
    }

    /**
     * Waits for the result. An interrupt of the waiting thread cancels the turn.
     *
     * @throws HeldFailure when the agent gave none
     * @throws IllegalStateException when called from within {@link #whenEnded}
     */
    public HeldResult await() throws InterruptedException {
        Telling.mayWait("HeldTurn.await");
        try {
            return done.get();
        } catch (InterruptedException e) {
            cancel();
            throw e;
        } catch (ExecutionException e) {
            throw failed(e.getCause());
        }
    }

    public boolean isDone() {
        return done.isDone();
    }

    /**
     * Cancels: a turn that has not begun never does; a running one is interrupted, by ending its process if nothing else
     * helps; nothing happens to one that has ended.
     */
    public void cancel() {
        session.cancel(this);
    }

    /**
     * Interrupts the running turn, which ends as {@link HeldResult.Ending#CANCELLED}. Fails with
     * {@link HeldFailure.ControlFailed} when it does not run.
     */
    public CompletionStage<InterruptReceipt> interrupt() {
        return handedOut(session.course().interrupt(this), executor);
    }

    /** Says something into the running turn. */
    public Steering steer(String... texts) {
        var steer = new Steer(List.of(texts), request.note());
        session.course().steer(this, steer);
        return new Steering() {
            @Override
            public CompletionStage<SteerAnswer> answer() {
                return handedOut(steer.answer(), executor);
            }

            @Override
            public CompletionStage<HeldResult> result() {
                return handedOut(steer.result(), executor);
            }
        };
    }

    // ---- for the session

    /** The session was retired; another one stands for the same handle. */
    void moveTo(HeldSession other) {
        session = other;
        other.submit(this);
    }

    BoundAgent bound() {
        return bound;
    }

    TurnRequest request() {
        return request;
    }

    /** Its end is certain: a cancel that comes now is late (TN-05). */
    void over() {
        over = true;
    }

    boolean isOver() {
        return over || done.isDone();
    }

    /** Ends the other future as this turn ends. */
    void endsAlso(CompletableFuture<HeldResult> other) {
        var unused = done.whenComplete((result, failure) -> {
            if (failure == null) {
                other.complete(result);
            } else {
                other.completeExceptionally(Objects.requireNonNull(failure));
            }
        });
    }

    /** From now on the cancel switch of the request is heard. */
    void listen() {
        request.cancel().ifPresent(cancel -> cancel.listen(onCancel));
        if (done.isDone()) {
            forget();
        }
    }

    private void forget() {
        request.cancel().ifPresent(cancel -> cancel.forget(onCancel));
    }

    /** The one end of every turn (TN-05); only the first call counts. */
    void complete(HeldResult result) {
        done.complete(result);
        forget(); // after it, so that a switch that is given in between is not kept for ever: listen() looks again
    }

    void fail(HeldFailure failure) {
        done.completeExceptionally(failure);
        forget();
    }

    /** A stage for users: their code runs on the executor, never on a thread that reads an agent (HS-12). */
    static <T> CompletionStage<T> handedOut(CompletableFuture<T> inner, Executor executor) {
        var out = new CompletableFuture<T>();
        var unused = inner.whenComplete((value, failure) -> executor.execute(() -> {
            if (failure == null) {
                out.complete(value);
            } else {
                out.completeExceptionally(Objects.requireNonNull(failure));
            }
        }));
        return out.minimalCompletionStage();
    }
}
