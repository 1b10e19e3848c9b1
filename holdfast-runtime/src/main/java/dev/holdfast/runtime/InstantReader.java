package dev.holdfast.runtime;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/**
 * Reads instants in the one shape in which events have them, {@code 2026-11-30T19:18:01.48Z}; the general parser of the
 * JDK takes as long for them as everything else in an event together, and a recovery reads two of them for each turn.
 * Thread-safe.
 */
final class InstantReader extends StdDeserializer<Instant> {
    private static final int SECONDS_END = "2026-11-30T19:18:01".length();
    private static final int NANOS_MAX = 9;

    InstantReader() {
        super(Instant.class);
    }

    @Override
    public Instant deserialize(JsonParser parser, DeserializationContext context) {
        String text = parser.getString();
        try {
            return parse(text);
        } catch (DateTimeException notOne) {
            return (Instant) context.handleWeirdStringValue(Instant.class, text, "no instant in UTC");
        }
    }

    /**
     * The same instant as {@link Instant#parse}, which is asked for whatever has another shape or is none.
     *
     * @throws DateTimeException for text that is no instant
     */
    static Instant parse(String text) {
        if (!shaped(text)) {
            return Instant.parse(text);
        }
        try {
            int end = text.length() - 1;
            int nanos = end == SECONDS_END ? 0 : number(text, SECONDS_END + 1, end);
            for (int digits = end - SECONDS_END - 1; digits < NANOS_MAX; digits++) {
                nanos *= 10;
            }
            var day = LocalDate.of(number(text, 0, 4), number(text, 5, 7), number(text, 8, 10));
            var time = LocalTime.of(number(text, 11, 13), number(text, 14, 16), number(text, 17, SECONDS_END), nanos);
            return day.atTime(time).toInstant(ZoneOffset.UTC);
        } catch (DateTimeException unusual) {
            return Instant.parse(text);
        }
    }

    private static boolean shaped(String text) {
        int end = text.length() - 1;
        return end >= SECONDS_END
                && end <= SECONDS_END + 1 + NANOS_MAX
                && text.charAt(4) == '-'
                && text.charAt(7) == '-'
                && text.charAt(10) == 'T'
                && text.charAt(13) == ':'
                && text.charAt(16) == ':'
                && text.charAt(end) == 'Z'
                && (end == SECONDS_END || text.charAt(SECONDS_END) == '.');
    }

    private static int number(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw new DateTimeParseException("'" + text + "' is no instant", text, i);
            }
            value = value * 10 + digit;
        }
        return value;
    }
}
