package dev.holdfast.claude;

import java.util.List;

/**
 * What the agent said to an interrupt.
 *
 * @param stillQueued ids of messages that it goes on with afterwards; empty where it does not tell
 * @param cancelled ids of queued messages it has dropped
 */
public record InterruptReceipt(List<String> stillQueued, List<String> cancelled, RawJson raw) {
    public InterruptReceipt {
        stillQueued = List.copyOf(stillQueued);
        cancelled = List.copyOf(cancelled);
    }
}
