package dev.holdfast.claude;

import java.util.Optional;

/** A point in the agent's work at which it asks its host's hooks. */
public enum HookEvent {
    /** Before a tool runs, the agent's own or the host's. The one place where a tool can be kept from running. */
    PRE_TOOL_USE("PreToolUse"),
    /** A tool has run, and its result is about to be shown to the model. */
    POST_TOOL_USE("PostToolUse"),
    /** A tool has failed; then no {@link #POST_TOOL_USE} is told of it. */
    POST_TOOL_USE_FAILURE("PostToolUseFailure"),
    /**
     * A message is about to reach the model: one of ours, or the agent's own news of work in the background, whose prompt
     * begins with {@code <task-notification>}.
     */
    USER_PROMPT_SUBMIT("UserPromptSubmit"),
    /** The agent's own session begins or is taken up. Versions 2.1.197 and 2.1.332 tell it before hooks can be named. */
    SESSION_START("SessionStart"),
    /** The agent is about to end its turn. */
    STOP("Stop"),
    /** A sub-agent begins. */
    SUBAGENT_START("SubagentStart"),
    /** A sub-agent is about to end; of one that works in the background, later than the turn that began it. */
    SUBAGENT_STOP("SubagentStop"),
    /** The conversation is about to be replaced by a summary. */
    PRE_COMPACT("PreCompact"),
    /** The agent would tell a person something. */
    NOTIFICATION("Notification");

    private final String wireName;

    HookEvent(String wireName) {
        this.wireName = wireName;
    }

    /** The agent's name for it, such as {@code PreToolUse}. */
    public String wireName() {
        return wireName;
    }

    static Optional<HookEvent> named(String wireName) {
        for (HookEvent each : values()) {
            if (each.wireName.equals(wireName)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** Whether a hook here can keep something from happening at all. */
    boolean canGuard() {
        return this == PRE_TOOL_USE || this == USER_PROMPT_SUBMIT;
    }

    boolean takesContext() {
        return switch (this) {
            case PRE_TOOL_USE,
                    POST_TOOL_USE,
                    POST_TOOL_USE_FAILURE,
                    USER_PROMPT_SUBMIT,
                    SESSION_START,
                    SUBAGENT_START -> true;
            case STOP, SUBAGENT_STOP, PRE_COMPACT, NOTIFICATION -> false;
        };
    }

    boolean canHalt() {
        return this != USER_PROMPT_SUBMIT && this != NOTIFICATION;
    }

    boolean canBlock() {
        return switch (this) {
            case POST_TOOL_USE, USER_PROMPT_SUBMIT, STOP, SUBAGENT_STOP -> true;
            default -> false;
        };
    }
}
