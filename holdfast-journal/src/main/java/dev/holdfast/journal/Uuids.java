package dev.holdfast.journal;

import java.nio.ByteBuffer;
import java.util.UUID;

/** The 16 bytes of an identity, as the store keeps it. */
final class Uuids {
    static final int LENGTH = 16;

    private Uuids() {}

    static byte[] bytes(UUID id) {
        return ByteBuffer.allocate(LENGTH)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
    }

    static UUID of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }
}
