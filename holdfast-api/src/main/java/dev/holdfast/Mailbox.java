package dev.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * The mailbox of an agent that Java code runs by itself: it feeds one incarnation after the other, in order, with nothing
 * lost between them (MB-01 to MB-12). Thread-safe.
 */
public interface Mailbox extends AutoCloseable {
    /** The session behind it: pushing is {@link Session#send}, closing {@link Session#close} or {@link Session#finish}. */
    Session session();

    /** Opens the feed of a new incarnation: the older one is fenced, and what it did not settle comes first (MB-03, MB-05). */
    CompletionStage<Feed> feed(FeedOptions options);

    /** The next message, without taking it (MB-01). */
    CompletionStage<Optional<Received>> peek();

    /** True once something can be taken; false when it is closed, paused or drained first (MB-14). */
    CompletionStage<Boolean> awaitMessage();

    /**
     * Retires the present feed: it gives nothing more, the message in flight may be settled, and what waits is for the
     * next feed (MB-09).
     *
     * @return what waits and is not in flight, in order
     */
    CompletionStage<List<Received>> drainFeed();

    /** Ends the reading; the session is kept. */
    @Override
    void close();

    /**
     * Bounds of a feed; both off by default.
     *
     * @param stopBefore rejects the next message: the feed ends and the message stays. Never asked about a feed's first
     * @param idleExit the feed ends after so long with nothing queued and nothing in flight
     */
    record FeedOptions(Optional<Predicate<String>> stopBefore, Optional<Duration> idleExit) {
        public FeedOptions {
            if (idleExit.filter(d -> d.isNegative() || d.isZero()).isPresent()) {
                throw new IllegalArgumentException("an idle exit must be positive; got " + idleExit.get());
            }
        }

        public static FeedOptions none() {
            return new FeedOptions(Optional.empty(), Optional.empty());
        }

        public FeedOptions stopBefore(Predicate<String> rejects) {
            return new FeedOptions(Optional.of(rejects), idleExit);
        }

        public FeedOptions idleExit(Duration after) {
            return new FeedOptions(stopBefore, Optional.of(after));
        }
    }

    /** What one incarnation is fed. One caller at a time. */
    interface Feed {
        /** Takes the next message, waiting for one; empty once the feed has ended, which {@link #end} explains. */
        CompletionStage<Optional<Received>> next();

        /** Ends a message taken from this feed; false when it is not in flight here. */
        CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer);

        /**
         * What the agent does, where it does something of its own: neither boundary nor idle exit ends the feed while it
         * is active (MB-12, MB-13).
         */
        void active(boolean active);

        /** Why it has ended; empty while it has not. */
        Optional<FeedEnd> end();
    }
}
