package dev.holdfast.process;

import java.util.OptionalInt;

/**
 * How a child ended. The exit code alone decides nothing about its work (HS-13).
 *
 * @param exitCode the exit code; 128 + n when signal n ended it
 * @param stderrTail the end of what it wrote to stderr, at most {@link ChildSpec#stderrTail()} bytes, decoded as UTF-8
 *     (HS-11)
 * @param stderrBytes how many bytes it wrote to stderr in all
 * @param outputComplete whether stdout was read to its end; false when something that outlived the child still held it
 *     open after the drain time. What the child itself had written was normally read even then
 */
public record Ended(int exitCode, String stderrTail, long stderrBytes, boolean outputComplete) {

    private static final int SIGNAL_BASE = 128;
    private static final int LAST_SIGNAL = 64;

    /**
     * The signal that ended the child, as far as the code tells: a program may also exit with 143 by itself after
     * handling TERM.
     */
    public OptionalInt signal() {
        int signal = exitCode - SIGNAL_BASE;
        return signal > 0 && signal <= LAST_SIGNAL ? OptionalInt.of(signal) : OptionalInt.empty();
    }
}
