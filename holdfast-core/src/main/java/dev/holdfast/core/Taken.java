package dev.holdfast.core;

import dev.holdfast.MessageId;

/** A message that an event has named: taken into a turn, or given back to the front of the queue. */
public record Taken(long number, MessageId id, long bytes) {}
