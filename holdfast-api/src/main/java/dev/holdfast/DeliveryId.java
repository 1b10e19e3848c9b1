package dev.holdfast;

import java.util.UUID;

/**
 * Identity of one line put in front of an agent, fixed and durable before a byte of it is written (TN-12). The agent
 * sees it as the message's uuid and files it in its own record, which is how its memory can be questioned later.
 */
public record DeliveryId(UUID value) {
    public static DeliveryId parse(String text) {
        return new DeliveryId(UUID.fromString(text));
    }

    @Override
    public String toString() {
        return value.toString();
    }
}
