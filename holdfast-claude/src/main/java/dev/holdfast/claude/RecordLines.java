package dev.holdfast.claude;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The lines of a record, split at {@code \n} only. A line over the limit comes out empty, so that a damaged file cannot
 * fill the heap; an empty line is no entry. Can be walked once.
 */
final class RecordLines implements Iterable<String> {
    /** In characters. The agent's own lines hold at most one message or one tool result. */
    static final int LINE_MAX = 256 << 20;

    private final Reader reader;
    private final int limit;

    RecordLines(Reader reader) {
        this(reader, LINE_MAX);
    }

    RecordLines(Reader reader, int limit) {
        this.reader = reader;
        this.limit = limit;
    }

    @Override
    public Iterator<String> iterator() {
        return new Iterator<>() {
            private final char[] buffer = new char[1 << 14];
            private int at;
            private int filled;

            @Override
            public boolean hasNext() {
                return at < filled || fill();
            }

            @Override
            public String next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("the record has no further line");
                }
                var line = new StringBuilder();
                boolean over = false;
                while (at < filled || fill()) {
                    int end = at;
                    while (end < filled && buffer[end] != '\n') {
                        end++;
                    }
                    over |= line.length() + (end - at) > limit;
                    if (!over) {
                        line.append(buffer, at, end - at);
                    }
                    at = end;
                    if (at < filled) {
                        at++;
                        break;
                    }
                }
                return over ? "" : line.toString();
            }

            private boolean fill() {
                try {
                    at = 0;
                    filled = Math.max(0, reader.read(buffer));
                    return filled > 0;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }
}
