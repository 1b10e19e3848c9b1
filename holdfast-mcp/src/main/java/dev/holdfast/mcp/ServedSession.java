package dev.holdfast.mcp;

import dev.holdfast.SessionName;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCalls;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolRelay;
import dev.holdfast.ToolSpec;
import io.helidon.http.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The tools of one session behind one token: JSON-RPC as MCP has it. Thread-safe; a request is served on its own thread. */
final class ServedSession implements ToolRelay.Offer {
    static final String SESSION_HEADER = "Mcp-Session-Id";

    private static final Logger LOG = LoggerFactory.getLogger(ServedSession.class);
    private static final List<String> VERSIONS = List.of("2025-11-25", "2025-06-18", "2025-03-26");
    private static final int CLIENTS_MAX = 16;
    private static final int PROGRESS_WAITING_MAX = 64;
    private static final int CALL_ID_MAX = 200;
    private static final int DEPTH_MAX = 400;
    private static final int METHOD_NOT_FOUND = -32_601;
    private static final int INVALID_REQUEST = -32_600;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(DEPTH_MAX)
                            .maxNumberLength(1_000)
                            .build())
                    .build())
            .build();

    private final SessionName session;
    private final ToolCalls calls;
    private final String url;
    private final Tokens tokens;
    private final String token;
    private final ToolServerLimits limits;
    private final Runnable gone;
    private final Set<String> names = new HashSet<>();
    private final ArrayNode listing = NODES.arrayNode();
    private final Set<String> clients = new LinkedHashSet<>();
    private final Map<String, OpenCall> open = new ConcurrentHashMap<>();
    private final String callPrefix;
    private final AtomicLong unnamed = new AtomicLong();
    private boolean closed;

    /** A call whose answer is awaited; what is to be written about it waits in its queue, the answer last. */
    private record OpenCall(String callId, LinkedBlockingQueue<Said> said) {
        sealed interface Said {}

        record Step(ToolProgress progress) implements Said {}

        record Answer(ToolAnswer answer) implements Said {}

        /** The agent wants no answer. */
        record Nothing() implements Said {}
    }

    ServedSession(
            SessionName session,
            List<ToolSpec> tools,
            ToolCalls calls,
            String url,
            Tokens tokens,
            ToolServerLimits limits,
            Runnable gone) {
        this.session = session;
        this.calls = calls;
        this.url = url;
        this.tokens = tokens;
        this.token = tokens.next();
        this.callPrefix = "call-" + tokens.next() + "-";
        this.limits = limits;
        this.gone = gone;
        for (ToolSpec tool : tools) {
            names.add(tool.name());
            ObjectNode entry = listing.addObject();
            entry.put("name", tool.name()).put("description", tool.description());
            entry.set("inputSchema", JSON.readTree(tool.inputSchema()));
            entry.putObject("annotations")
                    .put("readOnlyHint", tool.effects() == ToolEffects.READ)
                    .put("destructiveHint", tool.effects() == ToolEffects.DESTRUCTIVE);
        }
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public String token() {
        return token;
    }

    @Override
    public String toString() {
        return "the tools of session " + session + " at " + url;
    }

    // ---- messages -------------------------------------------------------------------------------------------------

    /** Takes one message and answers it. */
    void take(String body, String client, String version, HttpReply reply) {
        JsonNode message;
        try {
            message = JSON.readTree(body);
        } catch (JacksonException e) {
            reply.status(Status.BAD_REQUEST_400);
            return;
        }
        String method = message.path("method").asString("");
        JsonNode id = message.path("id");
        boolean known = version.isEmpty() || VERSIONS.contains(version);
        if (!message.isObject() || method.isEmpty() || !known || !(id.isMissingNode() || isId(id))) {
            reply.status(Status.BAD_REQUEST_400); // also answers to requests: there are none of ours
        } else if (method.equals("initialize")) {
            reply.header(SESSION_HEADER, newClient());
            reply.json(result(id, greeting(message.path("params"))));
        } else if (!client.isEmpty() && !isClient(client)) {
            reply.status(Status.NOT_FOUND_404); // it begins again
        } else if (id.isMissingNode()) {
            if (method.equals("notifications/cancelled")) {
                cancelled(key(client, message.path("params").path("requestId")));
            }
            reply.status(Status.ACCEPTED_202);
        } else {
            request(method, id, message.path("params"), client, reply);
        }
    }

    private static boolean isId(JsonNode id) {
        return id.isString() || id.isIntegralNumber();
    }

    private void request(String method, JsonNode id, JsonNode params, String client, HttpReply reply) {
        switch (method) {
            case "ping" -> reply.json(result(id, NODES.objectNode()));
            case "tools/list" -> reply.json(result(id, NODES.objectNode().set("tools", listing.deepCopy())));
            case "tools/call" -> call(id, params, client, reply);
            default -> reply.json(error(id, METHOD_NOT_FOUND, "there is no method of that name here"));
        }
    }

    private static ObjectNode greeting(JsonNode params) {
        String wanted = params.path("protocolVersion").asString("");
        ObjectNode result = NODES.objectNode();
        result.put("protocolVersion", VERSIONS.contains(wanted) ? wanted : VERSIONS.getFirst());
        result.putObject("capabilities").putObject("tools");
        result.putObject("serverInfo").put("name", "holdfast").put("version", "1");
        return result;
    }

    private synchronized String newClient() {
        String id = tokens.next();
        clients.add(id);
        if (clients.size() > CLIENTS_MAX) {
            clients.remove(clients.iterator().next());
        }
        return id;
    }

    private synchronized boolean isClient(String id) {
        return clients.contains(id);
    }

    /** That client is done. */
    synchronized void forget(String client) {
        clients.remove(client);
    }

    // ---- calls ----------------------------------------------------------------------------------------------------

    private static String key(String client, JsonNode id) {
        return client + " " + id;
    }

    private void call(JsonNode id, JsonNode params, String client, HttpReply reply) {
        String tool = params.path("name").asString("");
        if (!names.contains(tool)) {
            reply.json(result(id, Results.of(ToolAnswer.error("there is no tool of that name"))));
            return;
        }
        String named = params.path("_meta").path("claudecode/toolUseId").asString("");
        String key = key(client, id);
        var call = new OpenCall(
                named.isEmpty() || named.length() > CALL_ID_MAX ? callPrefix + unnamed.incrementAndGet() : named,
                new LinkedBlockingQueue<>());
        if (!begin(key, call)) {
            reply.json(
                    error(id, INVALID_REQUEST, "too many calls, or one of that id, are open; or the session is over"));
            return;
        }
        JsonNode progressToken = params.path("_meta").path("progressToken");
        boolean steps = isId(progressToken) && reply.streams();
        try {
            JsonNode input = params.path("arguments");
            calls.call(session, call.callId(), tool, input.isObject() ? input.toString() : "{}", step -> {
                        if (steps && call.said().size() < PROGRESS_WAITING_MAX) {
                            call.said().add(new OpenCall.Step(step));
                        }
                    })
                    .whenComplete(
                            (answer, failure) -> call.said().add(new OpenCall.Answer(answered(tool, answer, failure))));
            tell(id, progressToken, call, reply);
        } finally {
            open.remove(key);
        }
    }

    private ToolAnswer answered(String tool, @Nullable ToolAnswer answer, @Nullable Throwable failure) {
        if (answer != null) {
            return answer;
        }
        LOG.error("the call of tool {} of session {} has no answer", tool, session, failure);
        return ToolAnswer.error("the host failed; what the tool has done until then may have happened");
    }

    private synchronized boolean begin(String key, OpenCall call) {
        return !closed && open.size() < limits.calls() && open.putIfAbsent(key, call) == null;
    }

    private void tell(JsonNode id, JsonNode progressToken, OpenCall call, HttpReply reply) {
        boolean done = false;
        try {
            while (!done) {
                var said = call.said().poll(limits.keepAlive().toMillis(), TimeUnit.MILLISECONDS);
                done = said instanceof OpenCall.Answer || said instanceof OpenCall.Nothing;
                if (said == null && reply.streams()) {
                    reply.beat();
                } else if (said instanceof OpenCall.Step step) {
                    reply.event(progress(progressToken, step.progress()));
                } else if (said instanceof OpenCall.Answer answer && reply.streams()) {
                    reply.event(result(id, Results.of(answer.answer())));
                } else if (said instanceof OpenCall.Answer answer) {
                    reply.json(result(id, Results.of(answer.answer())));
                } else if (said instanceof OpenCall.Nothing && !reply.streams()) {
                    reply.json(error(id, INVALID_REQUEST, "the call was cancelled"));
                }
            }
            reply.end();
        } catch (IOException | UncheckedIOException e) { // the agent is gone
            LOG.debug("nobody waits any more for call {} of session {}", call.callId(), session, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (!done) {
                calls.withdraw(session, call.callId());
            }
        }
    }

    private void cancelled(String key) {
        var call = open.get(key);
        if (call != null) {
            calls.withdraw(session, call.callId());
            call.said().add(new OpenCall.Nothing());
        }
    }

    private static ObjectNode progress(JsonNode progressToken, ToolProgress step) {
        ObjectNode message = NODES.objectNode().put("jsonrpc", "2.0").put("method", "notifications/progress");
        ObjectNode params = message.putObject("params");
        params.set("progressToken", progressToken);
        params.put("progress", step.done());
        step.total().ifPresent(total -> params.put("total", total));
        if (!step.note().isEmpty()) {
            params.put("message", step.note());
        }
        return message;
    }

    private static ObjectNode result(JsonNode id, JsonNode result) {
        ObjectNode message = NODES.objectNode().put("jsonrpc", "2.0");
        message.set("id", id);
        message.set("result", result);
        return message;
    }

    private static ObjectNode error(JsonNode id, int code, String why) {
        ObjectNode message = NODES.objectNode().put("jsonrpc", "2.0");
        message.set("id", id);
        message.putObject("error").put("code", code).put("message", why);
        return message;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            clients.clear();
        }
        gone.run();
        for (OpenCall call : open.values()) {
            calls.withdraw(session, call.callId());
            call.said().add(new OpenCall.Answer(ToolAnswer.error("the session is over")));
        }
    }
}
