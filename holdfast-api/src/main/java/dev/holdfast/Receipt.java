package dev.holdfast;

import java.time.Instant;

/** What a sender is told, always after the message's fate is on disk (P1). */
public sealed interface Receipt {
    /** The message is durable and will get exactly one terminal record. */
    record Accepted(MessageId id, long number, Instant acceptedAt) implements Receipt {}

    /** The same key was accepted before with the same content; this is the first message's receipt (IN-12). */
    record Duplicate(MessageId id, long number, Instant acceptedAt) implements Receipt {}

    /** The same key was accepted before with another content. Nothing was stored. */
    record KeyConflict(long number) implements Receipt {}

    /** The limit of unread messages or bytes is reached; the newest is refused (MB-18). Nothing was stored. */
    record Full(long unread, long limit, String unit) implements Receipt {}

    /** The session takes no messages any more, or not now. Nothing was stored. */
    record Refused(String reason) implements Receipt {}

    /** No session of that name was ever opened. Nothing was stored. */
    record UnknownSession(SessionName name) implements Receipt {}
}
