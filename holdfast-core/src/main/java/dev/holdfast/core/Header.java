package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.MessageId;
import java.util.OptionalLong;

/**
 * An arrival as the core sees it: never its words.
 *
 * @param boundTurn the turn open when it was accepted, for urgent kinds
 * @param boundAfter every arrival up to here was named when it was accepted, for urgent kinds
 * @param targetTurn the turn a cancel names
 * @param targetMessage the message number a cancel names
 * @param note the reason a CLOSE gives; else empty
 */
public record Header(
        long number,
        MessageId id,
        ArrivalKind kind,
        long bytes,
        OptionalLong boundTurn,
        long boundAfter,
        OptionalLong targetTurn,
        OptionalLong targetMessage,
        String note) {
    Taken taken() {
        return new Taken(number, id, bytes);
    }
}
