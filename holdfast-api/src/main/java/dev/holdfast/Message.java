package dev.holdfast;

import java.util.Optional;

/**
 * A message to a session. Immutable; {@code with}-style methods return changed copies.
 *
 * @param text the words for the agent, at most 8 MiB of UTF-8, delivered unchanged (HS-15)
 * @param key the sender's idempotency key, 1 to 256 characters: the same key to the same session is accepted once, for
 *     ever (IN-12). Without one, a repeated send is a second message.
 * @param author who sends it, and through which surface
 * @param policy when it is to reach the agent
 */
public record Message(String text, Optional<String> key, Author author, DeliveryPolicy policy) {
    public static final int TEXT_BYTES_MAX = 8 * 1024 * 1024;

    public Message {
        new Payload.Words(text, policy); // checks the text
        key.ifPresent(k -> {
            if (k.isEmpty() || k.length() > 256) {
                throw new IllegalArgumentException(
                        "an idempotency key has 1 to 256 characters; this one has " + k.length());
            }
        });
    }

    public static Message of(String text) {
        return new Message(text, Optional.empty(), Author.host(), DeliveryPolicy.NEXT);
    }

    public Message key(String key) {
        return new Message(text, Optional.of(key), author, policy);
    }

    public Message author(Author author) {
        return new Message(text, key, author, policy);
    }

    public Message policy(DeliveryPolicy policy) {
        return new Message(text, key, author, policy);
    }
}
