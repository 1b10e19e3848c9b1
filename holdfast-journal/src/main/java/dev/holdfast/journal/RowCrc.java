package dev.holdfast.journal;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * CRC-32C over the columns of one row, in order. Every value carries its length or its absence, so that no two rows
 * that differ give the same bytes. SQLite itself does not notice a flipped bit inside a body (LV-09).
 */
final class RowCrc {
    private final CRC32C crc = new CRC32C();
    private final byte[] eight = new byte[Long.BYTES];

    static long of(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return crc.getValue();
    }

    RowCrc add(long value) {
        for (int i = 0; i < Long.BYTES; i++) {
            eight[i] = (byte) (value >>> (8 * (Long.BYTES - 1 - i)));
        }
        crc.update(eight, 0, eight.length);
        return this;
    }

    RowCrc add(OptionalLong value) {
        crc.update(value.isPresent() ? 1 : 0);
        return value.isPresent() ? add(value.getAsLong()) : this;
    }

    RowCrc add(byte @Nullable [] bytes) {
        if (bytes == null) {
            return add(-1L);
        }
        add((long) bytes.length);
        crc.update(bytes, 0, bytes.length);
        return this;
    }

    RowCrc add(String text) {
        return add(text.getBytes(StandardCharsets.UTF_8));
    }

    /** From 0 to 2^32 - 1. */
    long value() {
        return crc.getValue();
    }
}
