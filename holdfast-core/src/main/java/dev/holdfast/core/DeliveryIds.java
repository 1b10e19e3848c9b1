package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/** Derives ids and digests. Pure: the same session and ordinal give the same id, so that {@code decide} needs no randomness. */
final class DeliveryIds {
    private DeliveryIds() {}

    /** The {@code ordinal}-th id of a session, a UUID of version 8. */
    static DeliveryId of(String seed, long ordinal) {
        return new DeliveryId(uuid(seed + "/delivery/" + ordinal));
    }

    static String nativeSession(String seed, long ordinal) {
        return uuid(seed + "/native/" + ordinal).toString();
    }

    static String digest(String text) {
        return HexFormat.of().formatHex(sha256(text));
    }

    private static UUID uuid(String text) {
        var bytes = ByteBuffer.wrap(sha256(text));
        long high = (bytes.getLong() & 0xffff_ffff_ffff_0fffL) | 0x8000L;
        long low = (bytes.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }
}
