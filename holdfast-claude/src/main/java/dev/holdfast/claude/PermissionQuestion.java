package dev.holdfast.claude;

/**
 * The agent asks whether it may use a tool. Immutable.
 *
 * @param callId the id of the tool call
 * @param tool as the agent names it, such as {@code Bash}
 * @param input what it would be used with, a JSON object
 * @param raw everything the agent said, such as {@code decision_reason}, {@code permission_suggestions}
 */
public record PermissionQuestion(String callId, String tool, String input, RawJson raw) {}
