package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import dev.holdfast.FeedEnd;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import java.time.Instant;
import java.util.List;

/** What can happen to a session. There is no second door: closing, resuming and cancelling are arrivals. */
public sealed interface Input {
    /**
     * A new owner holds the claim; {@code durable} was just folded.
     *
     * @param seed used only when the session has no events yet: 32 hexadecimal digits
     * @param epoch the claim's epoch
     * @param settings how this owner treats the mail
     */
    record Awake(String seed, String harness, long epoch, Settings settings) implements Input {}

    /**
     * Arrivals were read from the store, in order; known ones are ignored.
     *
     * @param through every arrival up to here was read; 0 when only urgent ones were
     */
    record Arrived(List<Header> headers, long through) implements Input {
        public Arrived {
            headers = List.copyOf(headers);
        }
    }

    /** Some time passed; {@code now} says how much. */
    record Tick() implements Input {}

    /** An attachment said something. Dropped here, in one place, when it belongs to an older incarnation. */
    record Reported(long epoch, long incarnation, Report report) implements Input {}

    /**
     * The agent wants to use a tool; the input stays with the runner.
     *
     * @param builtIn one of its own, which it runs itself
     */
    record CallAsked(
            long epoch,
            long incarnation,
            String callId,
            String tool,
            String inputDigest,
            boolean sideEffects,
            boolean builtIn)
            implements Input {}

    /**
     * The door has judged a call.
     *
     * @param round as in {@link Effect.AdmitCall#round}
     * @param author who sent the message whose turn it is; empty for nobody
     * @param at when it was judged
     */
    record CallJudged(long epoch, long incarnation, String callId, int round, Ruling ruling, String author, Instant at)
            implements Input {}

    /** A call was not dispatched: its verdict was too old by then, or the tools are stopped. */
    record CallHeldBack(long epoch, long incarnation, String callId, int round) implements Input {}

    /** The agent used one of its own tools. */
    record ToolUsed(
            long epoch,
            long incarnation,
            String callId,
            String tool,
            String inputDigest,
            boolean error,
            String answerExcerpt)
            implements Input {}

    /** A call of ours ended; the answer itself stays with the runner. */
    record CallFinished(long epoch, long incarnation, String callId, boolean error, String answerExcerpt)
            implements Input {}

    /** The boundary was asked about the message that is next (MB-10). */
    record Judged(long epoch, long incarnation, long number, boolean rejected) implements Input {}

    /** The host asks something of the present incarnation; dropped when none takes lines (MB-16). */
    record InternalAsked(DeliveryId id) implements Input {}

    /** It does not ask any more; one that was told goes on. */
    record InternalWithdrawn(DeliveryId id) implements Input {}

    /** The host asks a question; one that is open under this id is the same. */
    record QuestionRaised(String id, String text, Instant deadline) implements Input {}

    /** A reading surface opens a feed (CH-09). */
    record FeedWanted(String surface) implements Input {}

    /**
     * The feed's reader takes what is next.
     *
     * @param max at most so many, at least 1
     * @param waits until there is something; else it is over once nothing up to {@code through} waits
     * @param through arrivals up to here count as accepted before
     */
    record TakeWanted(long feed, int max, boolean waits, long through) implements Input {}

    /** The reader does not wait any more. */
    record TakeWithdrawn(long feed) implements Input {}

    /** The reader is done with a message. */
    record ReadSettled(long feed, long number, Outcome outcome, String text) implements Input {}

    /** The reader gives back some of what it holds and has not settled; the feed goes on. */
    record ReadReturned(long feed, List<Long> numbers, String why) implements Input {
        public ReadReturned {
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * The feed is over.
     *
     * @param keeps what it holds may still be settled; else it goes back to the front (CH-08)
     */
    record FeedOver(long feed, FeedEnd cause, boolean keeps) implements Input {}

    /** Released messages are put back. */
    record RestoreWanted(List<Long> numbers) implements Input {
        public RestoreWanted {
            numbers = List.copyOf(numbers);
        }
    }

    /** The slot service answered. */
    record Slot(long epoch, long incarnation, SlotAnswer answer) implements Input {}

    /** The host stops: the process is ended, nothing new is begun, and what is open stays open for the next owner. */
    record Leaving() implements Input {}

    /** What the slot service can say. */
    enum SlotAnswer {
        GRANTED,
        /** Nothing became free in time; the wait goes on. */
        DENIED,
        /** Somebody else needs the slot: end the process when no turn is open. */
        PLEASE_FREE
    }
}
