package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import java.util.List;

/**
 * A line of a turn: what is told to the agent under one delivery id.
 *
 * @param messages what it carries; empty for one without a message
 * @param landed for a steer: it was acknowledged
 */
public record Told(DeliveryId id, Kind kind, List<Taken> messages, boolean landed) {
    public Told {
        messages = List.copyOf(messages);
    }

    boolean carries(long number) {
        return messages.stream().anyMatch(m -> m.number() == number);
    }

    /** Whether it carries messages, and all were accepted after that arrival. */
    boolean carriesOnlyAfter(long number) {
        return !messages.isEmpty() && messages.stream().allMatch(m -> m.number() > number);
    }

    /** What calls of a turn that begins with this line are counted under: its message, which may have several turns. */
    String scope(long turn) {
        return messages.isEmpty()
                ? "turn " + turn
                : Long.toString(messages.getFirst().number());
    }

    Told asLanded() {
        return new Told(id, kind, messages, true);
    }

    /** What a line is. */
    public enum Kind {
        MESSAGE,
        STEER,
        /** Goes on with a turn that was cut off. */
        CONTINUATION,
        /** The line of a turn that goes on after one that reached its limit of steps (MB-15). */
        AFTER_LIMIT,
        /** The host's own request to this incarnation (MB-16). */
        INTERNAL
    }
}
