package dev.holdfast.server;

import dev.holdfast.HoldfastException;
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
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The door of a running host for commands of the same user: the {@link Api} over HTTP/1.1 on a unix socket in the data
 * directory. The socket has mode 600 in a directory of mode 700, and a peer of another user is turned away even so.
 *
 * <p>One virtual thread serves one connection. Every part of a request has a size and a time ({@link DoorLimits}); a body
 * comes with its length, never compressed. Thread-safe; closing ends the waits of callers first.
 */
public final class Door implements AutoCloseable {
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final Api api;
    private final DoorLimits limits;
    private final DoorPlace place;
    private final Deadlines deadlines = new Deadlines();
    private final WebServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Door(Api api, DoorLimits limits, DoorPlace place) {
        this.api = api;
        this.limits = limits;
        this.place = place;
        this.server = server();
    }

    /**
     * Opens the door of a host.
     *
     * @param api of that host; the door closes it
     * @param data the host's data directory, which exists
     * @throws HoldfastException when another host has this directory's door, or when the place is not safe
     */
    public static Door open(Api api, Path data, DoorLimits limits) {
        var place = DoorPlace.take(data, Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
        boolean opened = false;
        try {
            var door = new Door(api, limits, place);
            door.start();
            opened = true;
            return door;
        } finally {
            if (!opened) {
                place.close();
            }
        }
    }

    /**
     * The socket of the host on this data directory; somebody may or may not listen there.
     *
     * @throws HoldfastException when there is one that is not to be trusted
     */
    public static Optional<Path> find(Path data) {
        return DoorPlace.find(data);
    }

    /** The socket. */
    public Path socket() {
        return place.socket();
    }

    private void start() {
        try {
            server.start();
            place.bound();
        } catch (UncheckedIOException | IOException e) {
            server.stop();
            deadlines.close();
            throw new HoldfastException("no door can be opened at " + place.socket() + ": " + e, e);
        }
    }

    private WebServer server() {
        var http = Http1Config.builder()
                .maxPrologueLength(limits.firstLineBytes())
                .maxHeadersSize(limits.headerBytes())
                .addReceiveListener(new HeadWatch())
                .build();
        var problems = DirectHandlers.builder();
        for (var type : DirectHandler.EventType.values()) {
            problems.addHandler(type, Door::direct);
        }
        return WebServer.builder()
                .bindAddress(UnixDomainSocketAddress.of(place.socket()))
                .shutdownHook(false)
                .featuresDiscoverServices(false)
                .addProtocol(http)
                .protocolsDiscoverServices(false)
                .connectionOptions(new SameUser(place.user()))
                .maxTcpConnections(limits.connections())
                .maxPayloadSize(limits.bodyBytes())
                .idleConnectionTimeout(limits.idle())
                .idleConnectionPeriod(limits.idle())
                .shutdownGracePeriod(GRACE)
                .directHandlers(problems.build())
                .routing(routing -> routing.any(this::serve))
                .build();
    }

    /** Answers what Helidon refuses by itself: broken requests, and those beyond a limit. */
    private static DirectHandler.TransportResponse direct(
            DirectHandler.TransportRequest request,
            DirectHandler.EventType type,
            Status status,
            ServerResponseHeaders headers,
            String message) {
        String problem = switch (status.code()) {
            case 413 -> "too_large";
            case 414 -> "line_too_long";
            case 431 -> "headers_too_large";
            case 500 -> "unexpected";
            default -> "bad_request";
        };
        var answer = new Problem(
                        status.code(),
                        problem,
                        "the request is no HTTP/1.1 that is taken here: " + status.reasonPhrase())
                .answer();
        return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderNames.CONTENT_TYPE, answer.mediaType())
                .keepAlive(false)
                .entity(answer.body())
                .build();
    }

    /** Gives the headers of each request their time. A connection is read by one thread, which is its own. */
    private final class HeadWatch implements Http1ConnectionListener {
        private static final ThreadLocal<Deadlines.Deadline> RUNNING = new ThreadLocal<>();

        @Override
        public void prologue(ConnectionContext connection, HttpPrologue firstLine) {
            RUNNING.set(deadlines.within(limits.head()));
        }

        @Override
        public void headers(ConnectionContext connection, Headers headers) {
            var deadline = RUNNING.get();
            if (deadline != null) {
                deadline.lift();
                RUNNING.remove();
            }
        }
    }

    private void serve(ServerRequest request, ServerResponse response) {
        String path = request.prologue().uriPath().rawPath();
        var read = read(request, path);
        boolean last = request.headers().containsToken(HeaderValues.CONNECTION_CLOSE)
                || (read instanceof Read.Refused && hasBody(request.headers()));
        if (last) {
            response.header(HeaderValues.CONNECTION_CLOSE);
        }
        switch (read) {
            case Read.Refused refused -> send(response, refused.problem().answer(), path);
            case Read.Whole whole -> send(response, api.answer(whole.call()), path);
        }
        if (last) {
            throw new CloseConnectionException("the caller is done, or its body was not read");
        }
    }

    private sealed interface Read {
        record Whole(Call call) implements Read {}

        record Refused(Problem problem) implements Read {}
    }

    private Read read(ServerRequest request, String path) {
        ServerRequestHeaders headers = request.headers();
        String method = request.prologue().method().text();
        try {
            var route = api.find(method, path).route();
            if (headers.contains(HeaderNames.TRANSFER_ENCODING) || headers.contains(HeaderNames.CONTENT_ENCODING)) {
                return refused(411, "length_required", "send the body as it is, with its Content-Length");
            }
            long length = headers.contentLength().orElse(0);
            if (length > route.bodyMax()) {
                return new Read.Refused(Api.tooLarge(route.bodyMax()));
            }
            byte[] body = body(request, (int) length);
            return new Read.Whole(new Call(method, path, query(request), key(headers), carries(headers), body));
        } catch (CallRefused e) {
            return new Read.Refused(e.problem());
        }
    }

    private static Read refused(int status, String problem, String detail) {
        return new Read.Refused(new Problem(status, problem, detail));
    }

    private static boolean hasBody(ServerRequestHeaders headers) {
        return headers.contains(HeaderNames.TRANSFER_ENCODING)
                || headers.contentLength().orElse(0) > 0;
    }

    private static String carries(ServerRequestHeaders headers) {
        return headers.contentType().map(type -> type.mediaType().text()).orElse("");
    }

    private byte[] body(ServerRequest request, int length) {
        if (length == 0) {
            return new byte[0];
        }
        var deadline = deadlines.within(limits.body());
        try (var in = request.content().inputStream()) {
            return in.readNBytes(length);
        } catch (IOException e) {
            throw new UncheckedIOException("the body of a request ended early", e);
        } finally {
            deadline.lift();
        }
    }

    private static Map<String, String> query(ServerRequest request) {
        var query = request.query();
        var values = new HashMap<String, String>();
        for (String name : query.names()) {
            values.put(name, query.get(name));
        }
        return values;
    }

    /** The key, without the quotes that a structured header has around it. */
    private static Optional<String> key(ServerRequestHeaders headers) {
        return headers.value(HeaderNames.create("Idempotency-Key"))
                .map(key -> key.length() > 1 && key.startsWith("\"") && key.endsWith("\"")
                        ? key.substring(1, key.length() - 1)
                        : key);
    }

    private void send(ServerResponse response, Answer answer, String path) {
        response.status(answer.status());
        response.header(HeaderNames.CONTENT_TYPE, answer.mediaType());
        response.header(HeaderNames.CACHE_CONTROL, "no-store");
        if (answer.status() == Status.METHOD_NOT_ALLOWED_405.code()) {
            api.allowed(path).ifPresent(methods -> response.header(HeaderNames.ALLOW, methods));
        }
        var deadline = deadlines.within(limits.sending());
        try {
            response.send(answer.body());
        } finally {
            deadline.lift();
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        api.close();
        server.stop();
        deadlines.close();
        place.close();
    }
}
