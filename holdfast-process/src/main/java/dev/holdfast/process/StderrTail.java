package dev.holdfast.process;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The last bytes a child wrote to stderr, and how many there were (HS-11). Safe for use by several threads. */
final class StderrTail {

    private static final int FIRST_SIZE = 1 << 10;

    private final int capacity;
    private byte[] ring;
    private int next;
    private long total;

    StderrTail(int capacity) {
        this.capacity = capacity;
        this.ring = new byte[Math.min(FIRST_SIZE, capacity)];
    }

    synchronized void accept(byte[] bytes, int count) {
        if (capacity == 0) {
            total += count;
            return;
        }
        int from = Math.max(0, count - capacity);
        grow(total + count);
        for (int i = from; i < count; i++) {
            ring[next] = bytes[i];
            next = next + 1 == ring.length ? 0 : next + 1;
        }
        total += count;
    }

    /** Grows only while nothing has been overwritten yet, so that the kept bytes are one run from 0. */
    private void grow(long needed) {
        if (ring.length < capacity && needed > ring.length) {
            next = (int) total;
            ring = Arrays.copyOf(ring, (int) Math.min(capacity, Math.max(needed, 2L * ring.length)));
        }
    }

    synchronized long total() {
        return total;
    }

    /** The kept bytes as UTF-8; a character cut by the ring's start is dropped, what is not UTF-8 is replaced. */
    synchronized String text() {
        int kept = (int) Math.min(total, ring.length);
        byte[] out = new byte[kept];
        int start = total <= ring.length ? 0 : next;
        for (int i = 0; i < kept; i++) {
            out[i] = ring[(start + i) % ring.length];
        }
        int first = 0;
        if (total > kept) {
            while (first < kept && first < 3 && (out[first] & 0xC0) == 0x80) {
                first++;
            }
        }
        return new String(out, first, kept - first, StandardCharsets.UTF_8);
    }
}
