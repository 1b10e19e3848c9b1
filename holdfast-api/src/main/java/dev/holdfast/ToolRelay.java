package dev.holdfast;

import java.util.List;

/** Brings the tools of a session to agents that cannot call in process: an MCP server on this machine (TL-02). Thread-safe. */
public interface ToolRelay {
    /**
     * Offers the tools under an address and a token of their own, until the offer is closed.
     *
     * @throws HoldfastException when no server can be opened
     */
    Offer offer(SessionName session, List<ToolSpec> tools, ToolCalls calls);

    /** Tools that are offered. Thread-safe. */
    interface Offer extends AutoCloseable {
        /** The address, for MCP over Streamable HTTP: {@code http://127.0.0.1:} and so on. */
        String url();

        /** What the agent shows as {@code Authorization: Bearer}; 32 hexadecimal digits. A secret: never on a command line. */
        String token();

        /** Nobody gets anything under this token any more; open calls are withdrawn. Idempotent. */
        @Override
        void close();
    }
}
