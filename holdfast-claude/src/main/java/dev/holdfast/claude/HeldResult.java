package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a turn ended, as the agent told it (TN-06). What the agent did not say is absent, never 0. Immutable.
 *
 * @param ending decided by the error flag and the terminal reason (TN-02)
 * @param text the final words; of a turn that was cut short, what was written before
 * @param failure what went wrong, for people; empty unless the ending is {@link Ending#FAILED}
 * @param fatal true when no further turn can succeed before a person acts (login, billing, quota)
 * @param stopReason why the model stopped, such as {@code end_turn}
 * @param terminalReason why the agent ended the turn, such as {@code completed}
 * @param usage tokens of this turn, main conversation only
 * @param models what each model used in this turn, sub-agents included, by the model's name
 * @param costMicros cost of this turn in millionths of a US dollar
 * @param agentSession the agent's own session id, the same for all turns of a conversation
 * @param requestId id of this very turn's result, never the session's
 * @param message id under which the agent files the message; absent for a turn that nobody here asked for
 * @param toolUses every call the model made, in order, sub-agents' calls included
 * @param toolResults what the model was given for them, in order
 * @param denials calls that were refused; alone they never fail a turn (TN-07)
 * @param attempts whether there were calls and whether all of them reached their tools
 * @param assistantEvents how many pieces of answer the agent wrote, a proxy for calls of the model
 * @param duration from the writing of the message to the result, by our clock
 * @param raw the agent's own frame, with every field it has
 */
public record HeldResult(
        Ending ending,
        String text,
        String failure,
        boolean fatal,
        Optional<String> stopReason,
        Optional<String> terminalReason,
        Optional<Tokens> usage,
        Map<String, ModelUsage> models,
        OptionalLong costMicros,
        String agentSession,
        String requestId,
        Optional<DeliveryId> message,
        List<ToolUse> toolUses,
        List<ToolResult> toolResults,
        List<Denial> denials,
        Attempts attempts,
        int assistantEvents,
        Duration duration,
        RawJson raw) {
    public HeldResult {
        models = Map.copyOf(models);
        toolUses = List.copyOf(toolUses);
        toolResults = List.copyOf(toolResults);
        denials = List.copyOf(denials);
    }

    /** How a turn can end that the agent itself ended. */
    public enum Ending {
        ANSWERED,
        /** The model or its API failed; the session goes on. */
        FAILED,
        /** It was interrupted. */
        CANCELLED,
        /** The agent's limit of model calls in one turn was reached (TN-11). */
        TURN_LIMIT,
        /** The agent's budget is spent (TN-11). */
        BUDGET_LIMIT
    }

    /** The three cases of TN-07. A model can also decline a tool in plain words, which is {@link #NONE}. */
    public enum Attempts {
        /** The model called no tool. */
        NONE,
        /** Every call reached its tool. */
        ALL_REACHED,
        /** At least one call was refused before it reached its tool. */
        SOME_REFUSED
    }

    /**
     * @param cacheCreation5m part of {@code cacheCreation} that is kept 5 minutes
     * @param cacheCreation1h part of {@code cacheCreation} that is kept an hour
     */
    public record Tokens(
            long input,
            long output,
            long cacheRead,
            long cacheCreation,
            OptionalLong cacheCreation5m,
            OptionalLong cacheCreation1h) {}

    /** What one model used in this turn: differences of the agent's cumulative counters. */
    public record ModelUsage(
            long input, long output, long cacheRead, long cacheCreation, OptionalLong costMicros, RawJson raw) {}

    /**
     * @param tool as the agent names it; a host tool has {@code mcp__host__} in front
     * @param input the arguments as JSON text
     */
    public record ToolUse(String callId, String tool, String input) {
        /** The name of the host tool, when it is one. */
        public Optional<String> hostTool() {
            return tool.startsWith(HostTools.PREFIX)
                    ? Optional.of(tool.substring(HostTools.PREFIX.length()))
                    : Optional.empty();
        }
    }

    /**
     * @param notRun why the tool was not run, in the agent's word; absent where it ran or the agent does not say
     */
    public record ToolResult(String callId, String text, boolean error, Optional<String> notRun) {}

    /** @param raw the entry exactly as the agent reported it */
    public record Denial(Optional<String> tool, Optional<String> callId, RawJson raw) {}
}
