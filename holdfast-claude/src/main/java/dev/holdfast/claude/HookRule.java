package dev.holdfast.claude;

import java.time.Duration;
import java.util.Objects;

/**
 * When a hook is asked, and what its failure means. Immutable; every method that takes a value returns a changed copy. A
 * part of the binding (HS-03).
 *
 * @param matcher names of tools as the agent writes them, a regular expression such as {@code Bash|mcp__host__.*}; empty
 *     for all, and for events without a tool
 * @param deadline how long the hook may take; then its thread is interrupted and its answer no longer wanted
 * @param guards what happens when the hook throws, answers null or something its event does not know, is late, or its
 *     session is closing: a guard then denies, one that only observes is passed over (HS-18)
 */
public record HookRule(HookEvent event, String matcher, Duration deadline, boolean guards) {
    private static final Duration LONGEST = Duration.ofHours(24);

    /** @throws IllegalArgumentException for a deadline outside of 1 ms to 24 h, and a guard where nothing can be kept back */
    public HookRule {
        Objects.requireNonNull(event, "event");
        Objects.requireNonNull(matcher, "matcher");
        if (deadline.compareTo(Duration.ofMillis(1)) < 0 || deadline.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("the deadline of a hook is " + deadline + "; use 1 ms to " + LONGEST);
        }
        if (guards && !event.canGuard()) {
            throw new IllegalArgumentException("a hook on " + event.wireName()
                    + " cannot guard: what it is told of has happened. Let it observe, or guard PreToolUse");
        }
    }

    /** On everything of this kind, within 60 s; a guard on {@link HookEvent#PRE_TOOL_USE}, an observer elsewhere. */
    public static HookRule on(HookEvent event) {
        return new HookRule(event, "", Duration.ofSeconds(60), event == HookEvent.PRE_TOOL_USE);
    }

    public HookRule matcher(String matcher) {
        return new HookRule(event, matcher, deadline, guards);
    }

    public HookRule deadline(Duration deadline) {
        return new HookRule(event, matcher, deadline, guards);
    }

    /** Its failure denies; for PreToolUse and UserPromptSubmit only. */
    public HookRule guarding() {
        return new HookRule(event, matcher, deadline, true);
    }

    /** Its failure harms nothing. */
    public HookRule observing() {
        return new HookRule(event, matcher, deadline, false);
    }
}
