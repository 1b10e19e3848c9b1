package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.ToolProgress;
import java.time.Duration;
import java.util.Optional;

/** Something that happened to a held session. */
public sealed interface HeldEvent {
    /** A process was started. */
    record Started(long pid) implements HeldEvent {}

    /** The process has shown the right tools and takes messages. */
    record Ready(String version, String agentSession, Memory memory) implements HeldEvent {}

    /** What a started agent remembers (HS-05). */
    enum Memory {
        /** There was nothing to remember. */
        NEW,
        /** Its record holds our last answered turn. */
        RESUMED,
        /** Its record was taken up; what it ought to hold is not known here any more. */
        RESUMED_UNVERIFIED,
        /** It lacks turns, and was told what {@link HeldOptions#retelling} had to say. */
        RETOLD,
        /** It lacks turns, and nobody could tell it. */
        LOST
    }

    /** The agent took a message into its context. */
    record Landed(DeliveryId message) implements HeldEvent {}

    /** A piece of the answer being written. */
    record Text(String fragment) implements HeldEvent {}

    /** The agent calls a host tool. */
    record ToolCalled(String callId, String tool, String input) implements HeldEvent {}

    /** A running host tool says how far it has come. */
    record ToolProgressed(ToolProgress progress) implements HeldEvent {}

    /** A host tool has answered, or was cancelled. */
    record ToolAnswered(String callId, String tool, boolean error) implements HeldEvent {}

    /** The model's API failed and is tried again: alive, and no progress. */
    record ApiRetry(long attempt, long attempts, Duration delay, long status, String error) implements HeldEvent {}

    /** The agent tells of its rate limits. */
    record RateLimit(String status, RawJson raw) implements HeldEvent {}

    /** The agent has replaced its conversation by a summary. */
    record Compacted(String trigger, RawJson raw) implements HeldEvent {}

    /** One of the agent's hooks runs; {@code phase} is {@code started}, {@code progress} or {@code response}. */
    record Hook(String phase, String name, RawJson raw) implements HeldEvent {}

    /** A hook of the host has answered; {@code tool} and {@code callId} are empty where there is none. */
    record HookRan(HookEvent event, String tool, String callId, HookAnswer answer) implements HeldEvent {}

    /**
     * A hook of the host gave no answer that counts.
     *
     * @param denied whether it guards, so that the agent was told no
     */
    record HookFailed(HookEvent event, String tool, String callId, String why, boolean denied) implements HeldEvent {}

    /** The agent waits to be told whether it may use a tool; the turn's clocks stand still meanwhile (TN-04). */
    record PermissionAsked(PermissionQuestion question) implements HeldEvent {}

    /**
     * That is settled.
     *
     * @param answer absent when nobody gave one that counts: then it was refused, unless the agent had withdrawn it
     * @param why why there is no answer; else empty
     */
    record PermissionAnswered(PermissionQuestion question, Optional<PermissionAnswer> answer, String why)
            implements HeldEvent {}

    /** The agent says whether it works: {@code running}, {@code requires_action} or {@code idle}. */
    record StateChanged(String state) implements HeldEvent {}

    /** A turn ended that nobody here asked for (TN-03). */
    record AgentTurn(HeldResult result) implements HeldEvent {}

    /** A deadline passed; {@code what} is {@code start: STAGE}, {@code first_output}, {@code silence}, {@code turn} or {@code interrupt}. */
    record Breached(String what) implements HeldEvent {}

    /** The process was ended because another one needs its place, or because nobody used it. */
    record Evicted(Why why) implements HeldEvent {
        /** Why a process between turns is ended. */
        public enum Why {
            IDLE,
            CAPACITY
        }
    }

    /** The process is replaced between two turns; {@code why} names the limit or the differing binding (HS-03, HS-14). */
    record Recycled(String why) implements HeldEvent {}

    /** The process has ended in the middle of a turn or of its start. */
    record Crashed(String why, String stderrTail) implements HeldEvent {}

    /** The next start waits this long (HS-13). */
    record RestartDelayed(int attempt, Duration delay, String why) implements HeldEvent {}

    /** No start is tried any more until {@link HeldSessions#unpark}. */
    record Parked(String reason) implements HeldEvent {}

    /** The process is over, and everything it had started was seen dead. */
    record Ended(String why) implements HeldEvent {}

    /** Something a person should be able to see: a skipped line, an unknown type, a step of the stop ladder. */
    record Noticed(String what, String detail) implements HeldEvent {}

    /**
     * So many events were dropped here, because the listener was slow and too many waited for it. Results are never
     * dropped.
     */
    record Gap(long events) implements HeldEvent {}

    /** A frame of the agent without a type of its own here. */
    record Other(String type, RawJson raw) implements HeldEvent {}
}
