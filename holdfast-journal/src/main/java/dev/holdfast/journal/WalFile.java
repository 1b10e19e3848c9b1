package dev.holdfast.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The beginning of a write-ahead log, by SQLite's file format: a header of 32 bytes, then frames of 24 bytes and a
 * page, under one running checksum. SQLite takes a log whose header or first frame is wrong for an empty one, without
 * a word.
 */
final class WalFile {
    private static final int HEADER = 32;
    private static final int FRAME_HEADER = 24;
    private static final int MAGIC = 0x377f0682;
    private static final int LARGEST_PAGE = 65_536;

    private WalFile() {}

    /** Whether SQLite would read at least one page from the log. Called only while nobody has it open. */
    static boolean begins(Path wal) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER + FRAME_HEADER + LARGEST_PAGE);
        try (FileChannel channel = FileChannel.open(wal, StandardOpenOption.READ)) {
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // Reads on until the buffer is full or the file ends.
            }
        }
        bytes.flip();
        return bytes.limit() >= HEADER && headerAndFrame(bytes);
    }

    private static boolean headerAndFrame(ByteBuffer bytes) {
        int magic = bytes.getInt(0);
        if ((magic & ~1) != MAGIC) {
            return false;
        }
        ByteOrder order = (magic & 1) == 1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        int page = bytes.getInt(8);
        int[] sum = new int[2];
        add(sum, bytes, order, 0, HEADER - 8);
        if (sum[0] != bytes.getInt(24) || sum[1] != bytes.getInt(28)) {
            return false;
        }
        if (page < 512 || page > LARGEST_PAGE || bytes.limit() < HEADER + FRAME_HEADER + page) {
            return false;
        }
        boolean sameSalts = bytes.getLong(16) == bytes.getLong(HEADER + 8);
        add(sum, bytes, order, HEADER, 8);
        add(sum, bytes, order, HEADER + FRAME_HEADER, page);
        return sameSalts && sum[0] == bytes.getInt(HEADER + 16) && sum[1] == bytes.getInt(HEADER + 20);
    }

    private static void add(int[] sum, ByteBuffer bytes, ByteOrder order, int from, int length) {
        ByteBuffer words = bytes.duplicate().order(order);
        for (int at = from; at < from + length; at += 8) {
            sum[0] += words.getInt(at) + sum[1];
            sum[1] += words.getInt(at + 4) + sum[0];
        }
    }
}
