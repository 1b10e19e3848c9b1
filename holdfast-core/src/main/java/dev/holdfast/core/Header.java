package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.MessageId;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An arrival as the core sees it: never its words.
 *
 * @param boundTurn the turn open when it was accepted, for urgent kinds
 * @param boundAfter every arrival up to here was named when it was accepted, for urgent kinds
 */
public record Header(
        long number, MessageId id, ArrivalKind kind, long bytes, OptionalLong boundTurn, long boundAfter, Wish wish) {

    /**
     * What its sender asks for besides its kind.
     *
     * @param sender who sent it and with which authority: only equal ones may share a turn (IN-15)
     * @param afterIdle it waits until no other mail does (TN-09)
     * @param turn the turn a cancel names
     * @param message the message number a cancel or a withdrawal names
     * @param epoch the owner a session time-out names
     * @param subject the question an answer names; else empty
     * @param note the reason a CLOSE, a PAUSE, a DRAIN or a FINISH gives; else empty
     * @param deadline of a DRAIN
     */
    public record Wish(
            String sender,
            boolean afterIdle,
            OptionalLong turn,
            OptionalLong message,
            OptionalLong epoch,
            String subject,
            String note,
            Optional<Instant> deadline) {
        /** Nothing but its kind. */
        public static Wish none() {
            return new Wish(
                    "",
                    false,
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    "",
                    "",
                    Optional.empty());
        }
    }

    Taken taken() {
        return new Taken(number, id, bytes, kind);
    }
}
