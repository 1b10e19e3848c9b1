package dev.holdfast.model;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The data of server-sent events, one by one. A line longer than 8 MiB breaks the stream. Used by one thread. */
final class EventStream {
    private static final int LINE_MAX = 8 << 20;

    private final InputStream in;
    private final byte[] buffer = new byte[8_192];
    private int at;
    private int end;

    EventStream(InputStream in) {
        this.in = in;
    }

    /** The data of the next event; absent at the end of the stream. */
    Optional<String> next() throws IOException {
        var data = new StringBuilder();
        while (true) {
            var line = line();
            if (line.isEmpty()) {
                return Optional.empty(); // an event that was not finished is none
            }
            var text = line.get();
            if (text.isEmpty() && !data.isEmpty()) {
                return Optional.of(data.toString());
            }
            if (text.startsWith("data:")) {
                data.append(data.isEmpty() ? "" : "\n")
                        .append(text.substring("data:".length()).strip());
            }
        }
    }

    private Optional<String> line() throws IOException {
        var line = new ByteArrayOutputStream();
        while (true) {
            if (at == end) {
                end = in.read(buffer);
                at = 0;
                if (end <= 0) {
                    end = 0;
                    return Optional.empty();
                }
            }
            byte next = buffer[at++];
            if (next == '\n') {
                var text = line.toString(StandardCharsets.UTF_8);
                return Optional.of(text.endsWith("\r") ? text.substring(0, text.length() - 1) : text);
            }
            line.write(next);
            if (line.size() > LINE_MAX) {
                throw new IOException("the API sent a line of more than " + LINE_MAX + " bytes");
            }
        }
    }
}
