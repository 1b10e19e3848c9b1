package dev.holdfast.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

/**
 * One open file, read line by line as bytes. It keeps no byte of a line that has no newline yet, so nothing is decoded in
 * halves. Reading is guarded: lines are given out only when, after they were read, they and everything before them still
 * stand as they were, so that a file which is written anew in the middle of a read gives no line that never was there.
 * One thread at a time.
 */
final class ControlFileReader implements Closeable {
    /** Up to this size everything that was read is compared at each look; beyond it only its two ends are. */
    static final int COMPARED_WHOLE = 256 << 10;

    private static final long FILE_BYTES_MAX = 1L << 30;
    private static final int FILE_LINES_MAX = 1_000_000;
    private static final int BLOCK = 64 << 10;
    private static final int WINDOW = 4 << 10;
    private static final int LINES_AT_ONCE = 64;
    private static final int BYTES_AT_ONCE = 1 << 20;

    /**
     * A whole line.
     *
     * @param times how often the same line stood there before
     * @param content without the newline; absent when it is longer than allowed
     */
    record Raw(ControlFilePart part, Path file, ControlFilePart.Mark mark, int times, Optional<byte[]> content) {
        /** Accepted once for ever (IN-12), whatever happens between the acceptance and the acknowledgement. */
        String key() {
            return "control:" + part.id() + ":" + mark.start() + ":" + mark.digest() + (times == 0 ? "" : ":" + times);
        }

        long size() {
            return mark.end() - mark.start();
        }

        Raw withoutContent() {
            return new Raw(part, file, mark, times, Optional.empty());
        }
    }

    private final Path path;
    private final FileChannel channel;
    private final int lineBytes;
    private ControlFilePart part;
    /** Everything before it was looked at. */
    private long reach;
    /** The digest of everything before {@link #reach}. */
    private MessageDigest running = Digests.sha256();
    /** No newline lies between {@link #reach} and here. */
    private long searched;

    private byte[] head = new byte[0];
    private byte[] tail = new byte[0];

    private final ByteBuffer block = ByteBuffer.allocate(BLOCK).limit(0);
    private long blockAt;

    private ControlFileReader(Path path, FileChannel channel, int lineBytes, ControlFilePart part) {
        this.path = path;
        this.channel = channel;
        this.lineBytes = lineBytes;
        this.part = part;
    }

    static ControlFileReader open(Path path, int lineBytes, ControlFilePart part) throws IOException {
        return new ControlFileReader(
                path, FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS), lineBytes, part);
    }

    Path path() {
        return path;
    }

    ControlFilePart part() {
        return part;
    }

    /** Reads it as a further life of that part. */
    void adopt(ControlFilePart known) {
        part = known;
        rescan();
    }

    long reach() {
        return reach;
    }

    /** Whether it is too big to be read on. */
    boolean full() {
        return reach >= FILE_BYTES_MAX || part.marks().size() >= FILE_LINES_MAX;
    }

    /** Whether something stands behind the last whole line. */
    boolean unfinished() throws IOException {
        return channel.size() > reach;
    }

    /** Looks at all of an unfinished line again, for what of it was written over. */
    void searchAgain() {
        searched = reach;
    }

    /** Begins again at the beginning; lines the part knows are passed over. */
    void rescan() {
        reach = 0;
        searched = 0;
        running = Digests.sha256();
        head = new byte[0];
        tail = new byte[0];
    }

    /** The next whole lines that were not seen before; empty when there is none now. */
    List<Raw> next() throws IOException {
        while (!full()) {
            forget();
            var lines = new ArrayList<Raw>();
            var all = copy(running);
            var batch = Digests.sha256();
            long at = reach;
            for (long read = 0; lines.size() < LINES_AT_ONCE && read < BYTES_AT_ONCE; read = at - reach) {
                long end = lineEnd(at);
                if (end < 0) {
                    break;
                }
                var line = line(at, end, all, batch);
                if (line.isEmpty()) {
                    return List.of();
                }
                if (!part.knows(line.get().mark())) {
                    lines.add(line.get());
                }
                at = end;
            }
            if (at == reach || !stands(false) || !same(reach, at, batch)) {
                return List.of();
            }
            reached(at, all);
            lines.forEach(line -> part.add(line.mark()));
            if (!lines.isEmpty()) {
                return lines;
            }
        }
        return List.of();
    }

    /**
     * What is acted on is what is remembered: the bytes are read once. Absent when they are not there any more.
     *
     * @param digests take up the bytes as well
     */
    private Optional<Raw> line(long at, long end, MessageDigest... digests) throws IOException {
        long length = end - at - 1;
        var line = Digests.sha256();
        var content = Optional.<byte[]>empty();
        if (length <= lineBytes) {
            var bytes = bytes(at, (int) length + 1);
            if (!endsAt(bytes, (int) length)) {
                return Optional.empty();
            }
            line.update(bytes);
            for (MessageDigest digest : digests) {
                digest.update(bytes);
            }
            content = Optional.of(Arrays.copyOf(bytes, (int) length));
        } else {
            var into = Arrays.copyOf(digests, digests.length + 1);
            into[digests.length] = line;
            if (!digest(at, end, into)) {
                return Optional.empty();
            }
        }
        var mark = ControlFilePart.Mark.of(at, end, line);
        return Optional.of(new Raw(part, path, mark, part.times(mark), content));
    }

    /** Whether that is where their first newline stands. */
    private static boolean endsAt(byte[] bytes, int length) {
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                return i == length;
            }
        }
        return false;
    }

    /** Whether the bytes between are, read once more, those the digest took up. */
    private boolean same(long from, long to, MessageDigest digest) throws IOException {
        forget();
        var again = Digests.sha256();
        return digest(from, to, again)
                && Arrays.equals(again.digest(), copy(digest).digest());
    }

    private void reached(long at, MessageDigest digest) throws IOException {
        forget();
        if (head.length < WINDOW) {
            head = bytes(0, (int) Math.min(at, WINDOW));
        }
        int window = (int) Math.min(at, WINDOW);
        tail = bytes(at - window, window);
        reach = at;
        searched = at;
        running = digest;
    }

    /**
     * Whether everything that was read still stands as it was.
     *
     * @param whole whether a long file is compared from end to end as well
     */
    boolean stands(boolean whole) throws IOException {
        forget();
        if (whole || reach <= COMPARED_WHOLE) {
            return same(0, reach, running);
        }
        return channel.size() >= reach
                && Arrays.equals(head, bytes(0, head.length))
                && Arrays.equals(tail, bytes(reach - tail.length, tail.length));
    }

    /** Which lines that were seen of {@code known} stand in this file where they stood. */
    BitSet standing(ControlFilePart known) throws IOException {
        forget();
        var standing = new BitSet();
        int index = 0;
        for (ControlFilePart.Mark mark : known.marks()) {
            var line = Digests.sha256();
            boolean begins = mark.start() == 0 || (fill(mark.start() - 1) && byteAt(mark.start() - 1) == '\n');
            standing.set(
                    index++,
                    begins
                            && digest(mark.start(), mark.end(), line)
                            && ControlFilePart.Mark.of(mark.start(), mark.end(), line)
                                    .equals(mark));
        }
        return standing;
    }

    /** Whether it holds everything that was read of {@code known}, which is not nothing. */
    boolean continues(ControlFilePart known) throws IOException {
        return !known.unread()
                && channel.size() >= known.end()
                && standing(known).cardinality() == known.marks().size();
    }

    /** Whether a newline stands in it, in its first bytes at least. */
    boolean hasLine() throws IOException {
        forget();
        return lineEnd(0) >= 0;
    }

    // ---- bytes ----------------------------------------------------------------------------------------------------

    private static MessageDigest copy(MessageDigest digest) {
        try {
            return (MessageDigest) digest.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("SHA-256 of the JDK can be cloned", e);
        }
    }

    private void forget() {
        block.limit(0);
    }

    /** Whether the block holds the byte at {@code at}, after reading it when it does not; false at the end. */
    private boolean fill(long at) throws IOException {
        if (at >= blockAt && at < blockAt + block.limit()) {
            return true;
        }
        block.clear();
        blockAt = at;
        while (block.hasRemaining()) {
            if (channel.read(block, at + block.position()) < 0) {
                break;
            }
        }
        block.flip();
        return block.hasRemaining();
    }

    /** Just behind the first newline from {@code at} on, -1 when there is none. */
    private long lineEnd(long at) throws IOException {
        boolean first = at == reach;
        long from = first ? Math.max(at, searched) : at;
        while (fill(from)) {
            int limit = block.limit();
            for (int i = (int) (from - blockAt); i < limit; i++) {
                if (block.get(i) == '\n') {
                    return blockAt + i + 1;
                }
            }
            from = blockAt + limit;
        }
        if (first && from - at > lineBytes) {
            searched = from; // it is too long already
        }
        return -1;
    }

    private byte byteAt(long at) {
        return block.get((int) (at - blockAt));
    }

    /** False when the file ends before {@code to}. */
    private boolean digest(long from, long to, MessageDigest... digests) throws IOException {
        for (long at = from; at < to; ) {
            if (!fill(at)) {
                return false;
            }
            int offset = (int) (at - blockAt);
            int count = (int) Math.min(block.limit() - offset, to - at);
            for (MessageDigest digest : digests) {
                digest.update(block.array(), offset, count);
            }
            at += count;
        }
        return true;
    }

    /** Fewer when the file ends before. */
    private byte[] bytes(long at, int length) throws IOException {
        if (length == 0) {
            return new byte[0];
        }
        if (fill(at) && at + length <= blockAt + block.limit()) {
            int offset = (int) (at - blockAt);
            return Arrays.copyOfRange(block.array(), offset, offset + length);
        }
        var bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, at + bytes.position()) < 0) {
                break;
            }
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
