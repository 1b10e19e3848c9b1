package dev.holdfast.core;

import java.time.Instant;
import java.util.Optional;

/**
 * A question nobody has answered yet.
 *
 * @param deadline when nobody need answer any more; absolute (IN-17)
 * @param after the last arrival read when it was asked: none up to there answers it (IN-14)
 * @param call the call of a tool that waits for the answer
 */
public record Question(String id, Instant deadline, long after, String text, Optional<AskedCall> call) {}
