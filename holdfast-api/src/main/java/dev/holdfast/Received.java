package dev.holdfast;

import java.time.Instant;
import java.util.Optional;

/**
 * An accepted payload, as readers and observers see it.
 *
 * @param number its place in the session, from 1
 * @param address the address it came through; absent for the session's own
 */
public record Received(
        long number, MessageId id, Instant acceptedAt, Author author, Optional<String> address, Payload payload) {}
