package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.AuditRow;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.Usage;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

/** What the journal holds of one session, read for its callers. Never blocks; thread-safe. */
final class Chronicle {
    private static final int PAGE = 500;

    private final SessionName name;
    private final Holdfast.Parts parts;
    private volatile Known known = new Known(Durable.empty(), 0);

    /** A state, and the last event in it. */
    record Known(Durable state, long seq) {}

    Chronicle(SessionName name, Holdfast.Parts parts) {
        this.name = name;
        this.parts = parts;
    }

    // ---- events ---------------------------------------------------------------------------------------------------

    /** The ends that an event tells of. */
    static List<Reply> replies(Event event) {
        return switch (event) {
            case Event.TurnSettled e ->
                e.messages().stream()
                        .map(m -> new Reply(m.number(), e.turn(), e.outcome(), e.text(), e.detail(), e.usage()))
                        .toList();
            case Event.MessageEnded e ->
                List.of(new Reply(e.message().number(), 0, e.outcome(), e.text(), e.why(), Usage.unknown()));
            default -> List.of();
        };
    }

    private static boolean ends(StoredEvent stored) {
        var type = stored.event().type();
        return type.equals(Event.TurnSettled.class.getSimpleName())
                || type.equals(Event.MessageEnded.class.getSimpleName());
    }

    /** The state after every event stored by now. */
    CompletionStage<Durable> state() {
        return fold(known).thenApply(folded -> {
            remember(folded);
            return folded.state();
        });
    }

    /** Spares the next reader what came before. */
    void remember(Known newer) {
        if (newer.seq() > known.seq()) {
            known = newer;
        }
    }

    private CompletionStage<Known> fold(Known before) {
        return parts.journal().events(name, before.seq(), PAGE).thenCompose(page -> {
            if (page.isEmpty()) {
                return CompletableFuture.completedFuture(before);
            }
            var state = before.state();
            for (StoredEvent stored : page) {
                state = parts.options().core().apply(state, parts.codec().decode(stored));
            }
            return fold(new Known(state, page.getLast().seq()));
        });
    }

    /** The first thing {@code match} makes of an event after {@code after}, with what it needs decoded alone. */
    private <T> CompletionStage<Optional<T>> find(
            long after, Predicate<StoredEvent> looks, Function<Event, Optional<T>> match, BooleanSupplier wanted) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                var found = looks.test(stored) ? match.apply(parts.codec().decode(stored)) : Optional.<T>empty();
                if (found.isPresent()) {
                    return CompletableFuture.completedFuture(found);
                }
            }
            return page.isEmpty() || !wanted.getAsBoolean()
                    ? CompletableFuture.completedFuture(Optional.<T>empty())
                    : find(page.getLast().seq(), looks, match, wanted);
        });
    }

    /** The end of a message, if it has one by now. */
    CompletionStage<Optional<Reply>> end(long number, BooleanSupplier wanted) {
        return find(
                0,
                Chronicle::ends,
                event -> replies(event).stream()
                        .filter(r -> r.number() == number)
                        .findFirst(),
                wanted);
    }

    /** What {@code match} makes of any event so far. */
    <T> CompletionStage<Optional<T>> event(Function<Event, Optional<T>> match) {
        return find(0, stored -> true, match, () -> true);
    }

    /** What became of calls of tools, after event {@code after} (TL-08). */
    CompletionStage<List<AuditRow>> audit(long after, int max) {
        return AuditRows.read(parts.journal(), parts.codec(), name, after, max);
    }

    /** The ends after event {@code after} that {@code which} takes, at most {@code max}. */
    <T> CompletionStage<List<T>> ends(long after, int max, Function<Event, List<T>> which) {
        return ends(after, max, which, new ArrayList<>());
    }

    private <T> CompletionStage<List<T>> ends(long after, int max, Function<Event, List<T>> which, List<T> found) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            page.stream()
                    .filter(Chronicle::ends)
                    .flatMap(s -> which.apply(parts.codec().decode(s)).stream())
                    .limit((long) max - found.size())
                    .forEach(found::add);
            return page.isEmpty() || found.size() >= max
                    ? CompletableFuture.completedFuture(List.copyOf(found))
                    : ends(page.getLast().seq(), max, which, found);
        });
    }

    /** Messages that were set aside (MB-20). */
    CompletionStage<List<Reply>> deadLetters(int max) {
        return ends(
                0,
                max,
                event -> replies(event).stream()
                        .filter(r -> r.outcome() == Outcome.DEAD_LETTER)
                        .toList());
    }

    /** What a close ended unread, in nobody's hand (CH-03). */
    CompletionStage<List<Taken>> unreadAtClose(long after) {
        return ends(
                after,
                Integer.MAX_VALUE,
                event -> event instanceof Event.MessageEnded e && e.outcome() == Outcome.CLOSED && !e.inHand()
                        ? List.of(e.message())
                        : List.of());
    }

    // ---- arrivals -------------------------------------------------------------------------------------------------

    /** The arrival of this number. */
    CompletionStage<Optional<Arrival>> arrival(long number, Selection selection) {
        if (number < 1) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return parts.journal()
                .arrivals(name, number - 1, 1, selection)
                .thenApply(
                        page -> page.stream().filter(a -> a.number() == number).findFirst());
    }

    /** The payloads of these arrivals, in their order. */
    CompletionStage<List<Received>> load(List<Taken> taken) {
        var numbers = new TreeSet<Long>();
        taken.forEach(t -> numbers.add(t.number()));
        return load(numbers, new HashMap<>())
                .thenApply(all -> taken.stream()
                        .flatMap(t -> Optional.ofNullable(all.get(t.number())).stream())
                        .toList());
    }

    /** Those taken lie close together, so a page brings many. */
    private CompletionStage<Map<Long, Received>> load(SortedSet<Long> numbers, Map<Long, Received> found) {
        if (numbers.isEmpty()) {
            return CompletableFuture.completedFuture(found);
        }
        long first = numbers.first();
        long span = numbers.last() - first + 1;
        return parts.journal()
                .arrivals(name, first - 1, (int) Math.min(PAGE, span), Selection.WITH_BODIES)
                .thenCompose(page -> {
                    numbers.remove(first);
                    for (Arrival a : page) {
                        if (a.number() == first || numbers.remove(a.number())) {
                            parts.envelope().received(a).ifPresent(r -> found.put(a.number(), r));
                        }
                    }
                    return load(numbers, found);
                });
    }

    /** What waits in that state, in the order in which it is given: what was given back first; at most {@code max}. */
    CompletionStage<List<Received>> waiting(Durable state, int max) {
        return load(state.front().stream().limit(max).toList())
                .thenCompose(given -> unnamed(state, state.takenThrough(), max, new ArrayList<>(given)));
    }

    private CompletionStage<List<Received>> unnamed(Durable state, long after, int max, List<Received> found) {
        if (found.size() >= max) {
            return CompletableFuture.completedFuture(List.copyOf(found));
        }
        int page =
                (int) Math.min(PAGE, (long) max - found.size() + state.ahead().size());
        return parts.journal()
                .arrivals(name, after, page, Selection.WITH_BODIES)
                .thenCompose(arrivals -> {
                    arrivals.stream()
                            .filter(a -> !state.named(a.number()))
                            .flatMap(a -> parts.envelope().received(a).stream())
                            .limit((long) max - found.size())
                            .forEach(found::add);
                    return arrivals.isEmpty()
                            ? CompletableFuture.completedFuture(List.copyOf(found))
                            : unnamed(state, arrivals.getLast().number(), max, found);
                });
    }
}
