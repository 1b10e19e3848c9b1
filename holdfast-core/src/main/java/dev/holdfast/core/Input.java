package dev.holdfast.core;

import dev.holdfast.Report;
import java.util.List;

/** What can happen to a session. There is no second door: closing, resuming and cancelling are arrivals. */
public sealed interface Input {
    /**
     * A new owner holds the claim; {@code durable} was just folded.
     *
     * @param seed used only when the session has no events yet: 32 hexadecimal digits
     * @param epoch the claim's epoch
     */
    record Awake(String seed, String harness, long epoch) implements Input {}

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

    /** The agent calls a host tool; the input stays with the runner. */
    record CallAsked(long epoch, long incarnation, String callId, String tool, String inputDigest, boolean sideEffects)
            implements Input {}

    /** A call of ours ended; the answer itself stays with the runner. */
    record CallFinished(long epoch, long incarnation, String callId, boolean error, String answerExcerpt)
            implements Input {}

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
