package dev.holdfast;

import java.util.List;

/**
 * A settled turn of a session, as it stands in our transcript. Turns that were thrown away are not in it.
 *
 * @param number the turn's number; numbers of turns that were thrown away are missing
 * @param entries what was said, in order: the messages, then the answer if there is one
 * @param remembered false when it was dropped from the agent's memory by a reset: it is shown and told to nobody
 */
public record TranscriptTurn(long number, Outcome outcome, List<TranscriptEntry> entries, boolean remembered) {
    public TranscriptTurn {
        entries = List.copyOf(entries);
    }
}
