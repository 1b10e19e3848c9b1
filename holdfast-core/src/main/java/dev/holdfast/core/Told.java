package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import java.util.List;

/**
 * A line of a turn: what is told to the agent under one delivery id.
 *
 * @param messages what it carries; empty for a continuation
 * @param landed for a steer: it was acknowledged
 */
public record Told(DeliveryId id, Kind kind, List<Taken> messages, boolean landed) {
    public Told {
        messages = List.copyOf(messages);
    }

    Told asLanded() {
        return new Told(id, kind, messages, true);
    }

    /** What a line is. */
    public enum Kind {
        MESSAGE,
        STEER,
        CONTINUATION
    }
}
