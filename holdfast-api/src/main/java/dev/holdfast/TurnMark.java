package dev.holdfast;

import java.util.List;

/**
 * Evidence of a turn in the agent's record (TN-16): the turn is remembered when all ids are there.
 *
 * @param turn the turn's number; a catch-up through turn {@code n} is a mark of {@code n} as well
 * @param asked ids of the lines that were told, in order
 * @param answered id of the last assistant entry; empty when the turn had none
 */
public record TurnMark(long turn, List<String> asked, String answered) {
    public TurnMark {
        asked = List.copyOf(asked);
    }
}
