package dev.holdfast.cli;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Moments in the time of the place. */
final class Times {
    private static final DateTimeFormatter OF_DAY =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());
    private static final DateTimeFormatter FULL =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    private Times() {}

    static String ofDay(Instant at) {
        return OF_DAY.format(at);
    }

    static String full(Instant at) {
        return FULL.format(at);
    }
}
