package dev.holdfast;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** What can be sent to a session (IN-02). A payload that breaks its bounds cannot be made (IN-03). */
public sealed interface Payload {
    /** The shape of the ids of attempts, calls and questions. */
    Pattern ID = Pattern.compile("[\\p{L}\\p{N}._@/:+=-]{1,256}");

    ArrivalKind kind();

    /** Words. */
    record Words(String text, DeliveryPolicy policy) implements Payload {
        public Words {
            Payload.checkText("a message", text);
        }

        @Override
        public ArrivalKind kind() {
            return switch (policy) {
                case STEER -> ArrivalKind.STEER;
                case REPLACE -> ArrivalKind.REPLACE;
                case NEXT, AFTER_IDLE, REFUSE_IF_BUSY -> ArrivalKind.MESSAGE;
            };
        }
    }

    /** Ends a turn, or takes a waiting message out; with neither named, what stands when it is accepted (IN-06). */
    record Cancel(OptionalLong turn, OptionalLong message) implements Payload {
        public Cancel {
            if (turn.isPresent() && message.isPresent()) {
                throw new IllegalArgumentException("a cancel names a turn or a message, not both; got turn "
                        + turn.getAsLong() + " and message " + message.getAsLong());
            }
            Payload.checkNumber("turn", turn);
            Payload.checkNumber("message", message);
        }

        public static Cancel any() {
            return new Cancel(OptionalLong.empty(), OptionalLong.empty());
        }

        public static Cancel turn(long number) {
            return new Cancel(OptionalLong.of(number), OptionalLong.empty());
        }

        public static Cancel message(long number) {
            return new Cancel(OptionalLong.empty(), OptionalLong.of(number));
        }

        @Override
        public ArrivalKind kind() {
            return ArrivalKind.CANCEL;
        }
    }

    /** Interrupts, then in its place drops the agent's memory; the transcript is kept and marked (IN-20). */
    record Reset() implements Payload {
        @Override
        public ArrivalKind kind() {
            return ArrivalKind.RESET;
        }
    }

    /** As {@link Reset}, without interrupting. */
    record Clear() implements Payload {
        @Override
        public ArrivalKind kind() {
            return ArrivalKind.CLEAR;
        }
    }

    /** In its place throws away turn {@code from} and all after it, and the agent's memory with them (HN-04). */
    record Cut(long from) implements Payload {
        public Cut {
            Payload.checkNumber("turn", OptionalLong.of(from));
        }

        @Override
        public ArrivalKind kind() {
            return ArrivalKind.CUT;
        }
    }

    /** In its place asks for a compaction (LV-04). */
    record Compact() implements Payload {
        @Override
        public ArrivalKind kind() {
            return ArrivalKind.COMPACT;
        }
    }

    /** Nothing happened for too long, says the owner of this epoch (IN-17). */
    record SessionTimeout(long ownerEpoch) implements Payload {
        @Override
        public ArrivalKind kind() {
            return ArrivalKind.SESSION_TIMEOUT;
        }
    }

    /** What an authorization callback brought (IN-20). */
    record Authorization(String attempt, String content) implements Payload {
        public Authorization {
            Payload.checkId("attempt", attempt);
            Payload.checkText("an authorization callback", content);
        }

        @Override
        public ArrivalKind kind() {
            return ArrivalKind.AUTHORIZATION;
        }
    }

    /** What a tool run elsewhere brought (IN-20). */
    record ToolRun(String call, String content) implements Payload {
        public ToolRun {
            Payload.checkId("call", call);
            Payload.checkText("a tool run", content);
        }

        @Override
        public ArrivalKind kind() {
            return ArrivalKind.TOOL_RUN;
        }
    }

    /** The answer to a question (IN-14). */
    record Answer(String question, String text) implements Payload {
        public Answer {
            Payload.checkId("question", question);
            Payload.checkText("an answer", text);
        }

        @Override
        public ArrivalKind kind() {
            return ArrivalKind.ANSWER;
        }
    }

    private static void checkText(String what, String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(what + " without text cannot be sent: give it at least one character");
        }
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > Message.TEXT_BYTES_MAX) {
            throw new IllegalArgumentException(what + " has " + bytes + " bytes; at most " + Message.TEXT_BYTES_MAX
                    + " are accepted: send it as a file and name the file");
        }
    }

    /** Ids are shown to agents in the host's own block, so they cannot forge a heading either. */
    private static void checkId(String what, String id) {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("the " + what + " '" + Printable.shortened(id)
                    + "' is not allowed: use 1 to 256 letters, digits or . _ - @ / : + =");
        }
    }

    private static void checkNumber(String what, OptionalLong number) {
        if (number.isPresent() && number.getAsLong() < 1) {
            throw new IllegalArgumentException(what + " numbers begin at 1; got " + number.getAsLong());
        }
    }
}
