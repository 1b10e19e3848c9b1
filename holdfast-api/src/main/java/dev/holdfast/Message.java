package dev.holdfast;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A message to a session. Immutable; {@code with}-style methods return changed copies.
 *
 * @param text the words for the agent, at most 8 MiB of UTF-8, delivered unchanged (HS-15)
 * @param key the sender's idempotency key, 1 to 256 characters: the same key to the same session is accepted once, for
 *     ever (IN-12). Without one, a repeated send is a second message.
 * @param author who sends it, and through which surface
 */
public record Message(String text, Optional<String> key, Author author) {
    public static final int TEXT_BYTES_MAX = 8 * 1024 * 1024;

    public Message {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("a message without text cannot be sent: give it at least one character");
        }
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > TEXT_BYTES_MAX) {
            throw new IllegalArgumentException("the message has " + bytes + " bytes; at most " + TEXT_BYTES_MAX
                    + " are accepted: send it as a file and name the file");
        }
        key.ifPresent(k -> {
            if (k.isEmpty() || k.length() > 256) {
                throw new IllegalArgumentException(
                        "an idempotency key has 1 to 256 characters; this one has " + k.length());
            }
        });
    }

    public static Message of(String text) {
        return new Message(text, Optional.empty(), Author.host());
    }

    public Message key(String key) {
        return new Message(text, Optional.of(key), author);
    }

    public Message author(Author author) {
        return new Message(text, key, author);
    }
}
