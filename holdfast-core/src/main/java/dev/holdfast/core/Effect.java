package dev.holdfast.core;

import dev.holdfast.CallRuling;
import dev.holdfast.DeliveryId;
import dev.holdfast.StopMode;
import dev.holdfast.TurnMark;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Something that should be running. Two effects with equal {@link #key()} are the same effect: a runner starts what is
 * new in the set and cancels what is gone.
 */
public sealed interface Effect {
    Key key();

    /** Identity of an effect, so that a late report of an older one can be told apart. */
    record Key(long epoch, long incarnation, Kind kind, String ordinal) {}

    /** Kinds of effects. */
    enum Kind {
        HOLD_SLOT,
        ASK_KNOWLEDGE,
        RUN_AGENT,
        TELL,
        INTERRUPT,
        ADMIT_CALL,
        RUN_CALL,
        ANSWER_CALL,
        PERMIT_CALL,
        JUDGE,
        STOP_AGENT
    }

    /** A place under the cap on processes. */
    record HoldSlot(Key key) implements Effect {}

    /** The question what the agent has, asked of its record after older processes are seen dead. */
    record AskKnowledge(Key key, Optional<String> nativeSession, List<TurnMark> marks, List<DeliveryId> open)
            implements Effect {
        public AskKnowledge {
            marks = List.copyOf(marks);
            open = List.copyOf(open);
        }
    }

    /** A running, verified process. */
    record RunAgent(Key key, String nativeSession, boolean resume, Optional<CatchUp> catchUp) implements Effect {}

    /**
     * Turns to tell again.
     *
     * @param known lines of turn {@code from} that are in the agent's memory; the rest of it is not
     */
    record CatchUp(DeliveryId delivery, long from, long through, List<String> known) {
        public CatchUp {
            known = List.copyOf(known);
        }
    }

    /**
     * One line, written once per incarnation.
     *
     * @param retellFrom turns from here to {@code turn - 1} were settled without ever being told to this incarnation and
     *     are told in front of the line; 0 for none (TN-16)
     */
    record Tell(Key key, long turn, Told told, long retellFrom) implements Effect {}

    /** An interrupt, written once. */
    record Interrupt(Key key, long turn) implements Effect {}

    /**
     * A call that the door is to judge.
     *
     * @param round how often this one was given to be judged
     * @param attended somebody sent the message whose turn it is
     * @param decided what became of the question about this call, when one was asked before
     */
    record AdmitCall(
            Key key,
            long turn,
            long message,
            String callId,
            String tool,
            boolean builtIn,
            int round,
            boolean attended,
            Optional<Approval> decided)
            implements Effect {}

    /**
     * A host tool that should be running.
     *
     * @param round of the verdict by which it is dispatched, given at {@code judgedAt}
     * @param before the same call of an attempt the agent has forgotten: unless the tool is idempotent, it must not run
     *     again unseen; its recorded answer is given, or that it may have happened (TL-07)
     */
    record RunCall(
            Key key,
            long turn,
            long message,
            String callId,
            String tool,
            String idempotencyKey,
            int round,
            Instant judgedAt,
            Optional<OpenCall> before)
            implements Effect {}

    /**
     * The answer of a finished call, given to the agent.
     *
     * @param ruling what was decided about it
     * @param refusal why it was not run, as the answer; absent for the tool's own
     */
    record AnswerCall(Key key, String callId, CallRuling ruling, Optional<String> refusal) implements Effect {}

    /**
     * Whether the agent may use a tool of its own.
     *
     * @param refusal why not; absent when it may
     */
    record PermitCall(Key key, String callId, Optional<String> refusal) implements Effect {}

    /** The question whether the message that is next is for this incarnation (MB-10). */
    record Judge(Key key, long number) implements Effect {}

    /** The end of the incarnation. */
    record StopAgent(Key key, StopMode mode) implements Effect {}
}
