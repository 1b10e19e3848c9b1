package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CallOutcome;
import dev.holdfast.DeliveryId;
import dev.holdfast.FeedEnd;
import dev.holdfast.Outcome;
import dev.holdfast.TurnMark;
import dev.holdfast.Usage;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What an owner records. The names are the stored types; their shapes are versioned by the event codec. */
public sealed interface Event {
    /** The turn this event belongs to; 0 for none. */
    default long turn() {
        return 0;
    }

    /**
     * The first event.
     *
     * @param seed 32 hexadecimal digits from which delivery ids are derived
     */
    record SessionOpened(String seed, String harness, Instant at) implements Event {}

    /** @param deadline of a drain; or the open turn's new one, when the phase becomes OPEN again with a turn open */
    record PhaseChanged(Phase.Trigger trigger, String reason, Optional<Instant> deadline) implements Event {}

    /**
     * An arrival that carries no words was acted on, or had nothing to act on; {@code what} says which. One that was given
     * back leaves the front.
     */
    record ArrivalDone(long number, ArrivalKind kind, long bytes, String what) implements Event {
        /** {@code what} of a withdrawal that won (MB-21). */
        public static final String WITHDRAWN = "withdrawn";

        /** {@code what} of a drain that has begun. */
        public static final String DRAINING = "draining";

        /** {@code what} of a withdrawal of a message that is not there. */
        public static final String UNKNOWN_MESSAGE = "there is no such message";
    }

    /** From this arrival on nothing new is taken; what waits still runs (MB-07). */
    record FinishAsked(long number, String reason) implements Event {}

    /**
     * A person is asked.
     *
     * @param after the last arrival read when it was asked; only later ones may answer it (IN-14)
     * @param call the call of a tool that waits for the answer
     */
    record QuestionAsked(String id, String text, Instant deadline, long after, Optional<AskedCall> call)
            implements Event {}

    /** The arrival answers the question. */
    record QuestionAnswered(String id, long number) implements Event {}

    /** Nobody answered in time, or it is of no use any more. */
    record QuestionWithdrawn(String id, String why) implements Event {}

    /** The agent's memory was dropped; turns up to {@code through} are not told again (IN-20). */
    record MemoryDropped(long through, String why) implements Event {}

    /** Turns from {@code from} on were thrown away, with the agent's memory: they are told to nobody again (HN-04). */
    record TranscriptCut(long from, String why) implements Event {}

    /** A turn of the session this one is a fork of; its {@code entries} are in arrival {@code number} (HN-14). */
    record TurnCopied(long turn, long number, Outcome outcome, long entries) implements Event {}

    /** Another harness thinks from now on; what the one before remembered is given up (HN-04). */
    record HarnessSwapped(String from, String to) implements Event {}

    /**
     * A turn that reached its limit of steps goes on in one of its own (MB-15).
     *
     * @param after once every message up to this number had its turn
     */
    record ContinuationQueued(long after) implements Event {}

    /**
     * A message got its terminal record without a turn of an agent.
     *
     * @param inHand a reader had taken it, or an agent was told it and had not said yet that it has it
     * @param text what its reader answered; else empty
     */
    record MessageEnded(Taken message, Outcome outcome, boolean inHand, String text, String why) implements Event {}

    /** A reading surface opened a feed; every older one is fenced (MB-03). */
    record FeedOpened(long feed, String surface) implements Event {}

    /** They were given to a reader, in this order; those with words are in flight until they end (MB-02). */
    record MessagesTaken(long feed, List<Taken> messages, Instant at) implements Event {
        public MessagesTaken {
            messages = List.copyOf(messages);
        }
    }

    /** They go back to the front, in the order of acceptance (MB-05). */
    record MessagesReturned(long feed, List<Taken> messages, String why) implements Event {
        public MessagesReturned {
            messages = List.copyOf(messages);
        }
    }

    /** The addresses were given up by arrival {@code number}; its sender holds what was unread (IN-10). */
    record MessagesReleased(long number, List<Taken> messages) implements Event {
        public MessagesReleased {
            messages = List.copyOf(messages);
        }
    }

    /** Their releaser put them back, in front and in the order of acceptance (IN-11). */
    record MessagesRestored(List<Taken> messages) implements Event {
        public MessagesRestored {
            messages = List.copyOf(messages);
        }
    }

    /** The feed takes nothing any more. */
    record FeedEnded(long feed, FeedEnd cause) implements Event {}

    /**
     * A message, or several of one sender, left the queue for a turn; the delivery id is fixed here (TN-12).
     *
     * @param kind of its line
     * @param messages empty unless the line carries some
     * @param written its line was written before, as a steer of the turn that just settled, and may be in the agent's
     *     record
     */
    record TurnOpened(
            long turn,
            Told.Kind kind,
            DeliveryId delivery,
            List<Taken> messages,
            Instant at,
            Instant deadline,
            boolean written)
            implements Event {
        public TurnOpened {
            messages = List.copyOf(messages);
        }
    }

    /** A steer got its delivery id; now it may be told. It stays queued until it lands. */
    record SteerPlanned(long turn, Taken message, DeliveryId delivery) implements Event {}

    /** The agent acknowledged a steer into the running turn: it settles with it (TN-09). */
    record SteerLanded(long turn, Taken message, DeliveryId delivery) implements Event {}

    /** A steer is not in the agent's record: its message goes back to the front of the queue. */
    record SteerReturned(long turn, Taken message, DeliveryId delivery) implements Event {}

    /**
     * The agent has the message and not the whole answer: it is asked to go on.
     *
     * @param calls calls of this turn with side effects, and whether their end is known (TL-07)
     * @param unended calls the agent's record shows begun and not ended
     * @param asked calls that a person was asked about and that were not begun (TL-04)
     */
    record ContinuationOpened(
            long turn,
            DeliveryId delivery,
            String why,
            List<OpenCall> calls,
            List<String> unended,
            List<Approval> asked,
            Instant deadline)
            implements Event {
        public ContinuationOpened {
            asked = List.copyOf(asked);
            calls = List.copyOf(calls);
            unended = List.copyOf(unended);
        }
    }

    /** The agent does not have the message: the turn begins again under the same delivery id. */
    record TurnReturned(long turn, String why, Instant deadline) implements Event {}

    /**
     * The terminal record of every message of the turn.
     *
     * @param kind of the turn's first line
     * @param messages those messages, in order
     * @param evidence what the outcome rests on
     * @param text the agent's final words
     * @param detail why, when not answered
     */
    record TurnSettled(
            long turn,
            Told.Kind kind,
            List<Taken> messages,
            Outcome outcome,
            Evidence evidence,
            String text,
            String detail,
            Usage usage,
            TurnMark mark,
            String requestId)
            implements Event {
        public TurnSettled {
            messages = List.copyOf(messages);
        }
    }

    /** A call with side effects, or one that a person approved, is about to run; an agent's own only when it was approved. */
    record CallStarted(
            long turn, String callId, String tool, String inputDigest, String key, boolean builtIn, CallFacts facts)
            implements Event {}

    /**
     * A call of a tool is over: its one row in the audit (TL-08).
     *
     * @param answer at most 16,384 characters; secrets are taken out
     * @param key its idempotency key; empty where it was not known
     * @param builtIn the agent ran it
     * @param millis from its dispatch to its end, when both were seen
     */
    record CallEnded(
            long turn,
            String callId,
            String tool,
            boolean error,
            String answer,
            String inputDigest,
            String key,
            boolean builtIn,
            CallFacts facts,
            CallOutcome outcome,
            OptionalLong millis)
            implements Event {}

    /**
     * The turn is to be ended.
     *
     * @param number the cancel that is done with it; 0 for none
     * @param cancelled on request; false for a deadline
     */
    record InterruptAsked(long turn, long number, boolean cancelled, String why) implements Event {}

    /**
     * From its next process on the session has this agent (HS-03). The first time, or when it differs from the one before.
     *
     * @param binding its parts, each with a value that may be kept
     * @param differences to the one before, for people; empty the first time
     */
    record AgentBound(Map<String, String> binding, List<String> differences) implements Event {
        public AgentBound {
            binding = Collections.unmodifiableMap(new TreeMap<>(binding));
            differences = List.copyOf(differences);
        }
    }

    /** A process is wanted for the session. */
    record IncarnationPlanned(long incarnation) implements Event {}

    /** Its process runs. */
    record IncarnationStarted(long incarnation, long pid) implements Event {}

    /**
     * Its tool list was checked and it takes lines.
     *
     * @param covers the newest turn it remembered by itself
     */
    record IncarnationVerified(long incarnation, String version, String nativeSession, boolean resumed, long covers)
            implements Event {}

    /**
     * It is over.
     *
     * @param landed true when the open turn's line was in the agent's context, or was written and the agent worked (MB-20)
     */
    record IncarnationEnded(long incarnation, EndCause cause, String why, boolean landed, String stderrTail)
            implements Event {}

    /** The agent's own session is a new one; marks of the old one count no more. */
    record NativeSessionReplaced(String nativeSession, String why) implements Event {}

    /**
     * Turns {@code from} to {@code through} are told again, under this id (TN-16).
     *
     * @param known lines of turn {@code from} that are in the agent's memory; the rest of it is not
     */
    record CatchUpPlanned(long incarnation, DeliveryId delivery, long from, long through, List<String> known)
            implements Event {
        public CatchUpPlanned {
            known = List.copyOf(known);
        }
    }

    /** The next start waits. */
    record RestartScheduled(Instant at, int failures, String why) implements Event {}

    /** No question is open any more: the turn that waited for the answer has its whole time again (TN-04). */
    record DeadlineMoved(long turn, Instant deadline) implements Event {}

    /** The agent ran a turn nobody asked for. */
    record AgentTurnSeen(String text, Usage usage, String requestId) implements Event {}

    /** Something a person should be able to see (P4). */
    record Noticed(String what, String detail) implements Event {}

    /** What an outcome rests on. */
    enum Evidence {
        /** The agent's result. */
        RESULT,
        /** The agent's record, read after its process was gone. */
        RECORD,
        /** Neither: the turn was ended without an answer. */
        NONE
    }

    /** Why an incarnation is over. */
    enum EndCause {
        /** It ended by itself, or was killed. */
        CRASHED,
        /** It never took a line. */
        START_FAILED,
        /** Ended by us between turns, for another session's sake or on request. */
        EVICTED,
        /** Ended by us after a time with nothing to do (MB-11). */
        IDLE,
        /** Ended by us between turns, since it has reached a limit of its age, memory or turns (HS-14). */
        RECYCLED,
        /** Ended by us before a message that is not for it (MB-10). */
        BOUNDARY,
        /** Ended by us because the session is paused (MB-08). */
        PAUSED,
        /** Ended by us because the session is drained (MB-09). */
        DRAINED,
        /** Ended by us because the session is closed. */
        CLOSED,
        /** Ended by us to drop its memory (IN-20). */
        FORGOTTEN,
        /** Ended by us with a turn open, or because the session may not run. */
        STOPPED,
        /** The host that held it is gone. */
        HOST_LOST
    }
}
