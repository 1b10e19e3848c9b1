package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A JSON value, with a reader and a writer that need nothing but the JDK's base module: the scripted agent is a
 * small process and carries no library.
 *
 * <p>Objects keep the order of their members. Objects and arrays are mutable while they are built and belong to one
 * thread; once handed over they are only read. The reader refuses nesting deeper than {@value #MAX_DEPTH}.
 */
sealed interface Json {
    int MAX_DEPTH = 128;

    /** A text that is not JSON; the message says where and why. */
    final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }

    record Str(String value) implements Json {}

    /** A number as it was written; {@code 1} and {@code 1.0} stay different. */
    record Num(String literal) implements Json {}

    record Bool(boolean value) implements Json {}

    enum Nil implements Json {
        NIL
    }

    record Arr(List<Json> items) implements Json {
        Arr() {
            this(new ArrayList<>());
        }

        Arr add(Json item) {
            items.add(item);
            return this;
        }

        Arr add(String item) {
            return add(new Str(item));
        }
    }

    record Obj(Map<String, Json> members) implements Json {
        Obj() {
            this(new LinkedHashMap<>());
        }

        Obj with(String name, Json value) {
            members.put(name, value);
            return this;
        }

        Obj with(String name, String value) {
            return with(name, new Str(value));
        }

        Obj with(String name, long value) {
            return with(name, new Num(Long.toString(value)));
        }

        Obj with(String name, double value) {
            return with(name, new Num(Double.toString(value)));
        }

        Obj with(String name, boolean value) {
            return with(name, new Bool(value));
        }

        boolean has(String name) {
            return members.containsKey(name);
        }
    }

    static Obj object() {
        return new Obj();
    }

    static Arr array() {
        return new Arr();
    }

    static Arr texts(Iterable<String> values) {
        Arr all = new Arr();
        for (String value : values) {
            all.add(value);
        }
        return all;
    }

    /**
     * Reads one value and nothing behind it.
     *
     * @throws Malformed when the text is anything else than one JSON value
     */
    static Json read(String text) {
        return new JsonReader(text).document();
    }

    /** The member of an object, {@link Nil#NIL} when there is none or this is no object. */
    default Json at(String name) {
        if (this instanceof Obj object) {
            Json found = object.members().get(name);
            return found == null ? Nil.NIL : found;
        }
        return Nil.NIL;
    }

    /** The text of a string member, else the given one. */
    default String text(String name, String otherwise) {
        return at(name) instanceof Str string ? string.value() : otherwise;
    }

    /** The text of this value when it is a string, else the empty text. */
    default String asText() {
        return this instanceof Str string ? string.value() : "";
    }

    default boolean isTrue(String name) {
        return at(name) instanceof Bool bool && bool.value();
    }

    default long number(String name, long otherwise) {
        return at(name) instanceof Num number ? (long) Double.parseDouble(number.literal()) : otherwise;
    }

    default double decimal(String name, double otherwise) {
        return at(name) instanceof Num number ? Double.parseDouble(number.literal()) : otherwise;
    }

    /** The items of an array; empty for anything else. */
    default List<Json> list() {
        return this instanceof Arr array ? array.items() : List.of();
    }

    default boolean isNil() {
        return this instanceof Nil;
    }

    /** This value on one line. */
    default String write() {
        StringBuilder out = new StringBuilder(256);
        writeTo(out);
        return out.toString();
    }

    default void writeTo(StringBuilder out) {
        switch (this) {
            case Str string -> quote(out, string.value());
            case Num number -> out.append(number.literal());
            case Bool bool -> out.append(bool.value());
            case Nil nil -> out.append("null");
            case Arr array -> {
                out.append('[');
                boolean first = true;
                for (Json item : array.items()) {
                    if (!first) {
                        out.append(',');
                    }
                    first = false;
                    item.writeTo(out);
                }
                out.append(']');
            }
            case Obj object -> {
                out.append('{');
                boolean first = true;
                for (Map.Entry<String, Json> member : object.members().entrySet()) {
                    if (!first) {
                        out.append(',');
                    }
                    first = false;
                    quote(out, member.getKey());
                    out.append(':');
                    member.getValue().writeTo(out);
                }
                out.append('}');
            }
        }
    }

    private static void quote(StringBuilder out, String value) {
        out.append('"');
        for (int at = 0; at < value.length(); at++) {
            char c = value.charAt(at);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20 || c == 0x2028 || c == 0x2029 || isLoneSurrogate(value, at)) {
                        out.append("\\u");
                        String hex = Integer.toHexString(c);
                        out.append("0000", 0, 4 - hex.length()).append(hex);
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private static boolean isLoneSurrogate(String value, int at) {
        char c = value.charAt(at);
        if (Character.isHighSurrogate(c)) {
            return at + 1 >= value.length() || !Character.isLowSurrogate(value.charAt(at + 1));
        }
        return Character.isLowSurrogate(c) && (at == 0 || !Character.isHighSurrogate(value.charAt(at - 1)));
    }
}
