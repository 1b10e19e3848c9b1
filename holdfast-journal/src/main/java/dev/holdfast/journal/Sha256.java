package dev.holdfast.journal;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The digest under which keys and large bodies are kept. */
final class Sha256 {
    private Sha256() {}

    static byte[] of(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256; this one says it has not", e);
        }
    }
}
