package dev.holdfast.runtime;

import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a line of a control file asks for. */
sealed interface ControlFileLine {
    /**
     * A command.
     *
     * @param key the sender's own idempotency key
     */
    record Order(String kind, Payload payload, Author author, Optional<String> key) implements ControlFileLine {
        /** Whether it waits for its place in the queue; all else is urgent. */
        boolean ordinary() {
            return payload.kind().counted();
        }
    }

    /** No command, and why not. */
    record Nonsense(String why) implements ControlFileLine {}

    /** Nothing but white space. */
    record Blank() implements ControlFileLine {}

    /** Members of each kind; any other is refused, for a misspelt one would change what is meant. */
    Map<String, Set<String>> MEMBERS = Map.of(
            "message", Set.of("kind", "text", "author", "key", "policy"),
            "stop", Set.of("kind", "author", "key"),
            "cancel", Set.of("kind", "turn", "message", "author", "key"),
            "answer", Set.of("kind", "question", "text", "author", "key"));

    JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(16)
                            .maxStringLength(16 << 20)
                            .maxNumberLength(32)
                            .build())
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /**
     * Reads a line.
     *
     * @param content its bytes, without the newline
     * @param author the author's name when the line gives none
     */
    static ControlFileLine of(byte[] content, String author) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(content))
                    .toString();
            return text.isBlank() ? new Blank() : order(JSON.readTree(text), author);
        } catch (CharacterCodingException e) {
            return new Nonsense("the line is not UTF-8: write it as UTF-8");
        } catch (JacksonException e) {
            return new Nonsense("the line is no JSON object (" + printable(e.getOriginalMessage())
                    + "): write one object in one line");
        } catch (IllegalArgumentException e) {
            return new Nonsense(printable(String.valueOf(e.getMessage())));
        }
    }

    private static Order order(JsonNode line, String author) {
        if (!line.isObject()) {
            throw new IllegalArgumentException("the line is no JSON object: write one object in one line");
        }
        String kind = text(line, "kind").orElse("");
        var members = MEMBERS.get(kind);
        if (members == null) {
            throw new IllegalArgumentException("the kind '" + kind + "' is unknown: use one of "
                    + String.join(", ", new TreeSet<>(MEMBERS.keySet())));
        }
        for (String name : line.propertyNames()) {
            if (!members.contains(name)) {
                throw new IllegalArgumentException("a " + kind + " has no member '" + name + "': it may have "
                        + String.join(", ", new TreeSet<>(members)));
            }
        }
        return new Order(
                kind,
                payload(kind, line),
                new Author(text(line, "author").orElse(author), ControlFileOptions.SURFACE),
                key(line));
    }

    /** A stop is what a stop is for whoever holds the keyboard: what runs now ends, what waits is not lost (P2). */
    private static Payload payload(String kind, JsonNode line) {
        return switch (kind) {
            case "message" -> new Payload.Words(needed(line, "text"), policy(line));
            case "answer" -> new Payload.Answer(needed(line, "question"), needed(line, "text"));
            case "cancel" -> new Payload.Cancel(number(line, "turn"), number(line, "message"));
            default -> Payload.Cancel.any();
        };
    }

    private static Optional<String> key(JsonNode line) {
        var key = text(line, "key");
        key.ifPresent(k -> {
            if (k.isEmpty() || k.length() > 256) {
                throw new IllegalArgumentException("a key has 1 to 256 characters; this one has " + k.length());
            }
        });
        return key;
    }

    private static DeliveryPolicy policy(JsonNode line) {
        var name = text(line, "policy").orElse(DeliveryPolicy.NEXT.name());
        for (DeliveryPolicy policy : DeliveryPolicy.values()) {
            if (policy.name().equals(name.toUpperCase(Locale.ROOT).replace('-', '_'))) {
                return policy;
            }
        }
        throw new IllegalArgumentException(
                "the policy '" + name + "' is unknown: use one of next, steer, after_idle, replace, refuse_if_busy");
    }

    private static String needed(JsonNode line, String name) {
        return text(line, name)
                .orElseThrow(() -> new IllegalArgumentException("the member '" + name + "' is missing: add it"));
    }

    private static Optional<String> text(JsonNode line, String name) {
        var value = line.get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (!value.isString()) {
            throw new IllegalArgumentException("the member '" + name + "' must be a string");
        }
        var text = value.stringValue();
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("the member '" + name + "' holds half a surrogate pair");
        }
        return Optional.of(text);
    }

    private static OptionalLong number(JsonNode line, String name) {
        var value = line.get(name);
        if (value == null) {
            return OptionalLong.empty();
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new IllegalArgumentException("the member '" + name + "' must be a whole number from 1");
        }
        return OptionalLong.of(value.longValue());
    }

    /** In one line, without control characters, and not long. */
    static String printable(String text) {
        var out = new StringBuilder();
        text.codePoints().limit(300).forEach(c -> out.appendCodePoint(shows(c) ? c : ' '));
        return text.codePointCount(0, text.length()) > 300 ? out + "…" : out.toString();
    }

    private static boolean shows(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }
}
