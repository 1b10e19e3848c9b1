package dev.holdfast.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamConstraintsException;

/**
 * The body of a call: one JSON object whose values are texts and whole numbers. It is read without building anything
 * else, so a body of deep or endless lists costs nothing. An empty body is an object without members.
 */
final class Fields {
    private final Map<String, Object> values;

    private Fields(Map<String, Object> values) {
        this.values = values;
    }

    /**
     * @param known the names that mean something; a member of another name is refused, since its sender believes that it
     *     does something
     */
    static Fields of(byte[] body, String... known) {
        if (body.length == 0) {
            return new Fields(Map.of());
        }
        var names = List.of(known);
        try (JsonParser parser = Json.reader().createParser(body)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw malformed("the body is not a JSON object: " + expected(names));
            }
            var values = new LinkedHashMap<String, Object>();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                if (!names.contains(name)) {
                    throw malformed("the body has a member '" + Shown.shortened(name) + "': " + expected(names));
                }
                value(parser, name).ifPresent(value -> values.put(name, value));
            }
            if (parser.nextToken() != null) {
                throw malformed("the body goes on behind its JSON object: send one object");
            }
            return new Fields(values);
        } catch (StreamConstraintsException e) {
            throw malformed("the body is beyond what is read (" + e.getOriginalMessage() + "): send less");
        } catch (JacksonException e) {
            throw malformed("the body is no JSON in UTF-8 (" + e.getOriginalMessage() + "): send a JSON object");
        }
    }

    private static Optional<Object> value(JsonParser parser, String name) {
        JsonToken token = parser.nextToken();
        return switch (token) {
            case VALUE_STRING -> Optional.of(parser.getString());
            case VALUE_NUMBER_INT -> {
                if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                    throw malformed("'" + name + "' is a number beyond 64 bits");
                }
                yield Optional.of(parser.getLongValue());
            }
            case VALUE_NULL -> Optional.empty();
            default -> throw malformed("'" + name + "' is neither a text nor a whole number");
        };
    }

    private static String expected(List<String> names) {
        return names.isEmpty() ? "this call takes none" : "this call takes " + String.join(", ", new TreeSet<>(names));
    }

    private static CallRefused malformed(String detail) {
        return new Problem(400, "malformed", detail).refused();
    }

    Optional<String> text(String name) {
        var value = values.get(name);
        if (value instanceof Long) {
            throw malformed("'" + name + "' is a number: send a text");
        }
        return Optional.ofNullable((String) value);
    }

    String requiredText(String name) {
        return text(name).orElseThrow(() -> malformed("the body has no '" + name + "': send it as a text"));
    }

    OptionalLong number(String name) {
        var value = values.get(name);
        if (value instanceof String) {
            throw malformed("'" + name + "' is a text: send a whole number");
        }
        return value == null ? OptionalLong.empty() : OptionalLong.of((Long) value);
    }

    long requiredNumber(String name) {
        return number(name).orElseThrow(() -> malformed("the body has no '" + name + "': send it as a whole number"));
    }
}
