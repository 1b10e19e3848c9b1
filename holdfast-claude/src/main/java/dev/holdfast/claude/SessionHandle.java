package dev.holdfast.claude;

import dev.holdfast.SessionName;

/**
 * Names a held conversation and nothing else (HS-01): making one starts nothing, it may be stored as its string, outlives
 * every process and every {@link HeldSessions}, and works again whatever became of what it named.
 *
 * @param id 1 to 128 letters, digits, {@code . _ -}, the first a letter or a digit; {@link HeldSessions#handle} makes one
 *     that nobody can guess
 */
public record SessionHandle(String id) {
    /** @throws IllegalArgumentException when the id has another shape */
    public SessionHandle {
        var checked = new SessionName(id);
        id = checked.value();
    }

    @Override
    public String toString() {
        return id;
    }
}
