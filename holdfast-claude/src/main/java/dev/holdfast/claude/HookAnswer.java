package dev.holdfast.claude;

import java.util.Objects;
import java.util.Optional;

/** What a hook says. An answer that its event does not know counts as a failure of the hook. Immutable. */
public sealed interface HookAnswer {
    /** Nothing: as if there were no hook. */
    record GoOn() implements HookAnswer {}

    /**
     * Goes on, and the model reads this besides. For PreToolUse (older agents leave it out), PostToolUse,
     * PostToolUseFailure, UserPromptSubmit, SessionStart and SubagentStart.
     */
    record AddContext(String context) implements HookAnswer {
        public AddContext {
            Objects.requireNonNull(context, "context");
        }
    }

    /**
     * The tool runs without anybody being asked. For PreToolUse.
     *
     * @param input what it runs with instead, a JSON object; absent: as the model wrote it
     */
    record Allow(Optional<String> input) implements HookAnswer {
        public Allow {
            Objects.requireNonNull(input, "input");
        }
    }

    /** The tool does not run, and the model reads why. For PreToolUse. */
    record Deny(String reason) implements HookAnswer {
        public Deny {
            requireReason(reason);
        }
    }

    /** The session's {@link PermissionAsk} decides; where there is none, the tool does not run. For PreToolUse. */
    record Ask(String reason) implements HookAnswer {
        public Ask {
            requireReason(reason);
        }
    }

    /**
     * Stands in the way, and says why. UserPromptSubmit: the message does not reach the model, and
     * its turn ends as failed. PostToolUse: the model reads it beside the result. Stop and SubagentStop: the agent goes on working on it.
     */
    record Block(String reason) implements HookAnswer {
        public Block {
            requireReason(reason);
        }
    }

    /**
     * Ends the turn, for every event but UserPromptSubmit and Notification. PreToolUse: the tool does not run; an
     * older agent (2.1.197) then lets the model go on.
     */
    record Halt(String reason) implements HookAnswer {
        public Halt {
            requireReason(reason);
        }
    }

    static HookAnswer goOn() {
        return new GoOn();
    }

    static HookAnswer goOnWith(String context) {
        return new AddContext(context);
    }

    static HookAnswer allow() {
        return new Allow(Optional.empty());
    }

    /** Lets the tool run with another input, a JSON object. */
    static HookAnswer allowWith(String input) {
        return new Allow(Optional.of(input));
    }

    static HookAnswer deny(String reason) {
        return new Deny(reason);
    }

    static HookAnswer ask(String reason) {
        return new Ask(reason);
    }

    static HookAnswer block(String reason) {
        return new Block(reason);
    }

    static HookAnswer halt(String reason) {
        return new Halt(reason);
    }

    private static void requireReason(String reason) {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("the reason is blank; the model reads it, so say why");
        }
    }
}
