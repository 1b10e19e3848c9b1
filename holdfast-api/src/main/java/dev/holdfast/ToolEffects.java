package dev.holdfast;

/** What a call of a tool may change, which decides what must be durable before it runs (TL-07). */
public enum ToolEffects {
    /** Changes nothing: may be run again, and its start costs no commit. */
    READ,
    /** Changes something: its start is durable before it runs. */
    WRITE,
    /** Changes something that cannot be undone. */
    DESTRUCTIVE
}
