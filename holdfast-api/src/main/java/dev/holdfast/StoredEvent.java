package dev.holdfast;

import java.time.Instant;

/** An event as it was committed. */
public record StoredEvent(long seq, long epoch, Instant at, EventRecord event) {}
