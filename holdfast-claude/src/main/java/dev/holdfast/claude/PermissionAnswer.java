package dev.holdfast.claude;

import java.util.Objects;
import java.util.Optional;

/** The answer to a {@link PermissionQuestion}. Immutable. */
public sealed interface PermissionAnswer {
    /** @param input what the tool is used with instead, a JSON object; absent: as asked */
    record Allow(Optional<String> input) implements PermissionAnswer {
        public Allow {
            Objects.requireNonNull(input, "input");
        }
    }

    /**
     * @param reason the model reads it
     * @param endsTurn the agent stops working on the turn
     */
    record Deny(String reason, boolean endsTurn) implements PermissionAnswer {
        public Deny {
            if (reason.isBlank()) {
                throw new IllegalArgumentException("the reason is blank; the model reads it, so say why");
            }
        }
    }

    static PermissionAnswer allow() {
        return new Allow(Optional.empty());
    }

    /** Allows it with another input, a JSON object. */
    static PermissionAnswer allowWith(String input) {
        return new Allow(Optional.of(input));
    }

    static PermissionAnswer deny(String reason) {
        return new Deny(reason, false);
    }

    static PermissionAnswer denyAndEndTurn(String reason) {
        return new Deny(reason, true);
    }
}
