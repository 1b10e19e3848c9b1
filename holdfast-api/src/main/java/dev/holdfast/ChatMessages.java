package dev.holdfast;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The live chat with an agent that Java code runs by itself (CH-01 to CH-04, CH-08). Thread-safe; several may wait, the
 * oldest is served first. What is taken is in flight until it is settled; when its taker goes away first, it returns to
 * the front.
 */
public interface ChatMessages extends AutoCloseable {
    /** The session behind it. */
    Session session();

    /** Hands a message to the oldest waiter, else queues it; refused after close, with the reason. */
    CompletionStage<Receipt> push(Message message);

    /**
     * The next message, waiting for one; empty once the chat is closed. Cancelling the future removes the waiter: a message
     * that races it goes to the next waiter or back to the front.
     */
    CompletableFuture<Optional<Received>> next();

    /** As {@link #next()}, for a caller that stops waiting when {@code cancel} completes; completed already, it takes nothing. */
    CompletableFuture<Optional<Received>> next(CompletionStage<?> cancel);

    /** The next message if one was accepted already; never waits for one. */
    CompletionStage<Optional<Received>> takeQueued();

    /** Ends a message taken here; false when it is not in flight here. */
    CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer);

    /** Ends the chat for good and wakes every waiter; what was queued is given to the closer, and taken by nobody. */
    CompletionStage<List<Received>> close(String reason);

    /** Lets go of it: waiters are woken, what is not settled returns to the front, and the session is kept. */
    @Override
    void close();
}
