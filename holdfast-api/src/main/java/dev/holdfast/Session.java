package dev.holdfast;

import java.util.concurrent.CompletionStage;

/**
 * A held conversation with one agent. Thread-safe. Blocking methods wait on the calling thread and react to its
 * interruption by throwing {@link HoldfastException}; what was accepted stays accepted.
 */
public interface Session {
    SessionName name();

    /**
     * Sends a message and waits for the committed end of its turn. With a key it may be called again after a restart of
     * the caller: the message is not sent twice and its reply is found.
     *
     * @throws HoldfastException when the message is refused, with the receipt's reason
     */
    Reply ask(Message message);

    /** As {@link #ask(Message)}, for a message without a key: called twice, it asks twice. */
    default Reply ask(String text) {
        return ask(Message.of(text));
    }

    /** Sends a message; the receipt is given after the commit (P1). Does not wait for its turn. */
    Receipt send(Message message);

    /** As {@link #send}, without blocking. The stage completes on an internal thread that must not be blocked. */
    CompletionStage<Receipt> sendAsync(Message message);

    /** The committed end of an accepted message; completes also when it ended long ago, or before a restart. */
    CompletionStage<Reply> reply(long number);

    /** Puts words into the running turn, or queues them; answers within 5 s (TN-09). */
    SteerAnswer steer(Message message);

    default SteerAnswer steer(String text) {
        return steer(Message.of(text));
    }

    /** As {@link #steer(Message)}, without blocking. */
    CompletionStage<SteerAnswer> steerAsync(Message message);

    /**
     * Interrupts the open turn, or the message next to run when none is open (IN-06). Returns once the wish is durable;
     * the turn's message ends as {@link Outcome#CANCELLED} unless it was settled before.
     */
    Receipt interrupt();

    /** As {@link #interrupt}, without blocking. */
    CompletionStage<Receipt> interruptAsync();

    /**
     * Follows the committed events from {@code after} (0 for all), then the live ones.
     *
     * @param after the sequence number of the last event already seen
     */
    Subscription events(long after, EventListener listener);

    /** What is known of the session now, from committed state. */
    SessionStatus status();

    /** Asks that a warm process be ended between turns. Loses nothing but warmth (HS-05). */
    CompletionStage<Receipt> evict();

    /** Ends the session for good: unread messages end as {@link Outcome#CLOSED}, a running turn as well. */
    Receipt close(String reason);
}
