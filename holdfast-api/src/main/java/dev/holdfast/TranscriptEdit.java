package dev.holdfast;

import java.util.List;

/** How one state of a conversation became another (HN-04). */
public enum TranscriptEdit {
    /** It grew, or stayed as it was. */
    APPEND,
    /** What is left is its beginning: an answer was thrown away, and perhaps more. */
    PREFIX_TRUNCATION,
    /** Anything else: what was remembered of it holds no more. */
    OTHER;

    /** What happened between the two. */
    public static TranscriptEdit between(List<TurnMessage> before, List<TurnMessage> after) {
        int shared = Math.min(before.size(), after.size());
        if (!before.subList(0, shared).equals(after.subList(0, shared))) {
            return OTHER;
        }
        return after.size() < before.size() ? PREFIX_TRUNCATION : APPEND;
    }
}
