package dev.holdfast;

import java.util.List;

/**
 * One line for the agent: the senders' words, unchanged, then the host's own block, which is always last and not empty
 * (HS-15).
 *
 * @param texts the words, one block each; empty for a continuation
 * @param hostNote the host's block: who said it, where and when, or what a continuation is about
 * @param steer true when it is meant for the running turn
 */
public record Line(DeliveryId id, List<String> texts, String hostNote, boolean steer) {
    public Line {
        texts = List.copyOf(texts);
        if (hostNote.isEmpty()) {
            throw new IllegalArgumentException("a line ends with the host's own block; it must not be empty");
        }
    }
}
