package dev.holdfast.process;

import dev.holdfast.process.ChildListener.SkipReason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Cuts a stream of bytes into lines (HS-10): at {@code \n} only, one {@code \r} before it dropped, each line decoded as
 * a whole so that a character may be split over any number of reads. Memory is bounded by the limit; a longer line is
 * counted and left out. Owned by one thread.
 */
final class LineFramer {

    /** Takes what was cut. */
    interface Sink {
        void line(OutputLine line);

        void skipped(long bytes, SkipReason reason);

        void partial(OutputLine rest);
    }

    /** A line buffer above this size is given back after its line. */
    private static final int KEPT_BUFFER = 64 << 10;

    private static final int FIRST_BUFFER = 1 << 10;

    private static final VarHandle EIGHT = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long TOPS = ONES << 7;
    private static final long LINE_ENDS = ONES * '\n';

    private final int limit;
    private final Sink sink;
    private byte[] held = new byte[0];
    private int length;
    /** Bytes of the line being left out, or -1 while the line is kept. */
    private long skippedBytes = -1;

    private SkipReason skipReason = SkipReason.OVER_LIMIT;

    LineFramer(int limit, Sink sink) {
        this.limit = limit;
        this.sink = sink;
    }

    /** Takes the next bytes of the stream; the array may be re-used afterwards. */
    void accept(byte[] bytes, int from, int count) {
        int end = from + count;
        int start = from;
        for (int at = lineEnd(bytes, start, end); at < end; at = lineEnd(bytes, start, end)) {
            endLine(bytes, start, at - start);
            start = at + 1;
        }
        hold(bytes, start, end - start);
    }

    /** Where the next line ends, eight bytes at a time; {@code end} when it does not. */
    private static int lineEnd(byte[] bytes, int from, int end) {
        int at = from;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            long differs = (long) EIGHT.get(bytes, at) ^ LINE_ENDS;
            long found = (differs - ONES) & ~differs & TOPS; // the lowest top bit set is that of the first zero byte
            if (found != 0) {
                return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
            }
        }
        while (at < end && bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    /** The stream has ended: what follows the last line end is handed over as partial. */
    void end() {
        if (skippedBytes >= 0) {
            reportSkipped();
        } else if (length > 0) {
            deliver(held, 0, length, true);
        }
        reset();
    }

    private void endLine(byte[] bytes, int from, int count) {
        if (skippedBytes < 0 && length == 0 && count <= limit) {
            deliver(bytes, from, count, false);
            return;
        }
        hold(bytes, from, count);
        if (skippedBytes >= 0) {
            reportSkipped();
        } else {
            deliver(held, 0, length, false);
        }
        reset();
    }

    private void hold(byte[] bytes, int from, int count) {
        if (skippedBytes >= 0) {
            skippedBytes += count;
        } else if (length + (long) count > limit) {
            skip(SkipReason.OVER_LIMIT, count);
        } else if (count > 0) {
            try {
                makeRoom(length + count);
                System.arraycopy(bytes, from, held, length, count);
                length += count;
            } catch (OutOfMemoryError e) {
                skip(SkipReason.NO_MEMORY, count);
            }
        }
    }

    private void skip(SkipReason reason, int more) {
        skippedBytes = (long) length + more;
        skipReason = reason;
        held = new byte[0];
        length = 0;
    }

    private void makeRoom(int needed) {
        if (needed > held.length) {
            long doubled = Math.max(FIRST_BUFFER, 2L * held.length);
            held = Arrays.copyOf(held, (int) Math.max(needed, Math.min(doubled, limit)));
        }
    }

    private void reset() {
        length = 0;
        skippedBytes = -1;
        if (held.length > KEPT_BUFFER) {
            held = new byte[0];
        }
    }

    private void reportSkipped() {
        sink.skipped(skippedBytes, skipReason);
    }

    private void deliver(byte[] bytes, int from, int count, boolean partial) {
        int kept = count > 0 && bytes[from + count - 1] == '\r' ? count - 1 : count;
        OutputLine line;
        try {
            String text = new String(bytes, from, kept, StandardCharsets.UTF_8);
            int replaced = text.indexOf('\uFFFD') < 0 ? 0 : countMalformed(bytes, from, kept);
            line = new OutputLine(text, kept, replaced);
        } catch (OutOfMemoryError e) {
            sink.skipped(count, SkipReason.NO_MEMORY);
            return;
        }
        if (partial) {
            sink.partial(line);
        } else {
            sink.line(line);
        }
    }

    private static int countMalformed(byte[] bytes, int from, int count) {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes, from, count);
        CharBuffer out = CharBuffer.allocate(1024);
        int malformed = 0;
        while (true) {
            out.clear();
            CoderResult result = decoder.decode(in, out, true);
            if (result.isError()) {
                malformed++;
                in.position(in.position() + result.length());
            } else if (result.isUnderflow()) {
                return malformed;
            }
        }
    }
}
