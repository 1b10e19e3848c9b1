package dev.holdfast;

import java.util.regex.Pattern;

/**
 * The stable name of a session, chosen by its user: 1 to 128 characters, letters, digits, {@code . _ -}, the first a
 * letter or a digit. It never becomes a file name unescaped.
 */
public record SessionName(String value) implements Comparable<SessionName> {
    private static final Pattern SHAPE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

    public SessionName {
        if (!SHAPE.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "session name '" + Printable.shortened(value) + "' is not allowed: use 1 to 128"
                            + " letters, digits, '.', '_' or '-', beginning with a letter or a digit");
        }
    }

    @Override
    public int compareTo(SessionName other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
