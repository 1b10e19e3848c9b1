package dev.holdfast.claude;

/** The entrance: {@code ClaudeCode.agent().model("…").tools(new OrderTools())}. */
public final class ClaudeCode {
    private ClaudeCode() {}

    /** Claude Code as it is found on this machine, without tools, under its own login. */
    public static ClaudeCodeAgent agent() {
        return ClaudeCodeAgent.plain();
    }
}
