package dev.holdfast.mcp;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Secrets of 128 bits. Owns their randomness; thread-safe. */
final class Tokens {
    private static final int BYTES = 16;
    private final SecureRandom random = new SecureRandom();

    /** A new one: 32 hexadecimal digits. */
    String next() {
        var bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Whether they are the same, in a time that tells nothing of where they differ. */
    static boolean same(String given, String token) {
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }
}
