package dev.holdfast.testkit;

/** One way in which a version of the command line behaves that a host must survive or may use. */
public enum AgentQuirk {
    /** The record is written a while after the fact: a result is out before its turn is in the file. */
    LATE_RECORD,
    /** The acknowledgement of a turn's message comes only before the first assistant frame, behind partial output. */
    LATE_REPLAY,
    /** With a message waiting at the start, every MCP server is initialised twice, with the same JSON-RPC ids. */
    HANDSHAKE_TWICE,
    /** An interrupt hits whatever runs when it is read, a message written right before it included. */
    INTERRUPT_HITS_NEXT,
    /** An interrupt is answered with the messages that stay queued, and does not touch them. */
    RECEIPTS,
    /** A tool call that was open at a crash vanishes from the model's context on resume. */
    FORGETS_OPEN_CALL,
    /** {@code command_lifecycle} frames, and the message uuids on init, assistant and result. */
    LIFECYCLE,
    /** The {@code capabilities} list on init. */
    CAPABILITIES,
    /** Cost goes on where the record says instead of starting at zero on resume. */
    COST_CARRIED,
    /** An unknown {@code /command} never reaches the model and ends as a success. */
    SWALLOWS_UNKNOWN_COMMANDS,
    /** A local command has no acknowledgement line of its own. */
    COMMANDS_WITHOUT_REPLAY,
    /** Reminders of the agent's own stand among the user's blocks and in tool results; folded messages too. */
    REMINDERS,
    /** Attachment entries of the agent's own stand in the parent chain of the record. */
    ATTACHMENTS,
    /** A second copy of a message that is only queued is acknowledged like one that landed. */
    FALSE_REPLAY,
    /** Joined messages end with a line break in the text, except the last. */
    JOINS_WITH_BREAKS,
    /** On a fork the new answer hangs under the old entry of the same uuid. */
    FORK_HANGS_UNDER_OLD,
    /** A failed call to the model is told by the terminal reason {@code api_error}. */
    API_ERROR_REASON,
    /** A denial that no host was asked about is told by a {@code permission_denied} frame. */
    DENIAL_FRAMES,
    /** The events that end the stream come even behind an abort, and the cut call costs something. */
    STREAM_ENDS_AFTER_ABORT,
    /** An open turn that is run again on resume goes on by words of the agent's own. */
    CONTINUES_BY_WORDS,
    /** A resumed session goes on under a new id of its own, as very old versions do. */
    NEW_ID_ON_RESUME,
    /** {@code --disallowedTools=*} removes the host's tools too. */
    DISALLOW_ALL_HITS_MCP
}
