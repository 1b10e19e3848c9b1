package dev.holdfast.runtime;

import dev.holdfast.FeedEnd;
import dev.holdfast.HoldfastException;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Taken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one reading surface of a session (CH-09), under the three that users see: feeds in turn, one take at a time, and the
 * end of each. What it gives was committed as taken before. Thread-safe; its lock is taken inside the session's.
 */
final class Reading {
    private final LiveSession session;
    private final String surface;

    private final Object lock = new Object();
    private long feed;
    private Optional<CompletableFuture<Boolean>> opening = Optional.empty();
    private Optional<Take> take = Optional.empty();
    private final List<CompletableFuture<Void>> endings = new ArrayList<>();
    private Optional<FeedEnd> end = Optional.of(FeedEnd.ENDED);
    private boolean over;
    /** No feed was opened yet, and the session was not drained here: what is drained then was drained for us. */
    private boolean takingUp = true;

    /** A take under way; its ticket tells when the owner has looked at it. */
    static final class Take {
        private final long feed;
        private final CompletableFuture<List<Taken>> taken = new CompletableFuture<>();
        private long ticket = Long.MAX_VALUE;

        private Take(long feed) {
            this.feed = feed;
        }

        /** Under the session's lock. */
        void ticket(long number) {
            ticket = number;
        }
    }

    Reading(LiveSession session, String surface) {
        this.session = session;
        this.surface = surface;
    }

    String surface() {
        return surface;
    }

    /** Whether another surface may take its place. */
    boolean over() {
        synchronized (lock) {
            return over;
        }
    }

    /** Why the newest feed is over; empty while it gives. */
    Optional<FeedEnd> end() {
        synchronized (lock) {
            return end;
        }
    }

    /** Opens a feed; what the one before held comes again, in front (MB-05). */
    CompletionStage<Void> open() {
        var opened = new CompletableFuture<Boolean>();
        synchronized (lock) {
            if (over) {
                return CompletableFuture.failedFuture(new HoldfastException(
                        "this " + surface + " of session " + session.name() + " is closed: open another"));
            }
            if (opening.isPresent()) {
                return opening.get().thenApply(first -> null);
            }
            opening = Optional.of(opened);
        }
        session.offer(new Input.FeedWanted(surface));
        return opened.thenCompose(first -> first ? session.takenUp() : CompletableFuture.completedFuture(null));
    }

    /**
     * Takes what is next. Cancelling the future waits no more; what was taken in the same moment is given back, in front.
     *
     * @param waits until there is something; else nothing is an answer once arrivals up to {@code through} were looked at
     * @throws IllegalStateException while another take is under way
     */
    <T> CompletableFuture<T> take(int max, boolean waits, long through, Function<List<Received>, T> made) {
        Take mine;
        synchronized (lock) {
            if (end.isPresent() || over) {
                return CompletableFuture.completedFuture(made.apply(List.of()));
            }
            if (take.isPresent()) {
                throw new IllegalStateException(
                        "session " + session.name() + " is being read by another call already: one consumer at a time");
            }
            mine = new Take(feed);
            take = Optional.of(mine);
        }
        session.offer(mine, new Input.TakeWanted(mine.feed, max, waits, through));
        var given = new CompletableFuture<T>();
        var unused = mine.taken
                .thenCompose(session::load)
                .thenApplyAsync(made, session::elsewhere)
                .whenComplete((value, failure) -> give(mine, given, value, failure));
        var unusedToo = given.whenComplete((value, failure) -> {
            if (given.isCancelled()) {
                wantNothing();
            }
        });
        return given;
    }

    private <T> void give(Take mine, CompletableFuture<T> given, @Nullable T value, @Nullable Throwable failure) {
        boolean heard = value != null ? given.complete(value) : given.completeExceptionally(Blocking.failure(failure));
        if (!heard || failure != null) {
            var numbers =
                    mine.taken.getNow(List.of()).stream().map(Taken::number).toList();
            if (!numbers.isEmpty()) {
                session.offerIfAwake(new Input.ReadReturned(mine.feed, numbers, "its taker was gone"));
            }
        }
    }

    /** Waits no more; what was taken in the same moment is still given. */
    void wantNothing() {
        long number;
        synchronized (lock) {
            number = feed;
        }
        session.offerIfAwake(new Input.TakeWithdrawn(number));
    }

    CompletionStage<Boolean> settle(long number, Outcome outcome, String answer) {
        long current;
        synchronized (lock) {
            if (over) {
                return CompletableFuture.completedFuture(false);
            }
            current = feed;
        }
        return session.settle(current, number, outcome, answer);
    }

    /** Gives back a message that is held and not settled, in front. */
    void giveBack(long message, String why) {
        long number;
        synchronized (lock) {
            number = feed;
        }
        session.offerIfAwake(new Input.ReadReturned(number, List.of(message), why));
    }

    /**
     * Ends the feed; with {@code keeps} what it holds may still be settled. Completes when it takes nothing any more.
     */
    CompletionStage<Void> endFeed(FeedEnd cause, boolean keeps) {
        var ended = new CompletableFuture<Void>();
        long number;
        synchronized (lock) {
            if (end.isPresent()) {
                return CompletableFuture.completedFuture(null);
            }
            endings.add(ended);
            number = feed;
        }
        session.offerIfAwake(new Input.FeedOver(number, cause, keeps));
        return ended;
    }

    /** Ends the reading; what is not settled goes back to the front. Idempotent. */
    void close() {
        long number;
        synchronized (lock) {
            if (over) {
                return;
            }
            number = feed;
            lost(FeedEnd.ENDED);
        }
        if (number > 0) {
            session.offerIfAwake(new Input.FeedOver(number, FeedEnd.ENDED, false));
        }
    }

    /** From the owner: an event was committed. */
    void committed(Event event) {
        synchronized (lock) {
            switch (event) {
                case Event.FeedOpened e -> opened(e.feed());
                case Event.MessagesTaken e -> {
                    if (take.filter(t -> t.feed == e.feed()).isPresent()) {
                        complete(take.get().taken, e.messages());
                        take = Optional.empty();
                    }
                }
                case Event.FeedEnded e -> {
                    if (e.feed() == feed) {
                        ended(e.cause());
                    }
                }
                case Event.PhaseChanged e -> takingUp &= e.trigger() != Phase.Trigger.DRAINED;
                default -> {}
            }
        }
    }

    private void opened(long number) {
        ended(FeedEnd.FENCED);
        feed = number;
        if (over) { // closed while it was being opened
            session.offerIfAwake(new Input.FeedOver(number, FeedEnd.ENDED, false));
            return;
        }
        end = Optional.empty();
        boolean first = takingUp;
        takingUp = false;
        opening.ifPresent(o -> complete(o, first));
        opening = Optional.empty();
    }

    /** From the owner: a take that does not wait is over when it was looked at and nothing was there. */
    void moved(Live live) {
        synchronized (lock) {
            boolean nothing = take.filter(t -> t.ticket <= live.takes()).isPresent()
                    && live.demand().isEmpty();
            if (nothing) {
                complete(take.orElseThrow().taken, List.of());
                take = Optional.empty();
            }
        }
    }

    /** There is no owner to read from any more. */
    void lost(FeedEnd cause) {
        synchronized (lock) {
            over = true;
            ended(cause);
            unopened(
                    cause == FeedEnd.FENCED
                            ? "another host owns it, or the store failed: try again when it was let go there"
                            : "this " + surface + " was closed, or its host");
        }
    }

    private void unopened(String why) {
        opening.ifPresent(o -> session.elsewhere(() -> o.completeExceptionally(
                new HoldfastException("session " + session.name() + " cannot be read here: " + why))));
        opening = Optional.empty();
    }

    private void ended(FeedEnd cause) {
        if (end.isEmpty()) {
            end = Optional.of(cause);
        }
        take.ifPresent(t -> complete(t.taken, List.of()));
        take = Optional.empty();
        endings.forEach(e -> complete(e));
        endings.clear();
    }

    private void complete(CompletableFuture<Void> future) {
        session.elsewhere(() -> future.complete(null));
    }

    private <T> void complete(CompletableFuture<T> future, T value) {
        session.elsewhere(() -> future.complete(value));
    }
}
