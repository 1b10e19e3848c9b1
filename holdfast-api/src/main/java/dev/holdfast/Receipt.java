package dev.holdfast;

import java.time.Instant;
import java.util.OptionalLong;

/** What a sender is told, always after the message's fate is on disk (P1). */
public sealed interface Receipt {
    /** A receipt of something that is stored. */
    sealed interface Stored extends Receipt {
        MessageId id();

        /** Its place in the session, from 1. */
        long number();

        Instant acceptedAt();
    }

    /** The message is durable and will get exactly one terminal record. */
    record Accepted(MessageId id, long number, Instant acceptedAt) implements Stored {}

    /** The same key was accepted before with the same content; this is the first message's receipt (IN-12). */
    record Duplicate(MessageId id, long number, Instant acceptedAt) implements Stored {}

    /** Nothing was stored. The message says what was refused, why, and what to do; the same text on every surface. */
    sealed interface Refusal extends Receipt {
        /** One word for programs, in lower case with underscores. */
        String problem();

        String message();
    }

    /** The same key was accepted before with another content (IN-12). */
    record KeyConflict(long number) implements Refusal {
        @Override
        public String problem() {
            return "key_conflict";
        }

        @Override
        public String message() {
            return "the key was used before with another content (message " + number + "): use a new key";
        }
    }

    /** The limit of unread messages or bytes is reached; the newest is refused (MB-18). */
    record Full(long unread, long limit, String unit) implements Refusal {
        @Override
        public String problem() {
            return "full";
        }

        @Override
        public String message() {
            return unread + " of " + limit + " unread " + unit + " lie in it: send again when some are done";
        }
    }

    /** The session takes no messages any more, or not now, or not this one. */
    record Refused(String reason) implements Refusal {
        @Override
        public String problem() {
            return "refused";
        }

        @Override
        public String message() {
            return reason;
        }
    }

    /** It was to be taken only by an idle session, and this one is not (TN-09). */
    record Busy(OptionalLong openTurn, long unread) implements Refusal {
        @Override
        public String problem() {
            return "busy";
        }

        @Override
        public String message() {
            return "the session is busy (" + (openTurn.isPresent() ? "turn " + openTurn.getAsLong() + " is open, " : "")
                    + unread + " unread): send again when it is idle, or without the policy REFUSE_IF_BUSY";
        }
    }

    /** The address was given up, or used up when it was for one delivery only (IN-10, IN-20). */
    record Released(String address) implements Refusal {
        @Override
        public String problem() {
            return "released";
        }

        @Override
        public String message() {
            return "the address '" + Printable.shortened(address)
                    + "' is claimed by no session: what is meant for it has nobody to read it";
        }
    }

    /** No session of that name was ever opened. */
    record UnknownSession(SessionName name) implements Refusal {
        @Override
        public String problem() {
            return "unknown_session";
        }

        @Override
        public String message() {
            return "there is no session '" + name + "': open it first";
        }
    }
}
