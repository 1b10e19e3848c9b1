package dev.holdfast;

/**
 * One message of a conversation.
 *
 * @param author who said it: a sender's name, the harness's, or {@code holdfast}
 */
public record TurnMessage(Role role, String author, String text) {
    /** Who speaks. */
    public enum Role {
        /** Somebody who sent a message. */
        SENDER,
        /** The agent. */
        AGENT,
        /** The host itself, which is no sender: what was cut, or what to go on with. */
        HOST
    }
}
