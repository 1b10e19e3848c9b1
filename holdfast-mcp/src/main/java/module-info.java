import org.jspecify.annotations.NullMarked;

/** Tools of remote MCP servers, and an MCP server on this machine for agents that cannot call in process. */
@NullMarked
module dev.holdfast.mcp {
    requires transitive dev.holdfast;
    requires io.helidon.common.socket;
    requires io.helidon.http;
    requires io.helidon.webserver;
    requires io.modelcontextprotocol.sdk.mcp.core;
    requires io.modelcontextprotocol.sdk.mcp.json.jackson3;
    requires java.net.http;
    requires org.reactivestreams;
    requires org.slf4j;
    requires reactor.core;
    requires static org.jspecify;
    requires tools.jackson.databind;

    exports dev.holdfast.mcp;
}
