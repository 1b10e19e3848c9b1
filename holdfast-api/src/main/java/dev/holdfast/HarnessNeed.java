package dev.holdfast;

/** What a harness cannot do without (HN-01). A host that lacks one refuses the agent before anything is started. */
public enum HarnessNeed {
    /** Host tools through the one door. Every host has it. */
    TOOL_DOOR,
    /** A sandbox that keeps the thinker from the host's machine. */
    SANDBOX
}
