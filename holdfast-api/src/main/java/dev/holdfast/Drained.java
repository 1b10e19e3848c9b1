package dev.holdfast;

import java.util.OptionalLong;

/**
 * The end of a drain (MB-09). The session is paused, and keeps accepting.
 *
 * @param inFlight the turn that was still open at the deadline and goes on after a resume; absent when all had ended
 * @param queued messages that wait for the successor
 */
public record Drained(OptionalLong inFlight, long queued) {}
