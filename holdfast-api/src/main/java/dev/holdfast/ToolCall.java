package dev.holdfast;

/**
 * One call of a host tool by the agent.
 *
 * @param message number of the message whose turn this is; 0 in a turn the agent started by itself
 * @param callId the agent's id of this call
 * @param idempotencyKey the same for a rerun of the same call in a rerun turn (TL-07): 64 hexadecimal digits
 * @param input the arguments, a JSON object as JSON text
 * @param cancelled asked by long-running tools: true once the turn was cancelled and the answer will be discarded
 */
public record ToolCall(
        SessionName session,
        long turn,
        long message,
        String callId,
        String idempotencyKey,
        String input,
        CancelSignal cancelled) {

    /** Tells a running tool whether anybody still wants its answer. */
    @FunctionalInterface
    public interface CancelSignal {
        boolean isCancelled();
    }
}
