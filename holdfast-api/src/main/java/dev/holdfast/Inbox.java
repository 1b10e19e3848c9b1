package dev.holdfast;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The reader of a session that has no agent: whatever is sent to the session comes out here, in the order of acceptance,
 * and is in flight until it is settled (MB-02, CH-08). One reading surface per session (CH-09); what an older one left
 * unsettled comes again, in front. Thread-safe; {@link #next} has one waiter at a time (IN-04).
 *
 * <p>What is taken and not settled goes back to the front when the inbox is closed, its host ends, or another is opened.
 */
public interface Inbox extends AutoCloseable {
    /** The session it reads: for sending, addresses, observers and closing. */
    Session session();

    /**
     * Takes the next payload, waiting for one; empty once the session is closed, paused or drained, or this inbox is
     * closed or fenced.
     *
     * @throws IllegalStateException when another call waits
     */
    CompletionStage<Optional<Received>> next();

    /** Takes everything accepted so far, in order; empty when that is nothing. */
    CompletionStage<List<Received>> takeAll();

    /** Whether something accepted so far is neither taken nor ended. */
    CompletionStage<Boolean> hasPending();

    /**
     * Ends a payload taken here: its sender's {@link Session#reply} completes. Kinds without words need no end and are
     * passed over.
     *
     * @param answer the reply's text; may be empty
     * @return false when it was not in flight here: it had its end, or was given back
     */
    CompletionStage<Boolean> settle(Received payload, Outcome outcome, String answer);

    /** As {@link #settle(Received, Outcome, String)}, answered. */
    default CompletionStage<Boolean> settle(Received payload, String answer) {
        return settle(payload, Outcome.ANSWERED, answer);
    }

    /** Why it gives nothing any more (MB-19); empty while it does. */
    Optional<FeedEnd> lastEnd();

    /** Ends the reading; what is not settled goes back to the front. Idempotent. */
    @Override
    void close();
}
