package dev.holdfast;

import java.time.Duration;
import java.util.List;

/**
 * The limits a session runs under.
 *
 * @param turn a whole turn, from its opening or its last new attempt (TN-04, default 10 min)
 * @param interrupt from the wish to cancel until the process is ended (TN-04, default 10 s)
 * @param idle how long a warm process is kept between turns (HS-04, default 5 min)
 * @param restartDelays waits before the restarts after a crash; when they are used up the session is parked (HS-13)
 * @param agentDeaths deaths of the agent in one turn that make its message a dead letter (MB-20, default 3)
 * @param hostDeaths the same for the host, in a row without a landing (MB-20, default 10)
 * @param continuations turns in a row that only go on after a turn limit, with no message between, before the session is
 *     parked (MB-15, default 3)
 * @param unused how long a session may lie without a turn before it is closed (IN-17, default 30 days)
 * @param marks how many turns' marks are kept for the question what the agent remembers (TN-16, default 64)
 * @param recycling when a process is replaced between turns (HS-14)
 */
public record Limits(
        Duration turn,
        Duration interrupt,
        Duration idle,
        List<Duration> restartDelays,
        int agentDeaths,
        int hostDeaths,
        int continuations,
        Duration unused,
        int marks,
        Recycling recycling) {
    /**
     * How worn a process may be before it is ended between turns; the next turn gets another.
     *
     * @param age since its start (default 24 h)
     * @param memoryBytes of the process itself, where the system tells (default 4 GiB)
     * @param turns that it ended (default 500)
     */
    public record Recycling(Duration age, long memoryBytes, int turns) {
        public Recycling {
            if (age.isNegative() || age.isZero() || memoryBytes < 1 || turns < 1) {
                throw new IllegalArgumentException(
                        "the age of a process must be positive, its memory and turns at least 1; got " + age + ", "
                                + memoryBytes + " bytes, " + turns + " turns");
            }
        }

        public static Recycling standard() {
            return new Recycling(Duration.ofHours(24), 4L << 30, 500);
        }
    }

    public Limits {
        restartDelays = List.copyOf(restartDelays);
        if (turn.isNegative() || turn.isZero() || interrupt.isNegative() || interrupt.isZero() || idle.isNegative()) {
            throw new IllegalArgumentException(
                    "turn and interrupt limits must be positive, the idle time not negative");
        }
        if (unused.isNegative() || unused.isZero()) {
            throw new IllegalArgumentException("the time a session may lie unused must be positive; got " + unused);
        }
        if (agentDeaths < 1 || hostDeaths < 1 || continuations < 1 || marks < 1) {
            throw new IllegalArgumentException("agentDeaths, hostDeaths, continuations and marks must be at least 1");
        }
    }

    /** With the standard limits of recycling. */
    public Limits(
            Duration turn,
            Duration interrupt,
            Duration idle,
            List<Duration> restartDelays,
            int agentDeaths,
            int hostDeaths,
            int continuations,
            Duration unused,
            int marks) {
        this(
                turn,
                interrupt,
                idle,
                restartDelays,
                agentDeaths,
                hostDeaths,
                continuations,
                unused,
                marks,
                Recycling.standard());
    }

    public static Limits standard() {
        return new Limits(
                Duration.ofMinutes(10),
                Duration.ofSeconds(10),
                Duration.ofMinutes(5),
                List.of(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(15)),
                3,
                10,
                3,
                Duration.ofDays(30),
                64);
    }

    public Limits withIdle(Duration idle) {
        return new Limits(
                turn, interrupt, idle, restartDelays, agentDeaths, hostDeaths, continuations, unused, marks, recycling);
    }

    public Limits withTurn(Duration turn) {
        return new Limits(
                turn, interrupt, idle, restartDelays, agentDeaths, hostDeaths, continuations, unused, marks, recycling);
    }

    public Limits withRestartDelays(List<Duration> delays) {
        return new Limits(
                turn, interrupt, idle, delays, agentDeaths, hostDeaths, continuations, unused, marks, recycling);
    }

    public Limits withUnused(Duration unused) {
        return new Limits(
                turn, interrupt, idle, restartDelays, agentDeaths, hostDeaths, continuations, unused, marks, recycling);
    }

    /** As in {@link Recycling}. */
    public Limits withRecycling(Duration age, long memoryBytes, int turns) {
        var worn = new Recycling(age, memoryBytes, turns);
        return new Limits(
                turn, interrupt, idle, restartDelays, agentDeaths, hostDeaths, continuations, unused, marks, worn);
    }
}
