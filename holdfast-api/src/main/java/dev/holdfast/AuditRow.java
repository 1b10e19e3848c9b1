package dev.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What became of one call of a tool (TL-08). A view of the session's journal: rows are never changed or removed.
 *
 * @param seq number of the event it stands in; rows are in this order
 * @param at when it ended
 * @param author who sent the message in whose turn it was made; empty in a turn nobody sent a message for
 * @param turn 0 in a turn the agent started by itself
 * @param message number of that message; 0 for none
 * @param callId the agent's id of the call
 * @param builtIn the agent ran it, not the host
 * @param inputDigest SHA-256 of its input as 64 hexadecimal digits; empty where it was not known
 * @param ruling what was decided about it
 * @param rule by which rule; empty when none was asked
 * @param took from its dispatch to its end; absent when it was not dispatched, or its end was not seen
 */
public record AuditRow(
        long seq,
        Instant at,
        SessionName session,
        String author,
        long turn,
        long message,
        String callId,
        String tool,
        boolean builtIn,
        String inputDigest,
        CallRuling ruling,
        String rule,
        Optional<Duration> took,
        CallOutcome outcome) {}
