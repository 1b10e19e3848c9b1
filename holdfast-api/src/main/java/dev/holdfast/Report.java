package dev.holdfast;

import java.util.List;

/** What an attachment says about its agent. The order of reports is the order in which things were seen. */
public sealed interface Report {
    /** Answer to {@link Attachment#know}. */
    record Known(Knowledge knowledge) implements Report {}

    /** The process runs. */
    record Started(long pid) implements Report {}

    /**
     * The tool list is the bound one. Now lines may be told.
     *
     * @param version the agent's version, as it says
     * @param nativeSession the agent's session id, as it says
     */
    record Verified(String version, String nativeSession) implements Report {}

    /** The tool list is not the bound one (TL-01). The attachment stops the agent by itself. */
    record Mismatch(List<String> missing, List<String> surplus) implements Report {
        public Mismatch {
            missing = List.copyOf(missing);
            surplus = List.copyOf(surplus);
        }
    }

    /** The agent took the line into its context. */
    record Landed(DeliveryId id) implements Report {}

    /** The agent works. */
    record Busy() implements Report {}

    /** The agent is idle: the turn is over. Always reported after a result, made by the harness where the agent is mute. */
    record Idle() implements Report {}

    /**
     * What the agent's process holds now (HS-14). Told while it comes to rest, ahead of {@link Idle}, where the system tells;
     * not at every rest.
     *
     * @param bytes resident, of the process itself
     */
    record Memory(long bytes) implements Report {}

    /** A turn ended. */
    record Result(TurnResult result) implements Report {}

    /** A fragment of the answer being written; live only. */
    record Text(String fragment) implements Report {}

    /** What the agent is doing; live only. Whether it is shown is the host's rule (HN-03). */
    record Doing(Beat beat) implements Report {}

    /** The agent calls a host tool. */
    record CallRequested(String callId, String tool, String input) implements Report {}

    /**
     * The agent wants to use a tool of its own, and waits for {@link Attachment#permit}. Only where the launch says that
     * its tools are guarded.
     *
     * @param callId told once for each use
     * @param effects what the harness knows of the tool: side effects unless it is sure
     */
    record PermissionAsked(String callId, String tool, ToolEffects effects, String input) implements Report {}

    /**
     * The agent has used a tool of its own, or was kept from it.
     *
     * @param error as the agent says
     * @param answer what the tool answered; may be long
     */
    record ToolUsed(String callId, String tool, String input, boolean error, String answer) implements Report {}

    /** The agent no longer wants the call's answer, or the permission. */
    record CallWithdrawn(String callId) implements Report {}

    /** An interrupt was answered. What it did shows in the result. */
    record InterruptAnswered() implements Report {}

    /** A deadline of the attachment passed (TN-04); {@code what} names it. The caller decides what to end. */
    record Breached(String what) implements Report {}

    /** Something a person should be able to see: a skipped line, an unknown type, an escalation step. */
    record Noticed(String what, String detail) implements Report {}

    /**
     * The incarnation is over: its process, if there was one, and all its descendants were seen dead. The last report.
     *
     * @param why for people: exit code or signal, or what could not be done
     * @param fatal one word when no restart can help before a person acts ({@code not_found}, {@code not_logged_in},
     *     {@code wrong_version}, {@code tools_mismatch}); else empty
     * @param stderrTail the end of the agent's error output, at most 64 KiB
     */
    record Ended(String why, String fatal, String stderrTail) implements Report {}
}
