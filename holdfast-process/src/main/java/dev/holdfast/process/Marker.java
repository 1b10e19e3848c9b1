package dev.holdfast.process;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;

/**
 * Whose child a process is: placed in its environment (grandchildren inherit it) and in a file of the run directory
 * before it is started, so that nothing that was started can be unknown (HS-21). Immutable.
 *
 * @param store the identity of the data directory or database, not blank, at most {@value #NAME_LIMIT} characters
 * @param session the session's name, not blank, at most {@value #NAME_LIMIT} characters
 * @param epoch the owner's epoch, not negative
 * @param incarnation which life of the agent inside the epoch, not negative
 */
public record Marker(String store, String session, long epoch, long incarnation) {

    /** The environment variable that carries the marker. */
    public static final String VARIABLE = "HOLDFAST_MARKER";

    /** The longest store or session name, in characters. */
    public static final int NAME_LIMIT = 1024;

    private static final String PLAIN = "-._~";

    /** @throws IllegalArgumentException if a name is blank or too long or a number is negative */
    public Marker {
        requireName("store", store);
        requireName("session", session);
        requireCount("epoch", epoch);
        requireCount("incarnation", incarnation);
    }

    private static void requireName(String what, String name) {
        Objects.requireNonNull(name, what);
        if (name.isBlank() || name.length() > NAME_LIMIT) {
            throw new IllegalArgumentException("marker " + what + " has " + name.length() + " characters; give 1 to "
                    + NAME_LIMIT + " that are not all blank");
        }
    }

    private static void requireCount(String what, long number) {
        if (number < 0) {
            throw new IllegalArgumentException("marker " + what + " is " + number + "; give 0 or more");
        }
    }

    /** One line of ASCII without blanks: {@code store/session/epoch/incarnation}, names percent-encoded. */
    public String encoded() {
        return encode(store) + '/' + encode(session) + '/' + epoch + '/' + incarnation;
    }

    /** The marker that {@link #encoded()} gave, or nothing when the text is not one. */
    public static Optional<Marker> parse(String text) {
        String[] parts = text.split("/", -1);
        if (parts.length != 4) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new Marker(decode(parts[0]), decode(parts[1]), Long.parseLong(parts[2]), Long.parseLong(parts[3])));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Whether both belong to one session of one store, whatever the epoch. */
    public boolean sameSession(Marker other) {
        return store.equals(other.store) && session.equals(other.session);
    }

    /** Whether this is an earlier life of the very session the other names. */
    public boolean isOlderThan(Marker other) {
        return sameSession(other) && (epoch < other.epoch || (epoch == other.epoch && incarnation < other.incarnation));
    }

    private static String encode(String name) {
        StringBuilder out = new StringBuilder(name.length() + 8);
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (isPlain(b)) {
                out.append((char) b);
            } else {
                out.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return out.toString();
    }

    private static boolean isPlain(byte b) {
        return (b >= 'a' && b <= 'z')
                || (b >= 'A' && b <= 'Z')
                || (b >= '0' && b <= '9')
                || (b > 0 && PLAIN.indexOf(b) >= 0);
    }

    private static String decode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '%') {
                bytes.write(c);
                continue;
            }
            if (i + 2 >= text.length()) {
                throw new IllegalArgumentException("cut percent escape in \"" + text + "\"");
            }
            bytes.write(HexFormat.fromHexDigits(text, i + 1, i + 3));
            i += 2;
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
