package dev.holdfast;

import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * What a tool server passes its calls to: the one door (TL-02, TL-03). Implementations are thread-safe, do not block, and
 * answer every call once.
 */
public interface ToolCalls {
    /**
     * Runs a call.
     *
     * @param callId the agent's id of this call, or one made for it; the same call asked again has the same id
     * @param input the arguments, a JSON object as JSON text
     * @param progress told how far the tool is, until the stage completes; must not block
     * @return never fails: whatever goes wrong is an error answer
     */
    CompletionStage<ToolAnswer> call(
            SessionName session, String callId, String tool, String input, Consumer<ToolProgress> progress);

    /** Nobody waits for that call's answer any more; its tool is told. Does nothing when it was answered. */
    void withdraw(SessionName session, String callId);
}
