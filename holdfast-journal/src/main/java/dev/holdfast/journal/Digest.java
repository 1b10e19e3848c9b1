package dev.holdfast.journal;

import java.util.Arrays;

/** Bytes that are equal when their content is. */
@SuppressWarnings("ArrayRecordComponent") // compared by content, see equals; handed over, never changed
record Digest(byte[] bytes) {
    @Override
    public boolean equals(Object other) {
        return other instanceof Digest digest && Arrays.equals(bytes, digest.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
