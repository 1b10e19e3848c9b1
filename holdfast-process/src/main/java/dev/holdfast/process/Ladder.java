package dev.holdfast.process;

import java.time.Duration;

/**
 * How patiently a process is ended (HS-07): close stdin, wait, TERM then CONT, wait, KILL, wait to see it dead. TERM
 * always comes before KILL (HS-22).
 *
 * @param closeWait how long the process may take to end by itself after its stdin was closed; zero goes on at once
 * @param termWait how long it may take to end after TERM
 * @param killWait how long to look for its death after KILL before it is reported as surviving
 */
public record Ladder(Duration closeWait, Duration termWait, Duration killWait) {

    private static final Duration LONGEST = Duration.ofHours(1);

    /** @throws IllegalArgumentException if a wait is negative or longer than one hour */
    public Ladder {
        check("closeWait", closeWait);
        check("termWait", termWait);
        check("killWait", killWait);
    }

    private static void check(String name, Duration wait) {
        if (wait.isNegative() || wait.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + " is " + wait + "; give zero to one hour");
        }
    }

    /** The ladder of HS-07: 5 s, 5 s, 5 s. */
    public static Ladder standard() {
        return new Ladder(Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(5));
    }

    /** For a process that is not to finish anything: TERM at once, KILL after 2 s. */
    public static Ladder urgent() {
        return new Ladder(Duration.ZERO, Duration.ofSeconds(2), Duration.ofSeconds(5));
    }
}
