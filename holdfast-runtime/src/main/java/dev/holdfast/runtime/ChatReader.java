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
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The chat over a session's reading: many waiters, of whom the oldest is served by the one take there is (CH-01). Somebody
 * who does not wait makes the take one that does not wait either; the oldest still comes first.
 */
final class ChatReader implements ChatMessages {
    private final LiveSession session;
    private final Reading reading;

    private final Object lock = new Object();
    private final Deque<Waiter> waiters = new ArrayDeque<>();
    private Optional<Taking> taking = Optional.empty();

    /** @param last arrivals up to here count as queued, for one who does not wait */
    private record Waiter(CompletableFuture<Optional<Received>> message, boolean waits, long last) {
        boolean answeredBy(Taking looked) {
            return !waits && !looked.waits() && last <= looked.through();
        }
    }

    /** The take under way. */
    private record Taking(boolean waits, long through) {}

    ChatReader(LiveSession session, Reading reading) {
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
        return enqueue(new Waiter(new CompletableFuture<>(), true, 0)).message();
    }

    @Override
    public CompletableFuture<Optional<Received>> next(CompletionStage<?> cancel) {
        var cancelled = cancel.toCompletableFuture();
        if (cancelled.isDone()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        var waiter = enqueue(new Waiter(new CompletableFuture<>(), true, 0));
        // Any of the two, so that a cancel that never comes does not keep every waiter there ever was.
        var unused =
                CompletableFuture.anyOf(cancelled, waiter.message()).whenComplete((either, failure) -> drop(waiter));
        return waiter.message();
    }

    @Override
    public CompletionStage<Optional<Received>> takeQueued() {
        return session.lastArrival()
                .thenCompose(last -> enqueue(new Waiter(new CompletableFuture<>(), false, last))
                        .message());
    }

    private Waiter enqueue(Waiter waiter) {
        boolean inVain;
        synchronized (lock) {
            waiters.add(waiter);
            inVain = !waiter.waits() && taking.filter(Taking::waits).isPresent();
        }
        var unused = waiter.message().whenComplete((message, failure) -> {
            if (waiter.message().isCancelled()) {
                drop(waiter);
            }
        });
        if (inVain) {
            reading.wantNothing(); // and then again, without waiting
        }
        serve();
        return waiter;
    }

    /** CH-04: a waiter that goes away wakes with nothing; when its take was under way the next one gets what it brings. */
    private void drop(Waiter waiter) {
        boolean none;
        synchronized (lock) {
            none = waiters.remove(waiter) && waiters.isEmpty() && taking.isPresent();
        }
        waiter.message().complete(Optional.empty());
        if (none) {
            reading.wantNothing();
        }
    }

    /** Takes for the oldest waiter, unless a take is under way. */
    private void serve() {
        Taking next;
        synchronized (lock) {
            if (taking.isPresent() || waiters.isEmpty()) {
                return;
            }
            next = new Taking(
                    waiters.stream().allMatch(Waiter::waits),
                    waiters.stream().mapToLong(Waiter::last).max().orElse(0));
            taking = Optional.of(next);
        }
        var unused = reading.take(1, next.waits(), next.through(), Function.identity())
                .whenComplete((taken, failure) -> took(next, taken == null ? List.of() : taken, failure));
    }

    private void took(Taking looked, List<Received> taken, @Nullable Throwable failure) {
        synchronized (lock) {
            taking = Optional.empty();
        }
        if (failure != null) {
            take(w -> true).forEach(w -> w.message().completeExceptionally(failure));
        } else if (!taken.isEmpty()) {
            give(taken.getFirst());
        } else {
            boolean over = reading.end().isPresent();
            take(w -> over || w.answeredBy(looked)).forEach(w -> w.message().complete(Optional.empty()));
        }
        serve();
    }

    /** To the oldest who still wants it, else back to the front. */
    private void give(Received message) {
        while (true) {
            Optional<Waiter> oldest;
            synchronized (lock) {
                oldest = Optional.ofNullable(waiters.pollFirst());
            }
            if (oldest.isEmpty()) {
                reading.giveBack(message.number(), "its taker was gone");
                return;
            }
            if (oldest.get().message().complete(Optional.of(message))) {
                return;
            }
        }
    }

    private List<Waiter> take(Predicate<Waiter> which) {
        synchronized (lock) {
            var taken = waiters.stream().filter(which).toList();
            waiters.removeAll(taken);
            return taken;
        }
    }

    @Override
    public CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer) {
        return reading.settle(message.number(), outcome, answer);
    }

    @Override
    public CompletionStage<List<Received>> close(String reason) {
        return session.onward(session.closeReturningUnread(reason)).whenComplete((unread, failure) -> close());
    }

    @Override
    public void close() {
        reading.close();
        take(w -> true).forEach(w -> w.message().complete(Optional.empty()));
    }
}
