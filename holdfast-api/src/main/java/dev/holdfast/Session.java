package dev.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

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

    /** Sends several messages, all or none, with consecutive numbers (IN-19). At least one, at most 1,000. */
    CompletionStage<List<Receipt>> sendAll(List<Message> messages);

    /**
     * Sends a payload of any kind; what {@link #send} is for words. {@link Payload.Authorization} and
     * {@link Payload.ToolRun} are refused here: they come through the address made for them (IN-20).
     */
    CompletionStage<Receipt> submit(Payload payload, Author author, Optional<String> key);

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

    /** Cancels what is named: that turn, that message, or neither when it is too late, which its event says (IN-06). */
    CompletionStage<Receipt> cancel(Payload.Cancel cancel);

    /** Takes a waiting message out of the queue; exactly one of this and its turn wins (MB-21). */
    CompletionStage<Withdrawal> withdraw(long number);

    /**
     * Sends the words of an ended message again, as a new message with its author (MB-20).
     *
     * @throws HoldfastException when there is no message of that number, or it has not ended
     */
    CompletionStage<Receipt> resend(long number);

    /** Lets no further turn begin; an open one ends, and mail is accepted (MB-08). */
    CompletionStage<Receipt> pause(String reason);

    /** Takes a paused or parked session up again. */
    CompletionStage<Receipt> resume();

    /**
     * Pauses the session once its open turn has ended, at the deadline at the latest; mail is accepted and waits (MB-09).
     * Completes when it is paused.
     */
    CompletionStage<Drained> drain(Duration deadline);

    /** Takes nothing new from now on; what waits still runs, then the session is closed. The first reason stays (MB-07). */
    CompletionStage<Receipt> finish(String reason);

    /** Ends the open turn and drops the agent's memory; the transcript is kept and marked (IN-20). */
    CompletionStage<Receipt> reset();

    /** As {@link #reset}, in its place in the queue and without interrupting. */
    CompletionStage<Receipt> clear();

    /**
     * Turns of the transcript, oldest first; those that were thrown away are not in it.
     *
     * @param after number of the last turn already seen, 0 for none
     * @param max at least 1, at most 1,000
     */
    CompletionStage<List<TranscriptTurn>> transcript(long after, int max);

    /**
     * As {@link #regenerateFrom}, of the newest turn with a message. Refused while a turn is open or mail waits: the newest
     * would be another by then.
     */
    CompletionStage<Receipt> regenerate();

    /**
     * Throws away the answer of a turn and all turns after it, and runs its messages again, as new ones of their authors
     * (HN-04). Done in its place: what waits before runs first. The agent never learns of what was thrown away.
     *
     * @return the receipt of the first of these messages, whose number has the new answer
     * @throws HoldfastException (by the stage) when the transcript has no such turn, or it has no message
     */
    CompletionStage<Receipt> regenerateFrom(long turn);

    /** Throws away a turn and all after it, in its place (HN-04). The messages stay ended as they were. */
    CompletionStage<Receipt> deleteFrom(long turn);

    /**
     * Copies the transcript up to a turn into a new session, whose agent begins a native session of its own and is told it
     * (HN-14). This session is not touched. Called again with the same name and turn it does nothing more.
     *
     * @param name of the new session
     * @param through the last turn to copy; without it the newest
     * @return how many turns the new session begins with
     * @throws HoldfastException (by the stage) when there is nothing to copy, or a session of that name is something else
     */
    CompletionStage<Long> fork(SessionName name, OptionalLong through);

    /**
     * Lets another agent think from now on, once the open turn has ended: the conversation goes on from our transcript, and
     * what the one before remembered by itself is given up (HN-04). A turn that begins meanwhile is the new one's.
     *
     * @throws IllegalArgumentException for options or tools that cannot be bound
     * @throws HoldfastException when no agent has the session here
     */
    CompletionStage<Void> swap(Agent agent);

    /**
     * Asks a question of whoever watches the session. It is durable: asked again under its id after a restart, it is the
     * same question, and an answer already given is found (IN-14).
     *
     * @param id unguessable, 1 to 256 characters, chosen by the asker once
     * @return the answer's text; absent when the deadline passed first
     */
    CompletionStage<Optional<String>> question(String id, String text, Duration deadline);

    /** Answers a question; one that is unknown, answered or over is not changed, which its event says. */
    CompletionStage<Receipt> answer(String question, String text);

    /** The questions that wait for an answer, oldest first: those of {@link #question}, and about calls of tools (TL-04). */
    CompletionStage<List<OpenQuestion>> questions();

    /**
     * Tells of questions, first of those open now, each once. While somebody listens, calls are asked about also in turns
     * that nobody sent a message for (TL-04). The handler must be quick.
     */
    Subscription onQuestion(Consumer<OpenQuestion> handler);

    /**
     * What became of the calls of tools, of the host's and of the agent's own (TL-08).
     *
     * @param after the {@link AuditRow#seq} of the last row already seen; 0 for all
     * @param max at least 1
     * @return the next rows; fewer than {@code max} when there are no more
     */
    CompletionStage<List<AuditRow>> audit(long after, int max);

    /**
     * Asks something of the agent's present process between its turns, for the host's own use (MB-16). It vanishes with
     * the process, on a drain and on a withdrawal, and counts as no message.
     *
     * @return the agent's words; absent when it vanished. Cancelling the future withdraws it while it waits
     */
    CompletableFuture<Optional<String>> internal(String text);

    /** True once something can be taken; false when the session is closed, paused or drained first (MB-14). */
    CompletionStage<Boolean> awaitMessage();

    /** Counts and words of messages that were set aside (MB-20), oldest first, at most {@code max}. */
    CompletionStage<List<Reply>> deadLetters(int max);

    /** The addresses of this session. */
    Addresses addresses();

    /**
     * Tells of cancels, resets and session time-outs after their commit and before they are acted on, and again of unread
     * ones when the session is woken: handlers must be quick and idempotent (IN-06).
     */
    Subscription onInterrupt(Consumer<Received> handler);

    /** Tells of deliveries without taking them, first of those unread now: no gap, no duplicate (IN-07). */
    Subscription onDelivery(Consumer<Received> handler);

    /**
     * Ends the session for good: unread messages end as {@link Outcome#CLOSED}, a running turn as well. With a
     * {@linkplain CloseReason recoverable} reason it is a {@link #pause} (MB-08).
     */
    Receipt close(String reason);

    /** As {@link #close}, without blocking. */
    CompletionStage<Receipt> closeAsync(String reason);
}
