package dev.holdfast;

import java.time.Instant;
import java.util.Optional;

/**
 * Something that was said in a turn.
 *
 * @param message its number in the session; 0 for what is no message: an answer, or what a fork took over
 * @param at when it was accepted; an answer has no time of its own
 * @param author who said it; the host's own requests have none
 */
public record TranscriptEntry(
        TurnMessage.Role role, Optional<Author> author, long message, Optional<Instant> at, String text) {
    /** As a {@link TurnHarness} is shown it. */
    public TurnMessage shown(String agent) {
        var name = author.map(Author::name).orElse(role == TurnMessage.Role.AGENT ? agent : "holdfast");
        return new TurnMessage(role, name, text);
    }
}
