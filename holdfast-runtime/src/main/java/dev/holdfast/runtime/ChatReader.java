package dev.holdfast.runtime;

import dev.holdfast.ChatMessages;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Session;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The chat over a session's reading: many waiters, of whom the oldest has the one take (CH-01). */
final class ChatReader implements ChatMessages {
    private final HeldSession session;
    private final Reading reading;

    private final Object lock = new Object();
    private final Deque<Waiter> waiters = new ArrayDeque<>();
    private boolean taking;

    /** @param last arrivals up to here count as queued, for one who does not wait; 0 for one who does */
    private record Waiter(CompletableFuture<Optional<Received>> message, boolean waits, long last) {}

    ChatReader(HeldSession session, Reading reading) {
        this.session = session;
        this.reading = reading;
    }

    @Override
    public Session session() {
        return session;
    }

    @Override
    public CompletionStage<Receipt> push(Message message) {
        return session.sendAsync(message);
    }

    @Override
    public CompletableFuture<Optional<Received>> next() {
        return enqueue(new Waiter(new CompletableFuture<>(), true, 0));
    }

    @Override
    public CompletableFuture<Optional<Received>> next(CompletionStage<?> cancel) {
        var cancelled = cancel.toCompletableFuture();
        if (cancelled.isDone()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        var waiter = new Waiter(new CompletableFuture<>(), true, 0);
        var enqueued = enqueue(waiter);
        var unused = cancelled.whenComplete((value, failure) -> drop(waiter));
        return enqueued;
    }

    @Override
    public CompletionStage<Optional<Received>> takeQueued() {
        return session.lastArrival().thenCompose(last -> enqueue(new Waiter(new CompletableFuture<>(), false, last)));
    }

    private CompletableFuture<Optional<Received>> enqueue(Waiter waiter) {
        synchronized (lock) {
            waiters.add(waiter);
        }
        var unused = waiter.message().whenComplete((message, failure) -> {
            if (waiter.message().isCancelled()) {
                drop(waiter);
            }
        });
        serve();
        return waiter.message();
    }

    /** CH-04: a waiter that goes away wakes with nothing; when its take was under way the next one gets what it brings. */
    private void drop(Waiter waiter) {
        boolean none;
        synchronized (lock) {
            waiters.remove(waiter);
            none = waiters.isEmpty() && taking;
        }
        waiter.message().complete(Optional.empty());
        if (none) {
            reading.wantNothing();
        }
    }

    /** Takes for the oldest waiter, unless a take is under way. */
    private void serve() {
        Waiter oldest;
        synchronized (lock) {
            if (taking || waiters.isEmpty()) {
                return;
            }
            taking = true;
            oldest = waiters.getFirst();
        }
        var unused = reading.take(1, oldest.waits(), oldest.last())
                .whenComplete((taken, failure) -> took(taken == null ? List.of() : taken, oldest, failure));
    }

    private void took(List<Received> taken, Waiter asker, @Nullable Throwable failure) {
        boolean answered = failure != null || !taken.isEmpty() || reading.end().isPresent() || !asker.waits();
        Optional<Waiter> served = Optional.empty();
        synchronized (lock) {
            taking = false;
            if (!taken.isEmpty()) {
                served = Optional.ofNullable(waiters.pollFirst());
            } else if (answered && waiters.remove(asker)) {
                served = Optional.of(asker);
            }
        }
        boolean given = served.filter(w -> failure == null
                        ? w.message().complete(taken.stream().findFirst())
                        : w.message().completeExceptionally(failure))
                .isPresent();
        if (!given && !taken.isEmpty()) {
            reading.giveBack(List.of(taken.getFirst().number()), "its taker was gone");
        }
        serve();
    }

    @Override
    public CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer) {
        return reading.settle(message.number(), outcome, answer);
    }

    @Override
    public CompletionStage<List<Received>> close(String reason) {
        return session.closeReturningUnread(reason).thenApply(unread -> {
            close();
            return unread;
        });
    }

    @Override
    public void close() {
        reading.close();
        List<Waiter> woken;
        synchronized (lock) {
            woken = List.copyOf(waiters);
            waiters.clear();
        }
        woken.forEach(w -> w.message().complete(Optional.empty()));
    }
}
