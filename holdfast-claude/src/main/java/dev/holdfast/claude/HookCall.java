package dev.holdfast.claude;

import java.util.Optional;

/**
 * What a hook is asked about. Immutable.
 *
 * @param agentSession the agent's own session
 * @param tool the tool as the agent names it, such as {@code Bash} or {@code mcp__host__NAME}; absent where there is none
 * @param input the tool's input as a JSON object; {@code {}} where there is none
 * @param callId the id of the tool call, as in {@link HeldEvent.ToolCalled}; absent where the agent does not say it
 * @param raw everything the agent said, such as {@code prompt}, {@code tool_response}, {@code stop_hook_active}
 */
public record HookCall(
        HookEvent event,
        String agentSession,
        Optional<String> tool,
        String input,
        Optional<String> callId,
        RawJson raw) {}
