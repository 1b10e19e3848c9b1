package dev.holdfast.core;

/**
 * A call with side effects whose start is recorded (TL-07).
 *
 * @param key its idempotency key, which the same call in a rerun of the turn repeats
 * @param answer its answer when it ended, at most 16,384 characters; empty while it has not
 * @param forgotten the turn began again after it: the agent knows nothing of it
 */
public record OpenCall(
        String callId,
        String tool,
        String inputDigest,
        String key,
        boolean ended,
        boolean error,
        String answer,
        boolean forgotten) {
    OpenCall end(boolean isError, String words) {
        return new OpenCall(callId, tool, inputDigest, key, true, isError, words, forgotten);
    }

    OpenCall forgotten(boolean isForgotten) {
        return new OpenCall(callId, tool, inputDigest, key, ended, error, answer, isForgotten);
    }
}
