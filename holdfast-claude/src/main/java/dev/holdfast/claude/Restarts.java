package dev.holdfast.claude;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * When a session may start a process again (HS-13): after 1, 5 and 15 s, then not before a person has acted; at once again
 * after a settled turn. Belongs to its session; time is handed in.
 */
final class Restarts {
    private static final List<Duration> DELAYS =
            List.of(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(15));

    private int crashes;
    private OptionalLong notBefore = OptionalLong.empty();
    private String parked = "";

    /** The delay before the next start; absent when there is none, and the session is parked. */
    Optional<Duration> crashed(String why, long now) {
        if (crashes == DELAYS.size()) {
            park("it crashed " + (crashes + 1) + " times in a row, last: " + why);
            return Optional.empty();
        }
        Duration delay = DELAYS.get(crashes);
        crashes++;
        notBefore = OptionalLong.of(now + delay.toNanos());
        return Optional.of(delay);
    }

    int crashes() {
        return crashes;
    }

    void park(String reason) {
        parked = reason;
    }

    /** Why no start is tried; empty while starts are. */
    String parked() {
        return parked;
    }

    OptionalLong notBefore() {
        return notBefore;
    }

    /** A turn has settled, or a person has acted. */
    void reset() {
        crashes = 0;
        notBefore = OptionalLong.empty();
        parked = "";
    }

    boolean untroubled() {
        return crashes == 0 && parked.isEmpty();
    }
}
