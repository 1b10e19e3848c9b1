package dev.holdfast;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One session for a listing, from committed state.
 *
 * @param unread ordinary messages accepted and not yet named by an event
 * @param takenThrough every arrival up to here is named by an event
 * @param lastArrival the highest number given, 0 for none
 * @param seq the last event's number, 0 for none
 * @param node who owned it last; empty when nobody ever did
 */
public record SessionSummary(
        SessionName name,
        boolean admitting,
        String admissionReason,
        long unread,
        long takenThrough,
        long lastArrival,
        long seq,
        long epoch,
        String node,
        OptionalLong openTurn,
        Optional<Instant> dueAt,
        Batch.Summary summary) {}
