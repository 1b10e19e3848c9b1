package dev.holdfast.runtime;

import dev.holdfast.ToolAnswer;
import java.time.Duration;

/**
 * What a host allows its tools.
 *
 * @param deadline how long a tool may run that names no deadline of its own (TL-06); longer than zero
 * @param answerBytes the most that an answer may have, as {@link ToolAnswer#bytes} counts; a larger one reaches the agent as
 *     an error that says so. At least 1
 */
public record ToolLimits(Duration deadline, long answerBytes) {
    public ToolLimits {
        if (deadline.isNegative() || deadline.isZero()) {
            throw new IllegalArgumentException("a tool's deadline is " + deadline + "; it must be longer than zero");
        }
        if (answerBytes < 1) {
            throw new IllegalArgumentException("answerBytes must be at least 1; got " + answerBytes);
        }
    }

    /** 5 minutes, 16 MiB. */
    public static ToolLimits standard() {
        return new ToolLimits(Duration.ofMinutes(5), ToolAnswer.BYTES_MAX);
    }

    public ToolLimits deadline(Duration deadline) {
        return new ToolLimits(deadline, answerBytes);
    }

    public ToolLimits answerBytes(long answerBytes) {
        return new ToolLimits(deadline, answerBytes);
    }
}
