package dev.holdfast;

import java.util.UUID;

/** Identity of an accepted message, given by the host, never by a client. */
public record MessageId(UUID value) {
    @Override
    public String toString() {
        return value.toString();
    }
}
