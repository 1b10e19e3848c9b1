package dev.holdfast.core;

/**
 * A call with side effects whose start is recorded (TL-07).
 *
 * @param answer its answer when it ended, at most 16,384 characters; empty while it has not
 */
public record OpenCall(String callId, String tool, String inputDigest, boolean ended, boolean error, String answer) {}
