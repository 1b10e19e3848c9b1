package dev.holdfast;

import java.util.OptionalDouble;

/**
 * How far a running call has come, as its tool said (TL-10). Live only: it is nowhere on disk.
 *
 * @param done in the tool's own unit; finite
 * @param total what {@code done} is going to be, when the tool knows
 * @param note for people, at most 500 characters; may be empty
 */
public record ToolProgress(String callId, String tool, double done, OptionalDouble total, String note) {
    private static final int NOTE_MAX = 500;

    public ToolProgress {
        if (note.length() > NOTE_MAX) {
            note = note.substring(0, NOTE_MAX - 1) + "…";
        }
    }
}
