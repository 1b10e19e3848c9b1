package dev.holdfast.runtime;

import dev.holdfast.FeedEnd;
import dev.holdfast.Mailbox;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Received;
import dev.holdfast.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The mailbox over a session's reading: one feed after the other. */
final class MailboxReader implements Mailbox {
    private static final Logger LOG = LoggerFactory.getLogger(MailboxReader.class);

    private final LiveSession session;
    private final Reading reading;
    private final Surroundings surroundings;

    private final Object lock = new Object();
    private Optional<Fed> present = Optional.empty();

    MailboxReader(LiveSession session, Reading reading, Surroundings surroundings) {
        this.session = session;
        this.reading = reading;
        this.surroundings = surroundings;
    }

    @Override
    public Session session() {
        return session;
    }

    @Override
    public CompletionStage<Feed> feed(FeedOptions options) {
        var next = new Fed(options);
        synchronized (lock) {
            present.ifPresent(old -> old.ended(FeedEnd.FENCED));
            present = Optional.of(next);
        }
        return reading.open().thenApply(opened -> next);
    }

    @Override
    public CompletionStage<Optional<Received>> peek() {
        return session.waiting(1).thenApply(all -> all.stream().findFirst());
    }

    @Override
    public CompletionStage<Boolean> awaitMessage() {
        return session.awaitMessage();
    }

    @Override
    public CompletionStage<List<Received>> drainFeed() {
        var held = new HashSet<Long>();
        synchronized (lock) {
            present.ifPresent(feed -> {
                held.addAll(feed.inFlight);
                feed.ended(FeedEnd.DRAINED);
            });
        }
        // Looked at once nothing is taken any more, so that no message is in both hands: not even when another host has
        // taken the session over, where what we hold waits again.
        return reading.endFeed(FeedEnd.DRAINED, true)
                .thenCompose(over -> session.waiting(Integer.MAX_VALUE))
                .thenApply(unread ->
                        unread.stream().filter(m -> !held.contains(m.number())).toList());
    }

    @Override
    public void close() {
        synchronized (lock) {
            present.ifPresent(feed -> feed.ended(FeedEnd.ENDED));
        }
        reading.close();
    }

    /** One feed. It ends between messages only: never while one is in flight or its agent is active (MB-12). */
    private final class Fed implements Feed {
        private final FeedOptions options;
        private final CompletableFuture<Void> over = new CompletableFuture<>();
        private final Set<Long> inFlight = new HashSet<>();
        private final List<CompletableFuture<Void>> rests = new ArrayList<>();
        private boolean given;
        private boolean waiting;
        private boolean taking;
        /** It was idle for too long: ended once the take under way has brought nothing. */
        private boolean idled;

        private boolean active;
        private Optional<FeedEnd> end = Optional.empty();
        private Optional<Surroundings.Alarm> idle = Optional.empty();

        Fed(FeedOptions options) {
            this.options = options;
        }

        @Override
        public CompletionStage<Optional<Received>> next() {
            synchronized (lock) {
                if (end.isPresent()) {
                    return none();
                }
                if (waiting) {
                    throw new IllegalStateException("the feed of session " + session.name()
                            + " is being read by another call already: one consumer at a time");
                }
                waiting = true;
                watchIdle();
            }
            return step().whenComplete((message, failure) -> {
                synchronized (lock) {
                    waiting = false;
                    cancelIdle();
                }
            });
        }

        private static CompletableFuture<Optional<Received>> none() {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        /** Takes the next one; with a boundary it is looked at before, unless it is the first (MB-10). */
        private CompletionStage<Optional<Received>> step() {
            boolean looks;
            synchronized (lock) {
                if (end.isPresent()) {
                    return none();
                }
                looks = looks();
            }
            return looks
                    ? session.awaitMessage()
                            .applyToEither(over.thenApply(ended -> false), some -> some)
                            .thenCompose(some -> some ? judged() : take(OptionalLong.empty()))
                    : take(OptionalLong.empty());
        }

        private boolean looks() {
            return given && options.stopBefore().isPresent();
        }

        /** Looks at the next message before it is taken. */
        private CompletionStage<Optional<Received>> judged() {
            return peek().thenCompose(next -> {
                if (next.isEmpty()) {
                    return step(); // it was taken out meanwhile
                }
                return rejected(next.get())
                        ? stopHere()
                        : take(OptionalLong.of(next.get().number()));
            });
        }

        /** The message stays where it is; the feed ends once nothing is in flight (MB-12). */
        private CompletionStage<Optional<Received>> stopHere() {
            CompletableFuture<Void> rest;
            synchronized (lock) {
                if (end.isPresent()) {
                    return none();
                }
                if (inFlight.isEmpty() && !active) {
                    return stop(FeedEnd.BOUNDARY);
                }
                rest = new CompletableFuture<>();
                rests.add(rest);
            }
            return rest.thenCompose(settled -> step());
        }

        private boolean rejected(Received next) {
            if (!(next.payload() instanceof Payload.Words words)) {
                return false;
            }
            try {
                return options.stopBefore().orElseThrow().test(words.text());
            } catch (RuntimeException e) {
                LOG.warn("the boundary of session {} failed; the message is let through", session.name(), e);
                return false;
            }
        }

        /** @param judged the message the boundary has let through */
        private CompletionStage<Optional<Received>> take(OptionalLong judged) {
            synchronized (lock) {
                if (end.isPresent()) {
                    return none();
                }
                taking = true;
            }
            return reading.take(1, true, 0, Function.identity()).thenCompose(taken -> took(taken, judged));
        }

        private CompletionStage<Optional<Received>> took(List<Received> taken, OptionalLong judged) {
            Received message;
            synchronized (lock) {
                taking = false;
                if (taken.isEmpty()) {
                    return nothingTaken();
                }
                if (end.filter(e -> e != FeedEnd.DRAINED).isPresent()) {
                    return none(); // it goes back with the feed
                }
                message = taken.getFirst();
                boolean unseen = looks() && !judged.equals(OptionalLong.of(message.number()));
                if (!unseen || !rejected(message)) {
                    given = true;
                    if (message.payload().kind().speaks()) {
                        inFlight.add(message.number());
                    }
                    return CompletableFuture.completedFuture(Optional.of(message));
                }
            }
            // Another one had come in front of the one that was looked at.
            reading.giveBack(message.number(), "not for this feed");
            return stopHere();
        }

        private CompletionStage<Optional<Received>> nothingTaken() {
            if (end.isPresent()) {
                return none();
            }
            if (reading.end().isPresent()) {
                ended(reading.end().get());
                return none();
            }
            return idled && rests() ? stop(FeedEnd.IDLE) : step();
        }

        private boolean rests() {
            return inFlight.isEmpty() && !active;
        }

        /** Under the lock: nothing is in flight and the agent does nothing of its own. */
        private void rested() {
            if (rests()) {
                wakeRests();
                watchIdle();
            }
        }

        private void wakeRests() {
            rests.forEach(r -> session.elsewhere(() -> r.complete(null)));
            rests.clear();
        }

        @Override
        public CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer) {
            synchronized (lock) {
                if (!inFlight.contains(message.number())) {
                    return CompletableFuture.completedFuture(false);
                }
            }
            return reading.settle(message.number(), outcome, answer).thenApply(done -> {
                synchronized (lock) {
                    inFlight.remove(message.number());
                    rested();
                }
                return done;
            });
        }

        @Override
        public void active(boolean nowActive) {
            synchronized (lock) {
                active = nowActive;
                if (active) {
                    cancelIdle();
                } else {
                    rested();
                }
            }
        }

        /** Under the lock: the idle window begins when it waits for mail and nothing is in flight (MB-11, MB-12). */
        private void watchIdle() {
            cancelIdle();
            if (waiting && rests() && end.isEmpty()) {
                idle = options.idleExit()
                        .map(after -> surroundings.at(surroundings.now().plus(after), this::idleForTooLong));
            }
        }

        private void cancelIdle() {
            idle.ifPresent(Surroundings.Alarm::cancel);
            idle = Optional.empty();
            idled = false;
        }

        /** A message that is being taken in this moment is not idleness: the take is ended first. */
        private void idleForTooLong() {
            synchronized (lock) {
                if (!waiting || !rests() || end.isPresent()) {
                    return;
                }
                if (!taking) {
                    var unused = stop(FeedEnd.IDLE);
                    return;
                }
                idled = true;
            }
            reading.wantNothing();
        }

        /** Under the lock: ends it from here. */
        private CompletionStage<Optional<Received>> stop(FeedEnd cause) {
            ended(cause);
            return reading.endFeed(cause, false).thenApply(over -> Optional.empty());
        }

        /** Under the lock. */
        void ended(FeedEnd cause) {
            cancelIdle();
            if (cause == FeedEnd.FENCED || cause == FeedEnd.ENDED) {
                inFlight.clear(); // they are taken back
            }
            if (end.isEmpty()) {
                end = Optional.of(cause);
            }
            wakeRests();
            session.elsewhere(() -> over.complete(null));
        }

        @Override
        public Optional<FeedEnd> end() {
            synchronized (lock) {
                return end.or(() -> present.filter(fed -> fed == this).isPresent() ? reading.end() : Optional.empty());
            }
        }
    }
}
