package dev.holdfast.runtime;

import dev.holdfast.FeedEnd;
import dev.holdfast.HoldfastException;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Taken;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The one reading surface of a session (CH-09), under the three that users see: feeds in turn, one take at a time, and the
 * end of each. What it gives was committed as taken before. Thread-safe; its lock is taken inside the session's.
 */
final class Reading {
    private final HeldSession session;
    private final String surface;

    private final Object lock = new Object();
    private long feed;
    private Optional<CompletableFuture<Boolean>> opening = Optional.empty();
    private Optional<Take> take = Optional.empty();
    private long takes;
    private Optional<FeedEnd> end = Optional.of(FeedEnd.ENDED);
    private boolean over;

    /** A take under way: {@code ticket} tells when the owner has looked at it. */
    private record Take(long ticket, boolean waits, CompletableFuture<List<Taken>> taken) {}

    Reading(HeldSession session, String surface) {
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
    CompletionStage<Boolean> open() {
        var opened = new CompletableFuture<Boolean>();
        synchronized (lock) {
            if (over) {
                return CompletableFuture.failedFuture(new HoldfastException(
                        "this " + surface + " of session " + session.name() + " is closed: open another"));
            }
            if (opening.isPresent()) {
                return opening.get();
            }
            takes = 0;
            opening = Optional.of(opened);
        }
        session.offer(new Input.FeedWanted(surface));
        return opened;
    }

    /**
     * Takes what is next.
     *
     * @param waits until there is something; else nothing is an answer once arrivals up to {@code through} were looked at
     * @throws IllegalStateException while another take is under way
     */
    CompletableFuture<List<Received>> take(int max, boolean waits, long through) {
        var taken = new CompletableFuture<List<Taken>>();
        long number;
        synchronized (lock) {
            if (end.isPresent() || over) {
                return CompletableFuture.completedFuture(List.of());
            }
            if (take.isPresent()) {
                throw new IllegalStateException(
                        "session " + session.name() + " is being read by another call already: one consumer at a time");
            }
            takes++;
            take = Optional.of(new Take(takes, waits, taken));
            number = feed;
        }
        session.offer(new Input.TakeWanted(number, max, waits, through));
        return taken.thenCompose(session::load).toCompletableFuture();
    }

    /** Waits no more; what was taken in the same moment is still given. */
    void wantNothing() {
        long number;
        synchronized (lock) {
            number = feed;
        }
        session.offer(new Input.TakeWithdrawn(number));
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

    /** Gives back messages that are held and not settled, in front. */
    void giveBack(List<Long> numbers, String why) {
        long number;
        synchronized (lock) {
            number = feed;
        }
        session.offer(new Input.ReadReturned(number, numbers, why));
    }

    /** Ends the feed; with {@code keeps} what it holds may still be settled. */
    void endFeed(FeedEnd cause, boolean keeps) {
        long number;
        synchronized (lock) {
            if (end.isPresent()) {
                return;
            }
            number = feed;
        }
        session.offer(new Input.FeedOver(number, cause, keeps));
    }

    /** Ends the reading. Idempotent. */
    void close() {
        synchronized (lock) {
            if (over) {
                return;
            }
        }
        endFeed(FeedEnd.ENDED, false);
        lost(FeedEnd.ENDED);
    }

    /** From the owner: an event was committed. */
    void committed(Event event) {
        synchronized (lock) {
            switch (event) {
                case Event.FeedOpened e -> {
                    if (opening.isPresent()) {
                        feed = e.feed();
                        end = Optional.empty();
                        complete(opening.get(), true);
                        opening = Optional.empty();
                    } else {
                        ended(FeedEnd.FENCED);
                    }
                }
                case Event.MessagesTaken e -> {
                    if (e.feed() == feed && take.isPresent()) {
                        complete(take.get().taken(), e.messages());
                        take = Optional.empty();
                    }
                }
                case Event.FeedEnded e -> {
                    if (e.feed() == feed) {
                        ended(e.cause());
                    }
                }
                default -> {}
            }
        }
    }

    /** From the owner: a take that does not wait is over when it was looked at and nothing was there. */
    void moved(Live live) {
        synchronized (lock) {
            boolean nothing = take.filter(t -> t.ticket() <= live.takes()).isPresent()
                    && live.demand().isEmpty();
            if (nothing) {
                complete(take.orElseThrow().taken(), List.of());
                take = Optional.empty();
            }
        }
    }

    /** There is no owner to read from any more. */
    void lost(FeedEnd cause) {
        synchronized (lock) {
            over = true;
            ended(cause);
            opening.ifPresent(o -> session.elsewhere(() -> o.completeExceptionally(new HoldfastException(
                    "session " + session.name() + " cannot be read here: it is closed or owned by another host"))));
            opening = Optional.empty();
        }
    }

    private void ended(FeedEnd cause) {
        if (end.isEmpty()) {
            end = Optional.of(cause);
        }
        take.ifPresent(t -> complete(t.taken(), List.of()));
        take = Optional.empty();
    }

    private <T> void complete(CompletableFuture<T> future, T value) {
        session.elsewhere(() -> future.complete(value));
    }
}
