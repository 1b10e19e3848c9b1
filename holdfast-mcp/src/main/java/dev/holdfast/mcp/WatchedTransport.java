package dev.holdfast.mcp;

import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A transport that knows which request carries which progress token, so that a call can be cancelled: the SDK's client keeps
 * the ids of its requests to itself. Thread-safe.
 */
final class WatchedTransport implements McpClientTransport {
    private final McpClientTransport transport;
    private final Map<String, Object> requests = new ConcurrentHashMap<>();

    private final CompletableFuture<Object> lost = new CompletableFuture<>();

    WatchedTransport(McpClientTransport transport) {
        this.transport = transport;
        if (transport instanceof ProgramTransport program) {
            var unused =
                    program.ended().thenRun(() -> lost(new IOException("the program of the MCP server has ended")));
        }
    }

    /** Fails when the connection is lost. */
    CompletableFuture<Object> lost() {
        return lost;
    }

    void lost(Throwable why) {
        lost.completeExceptionally(why);
    }

    /** Tells the server that nobody wants that call's answer; does nothing when it was never sent. */
    void cancel(String progressToken) {
        Object id = requests.remove(progressToken);
        if (id != null) {
            var params = Map.of("requestId", id, "reason", "nobody waits for it any more");
            transport
                    .sendMessage(new McpSchema.JSONRPCNotification("2.0", "notifications/cancelled", params))
                    .subscribe(sent -> {}, lost -> {});
        }
    }

    /** The call has its answer. Returns whether it was sent at all. */
    boolean done(String progressToken) {
        return requests.remove(progressToken) != null;
    }

    @Override
    public Mono<Void> sendMessage(McpSchema.JSONRPCMessage message) {
        if (message instanceof McpSchema.JSONRPCRequest request
                && request.params() instanceof McpSchema.CallToolRequest call
                && call.meta() != null
                && call.meta().get("progressToken") instanceof String token) {
            requests.put(token, request.id());
        }
        return transport.sendMessage(message);
    }

    @Override
    public Mono<Void> connect(Function<Mono<McpSchema.JSONRPCMessage>, Mono<McpSchema.JSONRPCMessage>> handler) {
        return transport.connect(handler).doOnError(this::lost);
    }

    @Override
    public void setExceptionHandler(Consumer<Throwable> handler) {
        transport.setExceptionHandler(failure -> {
            lost(failure);
            handler.accept(failure);
        });
    }

    @Override
    public Mono<Void> closeGracefully() {
        return transport.closeGracefully();
    }

    @Override
    public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
        return transport.unmarshalFrom(data, type);
    }

    @Override
    public List<String> protocolVersions() {
        return transport.protocolVersions();
    }
}
