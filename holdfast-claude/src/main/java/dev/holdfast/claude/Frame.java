package dev.holdfast.claude;

import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * One line the agent wrote, as far as this module looks into it. Every frame keeps its {@code raw} object, so a field
 * nobody here reads is never lost. Texts are empty and lists are empty where the agent did not say.
 */
sealed interface Frame {
    JsonNode raw();

    /**
     * The start of a turn: what the agent has loaded (TL-01, HS-17).
     *
     * @param servers names of the tool servers it talks to
     * @param plugins those that are not part of the agent itself
     */
    record Init(
            JsonNode raw,
            String session,
            String version,
            List<String> tools,
            List<String> servers,
            List<String> skills,
            List<String> plugins)
            implements Frame {}

    /** The agent's own word on whether it works: {@code running}, {@code requires_action} or {@code idle}. */
    record State(JsonNode raw, String state) implements Frame {
        boolean resting() {
            return state.equals("idle");
        }
    }

    /** Any other system line. */
    record Notice(JsonNode raw, String subtype) implements Frame {}

    /**
     * A finished block of the answer.
     *
     * @param error the kind of failure this stands for, such as {@code authentication_failed}; empty for an answer
     * @param sidechain true when a sub-agent wrote it
     */
    record Assistant(JsonNode raw, String uuid, String text, List<String> toolUses, String error, boolean sidechain)
            implements Frame {}

    /**
     * A user line from the agent: an acknowledged line of ours, or what a tool answered.
     *
     * @param replay true when the agent acknowledges that the line entered its context
     */
    record User(JsonNode raw, String uuid, boolean replay, List<String> toolResults, boolean sidechain)
            implements Frame {}

    /** The end of a turn. */
    record Result(
            JsonNode raw,
            String uuid,
            String subtype,
            boolean error,
            String terminalReason,
            String text,
            List<String> errors,
            long turns,
            Optional<String> origin)
            implements Frame {}

    /** A piece of the answer being written; {@code text} is empty for anything but words of the main conversation. */
    record Partial(JsonNode raw, String text) implements Frame {}

    /** The agent asks us something; it must be answered exactly once. */
    record ControlRequest(JsonNode raw, String id, String subtype, JsonNode request) implements Frame {}

    /** The agent answers something we asked. */
    record ControlResponse(JsonNode raw, String id, boolean success, JsonNode response, String error)
            implements Frame {}

    /** The agent no longer wants the answer to one of its requests. */
    record ControlCancel(JsonNode raw, String id) implements Frame {}

    /** A line of a type this module does not look into. */
    record Other(JsonNode raw, String type) implements Frame {}
}
