package dev.holdfast.runtime;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What is known of one file that was read as a control file: which lines of it were seen. A line is known by the file, by
 * where it ends, and by a digest of everything from the beginning of the file to its end. So a line is the same line as
 * long as nothing in it or before it changed, whichever way the file came to look as it does.
 *
 * <p>A line that was cut off or written over and later stands there again, byte for byte, is a new line: how often that
 * happened is counted. One thread at a time.
 */
final class ControlFilePart {
    /**
     * A line that was seen.
     *
     * @param end just behind its newline
     * @param high half of the digest of the file up to {@code end}
     * @param low the other half
     */
    record Mark(long end, long high, long low) {
        static Mark of(long end, MessageDigest running) {
            try {
                var digest = ByteBuffer.wrap(((MessageDigest) running.clone()).digest());
                return new Mark(end, digest.getLong(), digest.getLong());
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException("SHA-256 of the JDK can be cloned", e);
            }
        }

        static Mark of(long end, String chain) {
            if (chain.length() != 32) {
                throw new IllegalArgumentException("a chain has 32 hexadecimal digits; got '" + chain + "'");
            }
            return new Mark(
                    end, HexFormat.fromHexDigitsToLong(chain, 0, 16), HexFormat.fromHexDigitsToLong(chain, 16, 32));
        }

        String chain() {
            var hex = HexFormat.of();
            return hex.toHexDigits(high) + hex.toHexDigits(low);
        }
    }

    private final String id;
    private long inode;
    private long born;
    private final List<Mark> marks = new ArrayList<>(); // in the order of their ends
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
        int at = at(mark.end());
        return at >= 0 && marks.get(at).equals(mark);
    }

    void add(Mark mark) {
        int at = at(mark.end());
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

    /** Lines that end behind {@code end} stand there no more. */
    void cut(long end) {
        while (!marks.isEmpty() && marks.getLast().end() > end) {
            gone.merge(marks.removeLast(), 1, Integer::sum);
        }
    }

    /** Those that were cut off, and how often. */
    Map<Mark, Integer> gone() {
        return gone;
    }

    void gone(Mark mark, int times) {
        gone.put(mark, times);
    }

    /** The place of the mark with that end, or {@code -place - 1} of where it belongs. */
    private int at(long end) {
        int from = 0;
        int to = marks.size() - 1;
        if (to >= 0 && marks.getLast().end() < end) {
            return -marks.size() - 1;
        }
        while (from <= to) {
            int middle = (from + to) >>> 1;
            long found = marks.get(middle).end();
            if (found == end) {
                return middle;
            }
            if (found < end) {
                from = middle + 1;
            } else {
                to = middle - 1;
            }
        }
        return -from - 1;
    }
}
