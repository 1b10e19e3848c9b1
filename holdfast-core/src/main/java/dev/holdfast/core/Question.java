package dev.holdfast.core;

import java.time.Instant;

/**
 * A question nobody has answered yet.
 *
 * @param deadline when nobody need answer any more; absolute (IN-17)
 * @param after the last arrival read when it was asked: none up to there answers it (IN-14)
 */
public record Question(String id, Instant deadline, long after) {}
