package dev.holdfast.mcp;

import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The SDK's transport to a program, which sees of our environment what the SDK passes to every one (home, path, shell, terminal
 * and user) and nothing else: by itself the SDK passes all of it.
 */
final class ProgramTransport extends StdioClientTransport {
    private static final Logger LOG = LoggerFactory.getLogger(ProgramTransport.class);

    private final Map<String, String> environment;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    ProgramTransport(RemoteServer.Program program, McpJsonMapper json, int messageBytes) {
        super(
                ServerParameters.builder(program.command().getFirst())
                        .args(program.command().subList(1, program.command().size()))
                        .build(),
                json,
                messageBytes);
        this.environment = program.environment();
        setStdErrorHandler(line -> LOG.debug("an MCP server says on its error output: {}", line));
    }

    @Override
    protected ProcessBuilder getProcessBuilder() {
        var builder = new ProcessBuilder();
        builder.environment().clear();
        builder.environment().putAll(environment);
        return builder;
    }

    /** Starts the program; the SDK itself does not tell anybody when it ends. */
    @Override
    public Mono<Void> connect(Function<Mono<McpSchema.JSONRPCMessage>, Mono<McpSchema.JSONRPCMessage>> handler) {
        return super.connect(handler)
                .doOnSuccess(started -> Mono.fromRunnable(this::awaitForExit)
                        .subscribeOn(Schedulers.boundedElastic())
                        .subscribe(none -> {}, failure -> ended.complete(null), () -> ended.complete(null)));
    }

    /** Completes when the program is over. */
    CompletableFuture<Void> ended() {
        return ended;
    }
}
