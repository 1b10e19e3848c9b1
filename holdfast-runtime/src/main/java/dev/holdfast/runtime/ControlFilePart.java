package dev.holdfast.runtime;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What is known of one file that was read as a control file: which lines of it were seen. A line is known by the file, by
 * its place in it and by a digest of its bytes: as long as it stands where it stood, it is the same line, whichever way
 * the file came to look as it does.
 *
 * <p>A line that was cut off or written over and later stands there again, byte for byte, is a new line: how often that
 * happened is counted. One thread at a time.
 */
final class ControlFilePart {
    /**
     * A line that was seen.
     *
     * @param start where it begins
     * @param end just behind its newline
     * @param high the first half of a 128-bit digest of its bytes, newline included
     * @param low the other half
     */
    record Mark(long start, long end, long high, long low) {
        /** @param line what the bytes of the line were put into */
        static Mark of(long start, long end, MessageDigest line) {
            var digest = ByteBuffer.wrap(line.digest());
            return new Mark(start, end, digest.getLong(), digest.getLong());
        }

        static Mark of(long start, long end, String digest) {
            if (digest.length() != 32 || start < 0 || end <= start) {
                throw new IllegalArgumentException("a line has an end behind its start and a digest of 32 digits; got "
                        + start + ", " + end + ", '" + digest + "'");
            }
            return new Mark(
                    start,
                    end,
                    HexFormat.fromHexDigitsToLong(digest, 0, 16),
                    HexFormat.fromHexDigitsToLong(digest, 16, 32));
        }

        String digest() {
            var hex = HexFormat.of();
            return hex.toHexDigits(high) + hex.toHexDigits(low);
        }
    }

    /** Bytes of a file, from one offset to another. */
    record Range(long from, long to) {}

    private final String id;
    private long inode;
    private long born;
    private final List<Mark> marks = new ArrayList<>(); // in their order in the file
    private final Map<Mark, Integer> gone = new HashMap<>();

    /**
     * @param id unlike that of any other file the acknowledgements tell of
     * @param born milliseconds since 1970 at which the inode came into being, 0 when the file system does not tell
     */
    ControlFilePart(String id, long inode, long born) {
        this.id = id;
        this.inode = inode;
        this.born = born;
    }

    String id() {
        return id;
    }

    long inode() {
        return inode;
    }

    long born() {
        return born;
    }

    /** It lives on in another inode, which holds everything that was read of it. */
    void moved(long newInode, long newBorn) {
        inode = newInode;
        born = newBorn;
    }

    boolean is(long otherInode, long otherBorn) {
        return inode == otherInode && (born == otherBorn || born == 0 || otherBorn == 0);
    }

    List<Mark> marks() {
        return marks;
    }

    boolean unread() {
        return marks.isEmpty();
    }

    /** Behind the last line that was seen; 0 when none was. */
    long end() {
        return marks.isEmpty() ? 0 : marks.getLast().end();
    }

    boolean knows(Mark mark) {
        int at = at(mark.start());
        return at >= 0 && marks.get(at).equals(mark);
    }

    /** Whether every line of the other stands here, or stood here once. */
    boolean sawAllOf(ControlFilePart other) {
        return other.marks.stream().allMatch(mark -> knows(mark) || gone.containsKey(mark));
    }

    void add(Mark mark) {
        int at = at(mark.start());
        if (at < 0) {
            marks.add(-at - 1, mark);
        } else {
            marks.set(at, mark);
        }
    }

    /** How often this very line stood there before and was cut off. */
    int times(Mark mark) {
        return gone.getOrDefault(mark, 0);
    }

    /** Where lines stood that do not stand there any more; neighbours are put together. */
    List<Range> lost(BitSet standing) {
        var lost = new ArrayList<Range>();
        for (int from = standing.nextClearBit(0); from < marks.size(); ) {
            int to = standing.nextSetBit(from);
            to = to < 0 ? marks.size() : to;
            lost.add(new Range(marks.get(from).start(), marks.get(to - 1).end()));
            from = standing.nextClearBit(to);
        }
        return lost;
    }

    /** The lines in that range stand there no more. */
    void cut(Range range) {
        int from = at(range.from());
        from = from < 0 ? -from - 1 : from;
        int to = from;
        while (to < marks.size() && marks.get(to).end() <= range.to()) {
            gone.merge(marks.get(to++), 1, Integer::sum);
        }
        marks.subList(from, to).clear();
    }

    /** Those that were cut off, and how often. */
    Map<Mark, Integer> gone() {
        return gone;
    }

    void gone(Mark mark, int times) {
        gone.put(mark, times);
    }

    /** The place of the mark with that start, or {@code -place - 1} of where it belongs. */
    private int at(long start) {
        int from = 0;
        int to = marks.size() - 1;
        if (to >= 0 && marks.getLast().start() < start) {
            return -marks.size() - 1;
        }
        while (from <= to) {
            int middle = (from + to) >>> 1;
            long found = marks.get(middle).start();
            if (found == start) {
                return middle;
            }
            if (found < start) {
                from = middle + 1;
            } else {
                to = middle - 1;
            }
        }
        return -from - 1;
    }
}
