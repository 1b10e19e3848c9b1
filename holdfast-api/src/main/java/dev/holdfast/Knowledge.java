package dev.holdfast;

import java.util.List;

/**
 * What the agent has, read from its record.
 *
 * @param record whether the record is there and can be trusted
 * @param coversTurn the newest turn whose marks are all there, 0 for none
 * @param askedNext those lines of the first marked turn after {@code coversTurn} that are there all the same: its answer
 *     is not
 * @param present those of the asked-for open lines that are in the record
 * @param tail what follows the last present one
 */
public record Knowledge(
        RecordState record, long coversTurn, List<String> askedNext, List<DeliveryId> present, Tail tail) {
    public Knowledge {
        askedNext = List.copyOf(askedNext);
        present = List.copyOf(present);
    }

    /** Nothing: there is no record, and so no memory. */
    public static Knowledge nothing() {
        return new Knowledge(RecordState.MISSING, 0, List.of(), List.of(), new Tail.None());
    }

    /** Whether the agent's record can be resumed. */
    public enum RecordState {
        PRESENT,
        /** There is none: a start creates it. */
        MISSING,
        /** It is there and has holes, or cannot be read: a new native session is needed. */
        DAMAGED
    }

    /** What the record holds after the last line told. */
    public sealed interface Tail {
        /** No open line is in the record. */
        record None() implements Tail {}

        /** The agent was at work; {@code begun} calls have no end in the record, {@code ended} have. */
        record Open(List<String> begun, List<String> ended) implements Tail {
            public Open {
                begun = List.copyOf(begun);
                ended = List.copyOf(ended);
            }
        }

        /** The turn was complete; its result as far as the record tells, cost unknown. */
        record Answered(TurnResult result) implements Tail {}
    }
}
