package dev.holdfast;

import java.time.Instant;
import java.util.Optional;

/**
 * A question of a session that waits for its answer.
 *
 * @param id what an answer names
 * @param deadline when it is given up
 * @param tool the tool whose call waits for it; absent when it is about no call
 */
public record OpenQuestion(String id, String text, Instant deadline, Optional<String> tool) {}
