package dev.holdfast;

import java.util.List;
import java.util.Optional;

/**
 * What is asked before anything is sent (TN-08).
 *
 * @param nativeSession the agent's session whose record to read; absent when there never was one
 * @param marks of that native session, oldest first
 * @param open every line told for the turn in flight, in order; empty when none is open
 */
public record KnowledgeQuestion(Optional<String> nativeSession, List<TurnMark> marks, List<DeliveryId> open) {
    public KnowledgeQuestion {
        marks = List.copyOf(marks);
        open = List.copyOf(open);
    }
}
