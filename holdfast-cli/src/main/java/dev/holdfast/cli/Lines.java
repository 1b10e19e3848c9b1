package dev.holdfast.cli;

import dev.holdfast.Message;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Where a chat takes its messages from. */
@FunctionalInterface
interface Lines {
    /** The next message; absent when there are no more. Blocks. */
    Optional<String> next();

    /** The lines of a pipe, none longer than a message may be. */
    static Lines piped(InputStream in) {
        Reader reader = new InputStreamReader(in, StandardCharsets.UTF_8);
        return () -> {
            var line = new StringBuilder();
            try {
                int c = reader.read();
                if (c < 0) {
                    return Optional.empty();
                }
                for (; c >= 0 && c != '\n'; c = reader.read()) {
                    if (line.length() == Message.TEXT_BYTES_MAX) {
                        throw new CommandFailed(
                                Exit.USAGE, "usage", "a line of the input is longer than a message may be (8 MiB)");
                    }
                    line.append((char) c);
                }
            } catch (IOException e) {
                throw new CommandFailed(Exit.USAGE, "usage", "the input cannot be read: " + e.getMessage());
            }
            return Optional.of(line.toString());
        };
    }
}
