package dev.holdfast;

import java.util.Optional;

/**
 * A call as its guard sees it.
 *
 * @param author who sent the message whose turn this is; absent in a turn nobody sent a message for
 * @param turn 0 in a turn the agent started by itself
 * @param message number of the message whose turn this is; 0 for none
 * @param callId the agent's id of this call
 * @param tool name of the host's tool, or of the agent's own
 * @param builtIn the agent runs it itself
 * @param effects what it may change; for tools of the agent's own, as its harness knows them
 * @param input the arguments, a JSON object as JSON text
 * @param interactive somebody could answer a question about it
 */
public record GuardedCall(
        SessionName session,
        Optional<Author> author,
        long turn,
        long message,
        String callId,
        String tool,
        boolean builtIn,
        ToolEffects effects,
        String input,
        boolean interactive) {}
