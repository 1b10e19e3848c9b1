package dev.holdfast;

import java.time.Instant;
import java.util.OptionalLong;

/**
 * One committed event of a session, as anyone may read it. Sequence numbers start at 1 and have no gaps (LV-08).
 *
 * @param body a JSON object in UTF-8 text; its shape is fixed by {@code type} and {@code version}
 */
public record SessionEvent(long seq, Instant at, String type, int version, OptionalLong turn, String body) {}
