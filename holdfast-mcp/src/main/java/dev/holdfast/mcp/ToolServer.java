package dev.holdfast.mcp;

import dev.holdfast.HoldfastException;
import dev.holdfast.SessionName;
import dev.holdfast.ToolCalls;
import dev.holdfast.ToolRelay;
import dev.holdfast.ToolSpec;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.http.ServerRequestHeaders;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server (Streamable HTTP) on the loopback address, at a port of the system's choice, for agents that cannot call in
 * process (TL-02). Every session has an address and a token of its own, which are good from its offer to its close. A
 * request is held against its {@code Host}, its {@code Origin}, the token and the limits before anything of it is read;
 * what is refused is told no more than that. Thread-safe. One is enough for a host.
 */
public final class ToolServer implements ToolRelay, AutoCloseable {
    private static final Pattern PATH = Pattern.compile("/sessions/([0-9]{1,18})/mcp");
    private static final Duration GRACE = Duration.ofSeconds(1);
    private static final Duration IDLE = Duration.ofMinutes(1);
    private static final int FIRST_LINE_BYTES = 2 * 1024;
    private static final int HEADER_BYTES = 16 * 1024;
    private static final String NOBODY = "0".repeat(32);

    private final ToolServerLimits limits;
    private final Tokens tokens = new Tokens();
    private final Map<Long, ServedSession> sessions = new ConcurrentHashMap<>();
    private final AtomicLong opened = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final WebServer server;
    private final Set<String> hosts;

    private ToolServer(ToolServerLimits limits) {
        this.limits = limits;
        this.server = server();
        try {
            server.start();
        } catch (UncheckedIOException | IllegalStateException e) {
            server.stop();
            throw new HoldfastException("no tool server can be opened on the loopback address: " + e, e);
        }
        int port = server.port();
        this.hosts = Set.of("127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port);
    }

    /**
     * A server with the standard limits.
     *
     * @throws HoldfastException when there is no port to be had
     */
    public static ToolServer open() {
        return open(ToolServerLimits.standard());
    }

    /**
     * A server with these limits.
     *
     * @throws HoldfastException when there is no port to be had
     */
    public static ToolServer open(ToolServerLimits limits) {
        return new ToolServer(limits);
    }

    /** The port on the loopback address. */
    public int port() {
        return server.port();
    }

    @Override
    public Offer offer(SessionName session, List<ToolSpec> tools, ToolCalls calls) {
        if (closed.get()) {
            throw new HoldfastException("the tool server is closed; open a new one for session " + session);
        }
        long number = opened.incrementAndGet();
        var url = "http://127.0.0.1:" + server.port() + "/sessions/" + number + "/mcp";
        var served = new ServedSession(session, tools, calls, url, tokens, limits, () -> sessions.remove(number));
        sessions.put(number, served);
        return served;
    }

    private WebServer server() {
        var problems = DirectHandlers.builder();
        for (var type : DirectHandler.EventType.values()) {
            problems.addHandler(type, ToolServer::direct);
        }
        return WebServer.builder()
                .bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .shutdownHook(false)
                .featuresDiscoverServices(false)
                .addProtocol(Http1Config.builder()
                        .maxPrologueLength(FIRST_LINE_BYTES)
                        .maxHeadersSize(HEADER_BYTES)
                        .addReceiveListener(new HeadWatch())
                        .build())
                .protocolsDiscoverServices(false)
                .maxTcpConnections(limits.connections())
                .maxPayloadSize(limits.requestBytes())
                .idleConnectionTimeout(IDLE)
                .idleConnectionPeriod(IDLE)
                .shutdownGracePeriod(GRACE)
                .directHandlers(problems.build())
                .routing(routing -> routing.any(this::serve))
                .build();
    }

    /** Answers what Helidon refuses by itself. */
    private static DirectHandler.TransportResponse direct(
            DirectHandler.TransportRequest request,
            DirectHandler.EventType type,
            Status status,
            ServerResponseHeaders headers,
            String message) {
        return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .keepAlive(false)
                .entity(new byte[0])
                .build();
    }

    private void serve(ServerRequest request, ServerResponse response) {
        ServerRequestHeaders headers = request.headers();
        Status refusal = refusal(request);
        var served = refusal == null ? session(request.prologue().uriPath().rawPath(), headers) : null;
        if (refusal == null && served == null) {
            refusal = Status.UNAUTHORIZED_401;
        }
        if (refusal == null) {
            refusal = method(request);
        }
        response.header(HeaderNames.CACHE_CONTROL, "no-store");
        if (refusal != null || served == null) {
            response.header(HeaderValues.CONNECTION_CLOSE);
            response.status(refusal == null ? Status.UNAUTHORIZED_401 : refusal).send();
            throw new CloseConnectionException("the request was refused, and its body not read");
        }
        var reply = new HttpReply(
                response,
                headers.contains(HeaderNames.ACCEPT)
                        && headers.get(HeaderNames.ACCEPT).values().contains("text/event-stream"));
        if (request.prologue().method().text().equals("DELETE")) {
            served.forget(header(headers, ServedSession.SESSION_HEADER));
            response.status(Status.NO_CONTENT_204).send();
        } else {
            served.take(
                    body(request),
                    header(headers, ServedSession.SESSION_HEADER),
                    header(headers, "MCP-Protocol-Version"),
                    reply);
        }
        if (headers.containsToken(HeaderValues.CONNECTION_CLOSE)) {
            throw new CloseConnectionException("the agent is done");
        }
    }

    /** What is wrong with the request whoever sent it; null for nothing. */
    private @Nullable Status refusal(ServerRequest request) {
        ServerRequestHeaders headers = request.headers();
        if (!hosts.contains(header(headers, "Host"))) {
            return Status.create(421, "Misdirected Request");
        }
        if (headers.contains(HeaderNames.ORIGIN)) { // no page of a browser has anything to do here
            return Status.FORBIDDEN_403;
        }
        return null;
    }

    /** Whose address and token these are; null for nobody's. */
    private @Nullable ServedSession session(String path, ServerRequestHeaders headers) {
        var named = PATH.matcher(path);
        var served = named.matches() ? sessions.get(Long.parseLong(named.group(1))) : null;
        String shown = header(headers, "Authorization");
        boolean bearer = shown.regionMatches(true, 0, "Bearer ", 0, 7);
        boolean same = Tokens.same(bearer ? shown.substring(7) : "", served == null ? NOBODY : served.token());
        return same ? served : null;
    }

    private @Nullable Status method(ServerRequest request) {
        ServerRequestHeaders headers = request.headers();
        String method = request.prologue().method().text();
        if (method.equals("DELETE")) {
            return null;
        }
        if (!method.equals("POST")) {
            return Status.METHOD_NOT_ALLOWED_405;
        }
        if (headers.contains(HeaderNames.TRANSFER_ENCODING) || headers.contains(HeaderNames.CONTENT_ENCODING)) {
            return Status.LENGTH_REQUIRED_411;
        }
        boolean json = headers.contentType()
                .map(type -> type.mediaType().text().equals("application/json"))
                .orElse(false);
        if (!json) {
            return Status.UNSUPPORTED_MEDIA_TYPE_415;
        }
        return headers.contentLength().orElse(0) > limits.requestBytes() ? Status.REQUEST_ENTITY_TOO_LARGE_413 : null;
    }

    private static String header(ServerRequestHeaders headers, String name) {
        return headers.value(HeaderNames.create(name)).orElse("");
    }

    /** Gives the headers of each request their time. A connection is read by one thread, which is its own. */
    private final class HeadWatch implements Http1ConnectionListener {
        private static final ThreadLocal<Patience> RUNNING = new ThreadLocal<>();

        @Override
        public void prologue(ConnectionContext connection, HttpPrologue firstLine) {
            RUNNING.set(new Patience(limits.silence()));
        }

        @Override
        public void headers(ConnectionContext connection, Headers headers) {
            var patience = RUNNING.get();
            if (patience != null) {
                patience.close();
                RUNNING.remove();
            }
        }
    }

    private String body(ServerRequest request) {
        int length = (int) request.headers().contentLength().orElse(0);
        var patience = new Patience(limits.silence());
        try (var in = request.content().inputStream()) {
            return new String(in.readNBytes(length), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the body of a request ended early", e);
        } finally {
            patience.close();
        }
    }

    /** Ends every offer, then the server. Idempotent. */
    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            List.copyOf(sessions.values()).forEach(ServedSession::close);
            server.stop();
        }
    }
}
