package dev.holdfast;

import java.util.regex.Pattern;

/**
 * Who sent a message and through which surface (CH-06). Both are shown to the agent in the host's own block, so both
 * are limited to 1 to 64 characters that cannot forge a heading: letters, digits, space and {@code . _ - @ / : +}.
 *
 * @param authority what the sender was let in as, for example a role or the name of a credential, in the same characters;
 *     messages of different authority never share a turn (IN-15)
 */
public record Author(String name, String surface, String authority) {
    private static final Pattern SHAPE = Pattern.compile("[\\p{L}\\p{N}][\\p{L}\\p{N} ._@/:+-]{0,63}");

    public Author {
        check("author", name);
        check("surface", surface);
        check("authority", authority);
    }

    /** An author of the ordinary authority. */
    public Author(String name, String surface) {
        this(name, surface, "sender");
    }

    /** The caller of the Java API, when it does not say who it is. */
    public static Author host() {
        return new Author("host", "java");
    }

    private static void check(String what, String value) {
        if (!SHAPE.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    what + " '" + Printable.shortened(value) + "' is not allowed: use 1 to 64"
                            + " letters, digits, spaces or . _ - @ / : +, beginning with a letter or a digit");
        }
    }
}
