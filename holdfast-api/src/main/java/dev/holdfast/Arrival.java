package dev.holdfast;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * An accepted delivery.
 *
 * @param number its place in the session, from 1, without gaps
 * @param boundTurn the turn that was open when it was accepted, for urgent kinds (IN-06)
 * @param boundAfter every arrival up to here was named by an event when it was accepted, for urgent kinds
 * @param bytes size of the body in bytes, also where the body was not read
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record Arrival(
        long number,
        MessageId id,
        ArrivalKind kind,
        Instant acceptedAt,
        OptionalLong boundTurn,
        long boundAfter,
        byte[] header,
        byte[] body,
        long bytes) {}
