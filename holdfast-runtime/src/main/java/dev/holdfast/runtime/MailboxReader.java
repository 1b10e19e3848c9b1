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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The mailbox over a session's reading: one feed after the other. */
final class MailboxReader implements Mailbox {
    private static final Logger LOG = LoggerFactory.getLogger(MailboxReader.class);

    private final HeldSession session;
    private final Reading reading;
    private final Surroundings surroundings;

    private final Object lock = new Object();
    private Optional<Fed> present = Optional.empty();

    MailboxReader(HeldSession session, Reading reading, Surroundings surroundings) {
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
        synchronized (lock) {
            present.ifPresent(old -> old.ended(FeedEnd.FENCED));
            var next = new Fed(options);
            present = Optional.of(next);
            return reading.open().thenApply(opened -> next);
        }
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
        synchronized (lock) {
            present.ifPresent(feed -> feed.ended(FeedEnd.DRAINED));
        }
        reading.endFeed(FeedEnd.DRAINED, true);
        return session.waiting(Integer.MAX_VALUE);
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
        private final Set<Long> inFlight = new HashSet<>();
        private final List<CompletableFuture<Void>> rests = new ArrayList<>();
        private boolean given;
        private boolean waiting;
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
                    return CompletableFuture.completedFuture(Optional.empty());
                }
                waiting = true;
                watchIdle();
                if (!given || options.stopBefore().isEmpty()) {
                    return take();
                }
            }
            return session.awaitMessage().thenCompose(some -> some ? judged() : take());
        }

        /** Looks at the next message before it is taken (MB-10). */
        private CompletionStage<Optional<Received>> judged() {
            return peek().thenCompose(next -> {
                synchronized (lock) {
                    if (next.filter(this::rejected).isPresent()) {
                        if (!inFlight.isEmpty() || active) {
                            return settled().thenCompose(over -> judged());
                        }
                        stop(FeedEnd.BOUNDARY);
                        return CompletableFuture.completedFuture(Optional.empty());
                    }
                }
                return take();
            });
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

        private CompletionStage<Optional<Received>> take() {
            return reading.take(1, true, 0).thenApply(taken -> {
                synchronized (lock) {
                    waiting = false;
                    cancelIdle();
                    given |= !taken.isEmpty();
                    taken.forEach(m -> inFlight.add(m.number()));
                    if (taken.isEmpty() && end.isEmpty()) {
                        end = reading.end().or(() -> Optional.of(FeedEnd.ENDED));
                    }
                }
                return taken.stream().findFirst();
            });
        }

        private CompletableFuture<Void> settled() {
            var rest = new CompletableFuture<Void>();
            rests.add(rest);
            return rest;
        }

        /** Under the lock: nothing is in flight and the agent does nothing of its own. */
        private void rested() {
            if (inFlight.isEmpty() && !active) {
                rests.forEach(r -> session.elsewhere(() -> r.complete(null)));
                rests.clear();
                watchIdle();
            }
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
            if (waiting && inFlight.isEmpty() && !active && end.isEmpty()) {
                idle = options.idleExit()
                        .map(after -> surroundings.at(surroundings.now().plus(after), this::idled));
            }
        }

        private void cancelIdle() {
            idle.ifPresent(Surroundings.Alarm::cancel);
            idle = Optional.empty();
        }

        private void idled() {
            synchronized (lock) {
                if (waiting && inFlight.isEmpty() && !active && end.isEmpty()) {
                    stop(FeedEnd.IDLE);
                }
            }
        }

        /** Under the lock: ends it from here. */
        private void stop(FeedEnd cause) {
            ended(cause);
            reading.endFeed(cause, false);
        }

        void ended(FeedEnd cause) {
            cancelIdle();
            if (cause == FeedEnd.FENCED) {
                inFlight.clear(); // the newer feed takes them back
            }
            if (end.isEmpty()) {
                end = Optional.of(cause);
            }
            rests.forEach(r -> session.elsewhere(() -> r.complete(null)));
            rests.clear();
        }

        @Override
        public Optional<FeedEnd> end() {
            synchronized (lock) {
                return end;
            }
        }
    }
}
