package dev.holdfast.core;

import java.util.Map;

/**
 * How the owner was told to treat the session's mail.
 *
 * @param stayOpen the process is not ended for having nothing to do (CH-05)
 * @param combine messages of one sender may share a turn (IN-15)
 * @param boundary the runner is asked about a message before it is taken (MB-10)
 * @param taker who takes the mail
 * @param binding of the agent, as it is recorded (HS-03); empty when nothing is known of it
 */
public record Settings(boolean stayOpen, boolean combine, boolean boundary, Taker taker, Map<String, String> binding) {
    public Settings {
        binding = Map.copyOf(binding);
    }

    /** Of an agent of which nothing is known. */
    public Settings(boolean stayOpen, boolean combine, boolean boundary, Taker taker) {
        this(stayOpen, combine, boundary, taker, Map.of());
    }

    /** Who takes the mail (CH-09). */
    public enum Taker {
        /** An agent: turns are opened for it. */
        AGENT,
        /** A reading surface. */
        READER,
        /** Nobody now: mail waits, the rest is acted on. */
        NOBODY
    }

    public static Settings standard() {
        return new Settings(false, false, false, Taker.AGENT);
    }

    /** @param taker of the mail; all else as is standard */
    public static Settings of(Taker taker) {
        return new Settings(false, false, false, taker);
    }

    boolean agent() {
        return taker == Taker.AGENT;
    }

    boolean reader() {
        return taker == Taker.READER;
    }
}
