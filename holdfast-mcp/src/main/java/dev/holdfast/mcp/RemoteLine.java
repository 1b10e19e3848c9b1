package dev.holdfast.mcp;

import dev.holdfast.HoldfastException;
import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpTransportSessionNotFoundException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** The connection to one remote server: made when it is needed, and anew when it was lost. Thread-safe. */
final class RemoteLine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteLine.class);
    private static final int DEPTH_MAX = 400;

    /** Before each attempt to reach the server. */
    private static final List<Duration> WAITS = List.of(
            Duration.ZERO, Duration.ofMillis(200), Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(4));

    /** Longer than any call: the door's own deadline ends a call. */
    private static final Duration REQUEST_MAX = Duration.ofDays(1);

    private final RemoteServer server;
    private final RemoteOptions options;
    private final McpJsonMapper json;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition over = lock.newCondition();
    private final AtomicLong calls = new AtomicLong();
    private final Map<String, Step> steps = new ConcurrentHashMap<>();
    private @Nullable Live live;
    private boolean closed;

    /** Takes reports of progress. */
    @FunctionalInterface
    interface Step {
        void report(double done, OptionalDouble total, String note);
    }

    /** What came of a call. */
    sealed interface Outcome {}

    record Came(McpSchema.CallToolResult result) implements Outcome {}

    record Failed(String why) implements Outcome {}

    /** A connection that was made; compared by what it is. */
    private static final class Live {
        private final McpAsyncClient client;
        private final WatchedTransport transport;

        Live(McpAsyncClient client, WatchedTransport transport) {
            this.client = client;
            this.transport = transport;
        }

        McpAsyncClient client() {
            return client;
        }

        WatchedTransport transport() {
            return transport;
        }
    }

    RemoteLine(RemoteServer server, RemoteOptions options) {
        this.server = server;
        this.options = options;
        this.json = new JacksonMcpJsonMapper(JsonMapper.builder(JsonFactory.builder()
                        .streamReadConstraints(StreamReadConstraints.builder()
                                .maxNestingDepth(DEPTH_MAX)
                                .maxStringLength(options.messageBytes())
                                .maxNumberLength(1_000)
                                .build())
                        .build())
                .build());
    }

    @Override
    public String toString() {
        return server.toString();
    }

    // ---- the connection -------------------------------------------------------------------------------------------

    /** @throws HoldfastException when the server cannot be reached in time */
    private Live live() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            Exception last = new HoldfastException("nothing was tried");
            for (Duration wait : WAITS) {
                if (live != null && live.transport().lost().isDone()) {
                    drop(live);
                }
                if (live != null) {
                    return live;
                }
                long nanos = wait.toNanos();
                while (nanos > 0 && !closed) {
                    nanos = over.awaitNanos(nanos);
                }
                if (closed) {
                    throw new HoldfastException("the tools of " + server + " are closed");
                }
                try {
                    live = connect();
                    return live;
                } catch (ExecutionException e) {
                    last = e;
                    LOG.debug("{} is not reached", server, e);
                }
            }
            throw new HoldfastException("the MCP server " + server + " cannot be reached: " + why(last), last);
        } finally {
            lock.unlock();
        }
    }

    private Live connect() throws InterruptedException, ExecutionException {
        var transport = new WatchedTransport(transport());
        var client = McpClient.async(transport)
                .requestTimeout(REQUEST_MAX)
                .initializationTimeout(options.connecting())
                .clientInfo(McpSchema.Implementation.builder("holdfast", "1").build())
                .progressConsumer(progress -> {
                    progress(progress);
                    return Mono.empty();
                })
                .build();
        boolean begun = false;
        try {
            wait(transport, client.initialize());
            begun = true;
        } finally {
            if (!begun) {
                client.close();
            }
        }
        return new Live(client, transport);
    }

    private McpClientTransport transport() {
        return switch (server) {
            case RemoteServer.Program program -> new ProgramTransport(program, json, options.messageBytes());
            case RemoteServer.Http http -> {
                var url = http.url();
                var path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
                yield HttpClientStreamableHttpTransport.builder(url.getScheme() + "://" + url.getRawAuthority())
                        .endpoint(url.getRawQuery() == null ? path : path + "?" + url.getRawQuery())
                        .jsonMapper(json)
                        .connectTimeout(options.connecting())
                        .maxResponseSize(options.messageBytes())
                        .addHttpRequestCustomizer((request, method, uri, body, context) ->
                                http.headers().forEach(request::setHeader))
                        .build();
            }
        };
    }

    /** A future that is given up is not cancelled: what comes for it later would be dropped loudly. */
    private <T> T wait(WatchedTransport transport, Mono<T> answer) throws InterruptedException, ExecutionException {
        var future = answer.toFuture();
        try {
            CompletableFuture.anyOf(future, transport.lost())
                    .get(options.connecting().toNanos(), TimeUnit.NANOSECONDS);
            return future.get();
        } catch (TimeoutException e) {
            throw new ExecutionException("no answer within " + options.connecting(), e);
        }
    }

    private void drop(Live gone) {
        lock.lock();
        try {
            if (live == gone) {
                live = null;
            }
        } finally {
            lock.unlock();
        }
        gone.client().closeGracefully().subscribe(done -> {}, failed -> {});
    }

    // ---- what is asked --------------------------------------------------------------------------------------------

    /** Every tool the server offers. */
    List<McpSchema.Tool> list(int pagesMax) {
        try {
            var tools = new ArrayList<McpSchema.Tool>();
            var on = live();
            String cursor = McpSchema.FIRST_PAGE;
            for (int page = 0; page < pagesMax; page++) {
                var result = wait(on.transport(), on.client().listTools(cursor));
                tools.addAll(result.tools());
                cursor = result.nextCursor();
                if (cursor == null || cursor.isEmpty()) {
                    return tools;
                }
            }
            throw new HoldfastException(server + " lists its tools on more than " + pagesMax + " pages");
        } catch (ExecutionException e) {
            throw new HoldfastException("the MCP server " + server + " does not list its tools: " + why(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new HoldfastException("interrupted while the tools of " + server + " were listed", e);
        }
    }

    /**
     * Calls a tool and waits for its answer.
     *
     * @param twice whether it may be sent again when it may have arrived
     */
    Outcome call(String tool, Map<String, Object> arguments, boolean twice, Step step) throws InterruptedException {
        for (boolean first = true; ; first = false) {
            Live on;
            try {
                on = live();
            } catch (HoldfastException e) {
                return new Failed(e.getMessage() + "; nothing was done");
            }
            String token = "holdfast-" + calls.incrementAndGet();
            steps.put(token, step);
            try {
                var request = McpSchema.CallToolRequest.builder(tool)
                        .arguments(arguments)
                        .progressToken(token)
                        .build();
                return new Came(answered(on, token, on.client().callTool(request)));
            } catch (ExecutionException e) {
                if (cause(e, McpError.class) != null) {
                    return new Failed("the MCP server refused the call: " + why(e));
                }
                drop(on);
                boolean never = cause(e, ConnectException.class) != null
                        || cause(e, McpTransportSessionNotFoundException.class) != null;
                LOG.info("the connection to {} was lost in a call of {}: {}", server, tool, why(e));
                if (!first || !(never || twice)) {
                    return new Failed("the connection to the MCP server was lost; "
                            + (never ? "nothing was done" : "what the tool has done may have happened"));
                }
            } finally {
                steps.remove(token);
            }
        }
    }

    private static McpSchema.CallToolResult answered(Live on, String token, Mono<McpSchema.CallToolResult> answer)
            throws InterruptedException, ExecutionException {
        var future = answer.toFuture();
        boolean came = false;
        try {
            CompletableFuture.anyOf(future, on.transport().lost()).get();
            var result = future.get();
            came = true;
            return result;
        } catch (ExecutionException e) {
            came = cause(e, McpError.class) != null;
            throw e;
        } finally {
            if (came) {
                on.transport().done(token);
            } else {
                on.transport().cancel(token);
            }
        }
    }

    private void progress(McpSchema.ProgressNotification progress) {
        var step = progress.progressToken() instanceof String token ? steps.get(token) : null;
        Double done = progress.progress();
        Double total = progress.total();
        if (step != null && done != null && Double.isFinite(done) && (total == null || Double.isFinite(total))) {
            step.report(
                    done,
                    total == null ? OptionalDouble.empty() : OptionalDouble.of(total),
                    progress.message() == null ? "" : progress.message());
        }
    }

    private static <T extends Throwable> @Nullable T cause(Throwable failure, Class<T> type) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
        }
        return null;
    }

    private static String why(Throwable failure) {
        Throwable root = failure;
        for (Throwable each = failure; each != null; each = each.getCause()) {
            root = each;
        }
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }

    @Override
    public void close() {
        Live last;
        lock.lock();
        try {
            closed = true;
            last = live;
            live = null;
            over.signalAll();
        } finally {
            lock.unlock();
        }
        if (last != null) {
            last.transport().lost(new HoldfastException("the tools of " + server + " are closed"));
            last.client().closeGracefully().subscribe(done -> {}, failed -> {});
        }
    }
}
