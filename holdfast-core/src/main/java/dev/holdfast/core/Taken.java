package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.MessageId;

/** An arrival that an event has named: taken into a turn or by a reader, or given back to the front of the queue. */
public record Taken(long number, MessageId id, long bytes, ArrivalKind kind) {}
