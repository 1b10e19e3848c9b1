package dev.holdfast;

import java.util.Optional;
import java.util.function.Predicate;

/**
 * How a session treats its mail. Immutable; {@code with}-style methods return changed copies.
 *
 * @param stay what happens to the agent's process when nothing is left to do (CH-05)
 * @param combine whether waiting messages of one sender with one authority may share a turn (IN-15)
 * @param boundary when present: looks at the text of the next message before it is taken; true ends the process first, and
 *     the message is the first of the next one. Not asked about a process's first message. It must be quick and pure; one
 *     that throws rejects nothing (MB-10)
 */
public record SessionPolicy(Stay stay, boolean combine, Optional<Predicate<String>> boundary) {
    /** How many messages one turn may carry (IN-15). */
    public static final int COMBINED_MAX = 32;

    /** The life of the process between turns. */
    public enum Stay {
        /** It ends after {@link Limits#idle} with nothing to do; a later message goes on by resume. */
        END_WHEN_IDLE,
        /** It stays, unless its place is needed by another session (HS-04). */
        STAY_OPEN
    }

    public static SessionPolicy standard() {
        return new SessionPolicy(Stay.END_WHEN_IDLE, false, Optional.empty());
    }

    public SessionPolicy stay(Stay stay) {
        return new SessionPolicy(stay, combine, boundary);
    }

    public SessionPolicy combine(boolean combine) {
        return new SessionPolicy(stay, combine, boundary);
    }

    public SessionPolicy boundary(Predicate<String> rejects) {
        return new SessionPolicy(stay, combine, Optional.of(rejects));
    }
}
