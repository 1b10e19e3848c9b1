package dev.holdfast.runtime;

import dev.holdfast.EventListener;
import dev.holdfast.HoldfastException;
import dev.holdfast.SessionEvent;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Callers that wait for an event of their session, or for a state of it. Whatever happens to the owner or the host, each is
 * completed: with what it waits for, or with the reason why that will not come. Thread-safe.
 */
final class Watches {
    private final Feed feed;
    private final Holdfast.Parts parts;
    private final List<Watch<?>> events = new CopyOnWriteArrayList<>();
    private final List<Until> states = new CopyOnWriteArrayList<>();
    private volatile Optional<HoldfastException> stopped = Optional.empty();

    /** @param ofOwner what is waited for is done by this host's owner or never */
    private record Watch<T>(CompletableFuture<T> found, boolean ofOwner) {}

    private record Until(Predicate<Durable> holds, CompletableFuture<Void> reached) {}

    Watches(Feed feed, Holdfast.Parts parts) {
        this.feed = feed;
        this.parts = parts;
    }

    boolean any() {
        return !events.isEmpty() || !states.isEmpty();
    }

    boolean anyStates() {
        return !states.isEmpty();
    }

    /** Completes with what {@code match} makes of the first event after {@code after} that it takes. */
    <T> CompletableFuture<T> event(long after, Function<Event, Optional<T>> match, boolean ofOwner) {
        var found = new CompletableFuture<T>();
        var watch = new Watch<>(found, ofOwner);
        events.add(watch);
        var subscription = feed.subscribe(after, new EventListener() {
            @Override
            public void onEvent(SessionEvent event) {
                if (!found.isDone()) {
                    look(event, match, found);
                }
            }
        });
        var unused = found.whenComplete((value, failure) -> {
            events.remove(watch);
            elsewhere(subscription::close);
        });
        stopped.ifPresent(found::completeExceptionally);
        return found;
    }

    private <T> void look(SessionEvent event, Function<Event, Optional<T>> match, CompletableFuture<T> found) {
        try {
            match.apply(parts.codec().decode(event)).ifPresent(value -> elsewhere(() -> found.complete(value)));
        } catch (RuntimeException e) { // an event that cannot be read: who waits for one is told
            elsewhere(() -> found.completeExceptionally(e));
        }
    }

    /** Completes once the state is so. */
    CompletableFuture<Void> state(Predicate<Durable> holds) {
        var reached = new CompletableFuture<Void>();
        states.add(new Until(holds, reached));
        stopped.ifPresent(reached::completeExceptionally);
        return reached;
    }

    /** The session came to this state. */
    void reached(Durable state) {
        states.removeIf(until -> {
            boolean holds = until.holds().test(state);
            if (holds) {
                elsewhere(() -> until.reached().complete(null));
            }
            return holds;
        });
    }

    /** This host's owner will not do it. */
    void failOwners(HoldfastException why) {
        events.stream().filter(Watch::ofOwner).forEach(w -> fail(w.found(), why));
    }

    void failAll(HoldfastException why) {
        events.forEach(w -> fail(w.found(), why));
        var all = List.copyOf(states);
        states.removeAll(all);
        all.forEach(u -> fail(u.reached(), why));
    }

    /** As {@link #failAll}, for those as well who come later: the host stops. */
    void stop(HoldfastException why) {
        stopped = Optional.of(why);
        failAll(why);
    }

    private void fail(CompletableFuture<?> future, HoldfastException why) {
        elsewhere(() -> future.completeExceptionally(why));
    }

    private void elsewhere(Runnable completion) {
        parts.options().surroundings().executor().execute(completion);
    }
}
