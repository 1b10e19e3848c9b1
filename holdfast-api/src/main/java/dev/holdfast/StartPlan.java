package dev.holdfast;

import java.util.Optional;

/**
 * How to start an incarnation.
 *
 * @param nativeSession the agent's own session to create or to resume
 * @param resume true when its record was seen and is to be resumed
 * @param catchUp what the agent lacks, told in the line that checks the tools; its id becomes a mark (TN-16)
 */
public record StartPlan(String nativeSession, boolean resume, Optional<CatchUp> catchUp) {
    /** Text that tells the agent what its own memory lacks. */
    public record CatchUp(DeliveryId id, String text) {}
}
