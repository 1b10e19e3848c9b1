package dev.holdfast.mcp;

import java.time.Duration;

/**
 * What a tool server takes.
 *
 * @param connections open at once; further ones wait
 * @param requestBytes of a request's body; more is answered with 413
 * @param calls of one session that run at once; further ones are answered with an error
 * @param silence until the headers of a begun request are there, and again until its body is; then the connection is closed
 * @param keepAlive between signs of life to an agent that waits for an answer
 */
public record ToolServerLimits(int connections, int requestBytes, int calls, Duration silence, Duration keepAlive) {
    public ToolServerLimits {
        if (connections < 1 || requestBytes < 1 || calls < 1) {
            throw new IllegalArgumentException("a tool server with these limits serves nobody: " + connections
                    + " connections, " + requestBytes + " bytes of a request, " + calls + " calls");
        }
        if (!silence.isPositive() || !keepAlive.isPositive()) {
            throw new IllegalArgumentException(
                    "silence and keepAlive must be longer than zero; got " + silence + ", " + keepAlive);
        }
    }

    /** 256 connections, 4 MiB, 64 calls, 30 s, 15 s. */
    public static ToolServerLimits standard() {
        return new ToolServerLimits(256, 4 << 20, 64, Duration.ofSeconds(30), Duration.ofSeconds(15));
    }
}
