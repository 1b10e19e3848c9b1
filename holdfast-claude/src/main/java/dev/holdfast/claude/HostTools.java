package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the agent asks us over its control channel: to be the tool server {@code host} (TL-02), and whether it may use a
 * tool. Every request is answered exactly once; a request nobody understands is answered with an error at once, since
 * silence would hang the turn (HS-18). Calls are answered whenever their answer comes, in any order (TL-09). Not
 * thread-safe: its owner calls it under its lock.
 */
final class HostTools {
    /** The name of the tool server this host is. */
    static final String SERVER = "host";

    /** What the agent puts before the name of a host tool. */
    static final String PREFIX = "mcp__" + SERVER + "__";

    private static final int REQUESTS_REMEMBERED = 1_024;
    private static final int ANSWERS_REMEMBERED = 64;
    private static final int METHOD_NOT_FOUND = -32_601;

    /** Somebody who waits for a call's answer. */
    private sealed interface Waiter {}

    /**
     * One request on the wire.
     *
     * @param progressToken what it wants to be told of progress by; missing when it does not
     */
    private record OnWire(String requestId, JsonNode rpcId, JsonNode progressToken) implements Waiter {}

    /** A call that came over HTTP. */
    private record OverHttp(CompletableFuture<ToolAnswer> answer, Consumer<ToolProgress> progress) implements Waiter {}

    private final StreamJson codec;
    private final Consumer<String> urgentWriter;
    private final Consumer<Report> reports;
    private final Set<String> names;
    private final Set<String> builtins;
    private final UserDesk users;
    private final @Nullable GuardDesk guard;
    private final ArrayNode listing = StreamJson.NODES.arrayNode();
    private final ControlChannel.Recent<Boolean> requests = new ControlChannel.Recent<>(REQUESTS_REMEMBERED);
    private final ControlChannel.Recent<ToolAnswer> answers = new ControlChannel.Recent<>(ANSWERS_REMEMBERED);
    private final Map<String, List<Waiter>> calls = new LinkedHashMap<>();
    private long unnamed;
    private boolean open;

    /** @param guard who is asked about the agent's own tools; null where they are not guarded */
    HostTools(
            StreamJson codec,
            List<ToolSpec> tools,
            Set<String> builtins,
            UserDesk users,
            @Nullable GuardDesk guard,
            Consumer<String> urgentWriter,
            Consumer<Report> reports) {
        this.codec = codec;
        this.builtins = builtins;
        this.users = users;
        this.guard = guard;
        this.urgentWriter = urgentWriter;
        this.reports = reports;
        this.names = new LinkedHashSet<>();
        for (ToolSpec tool : tools) {
            names.add(tool.name());
            ObjectNode entry = listing.addObject();
            entry.put("name", tool.name()).put("description", tool.description());
            entry.set("inputSchema", codec.tree(tool.inputSchema()).orElseThrow(() -> badSchema(tool)));
            entry.putObject("annotations")
                    .put("readOnlyHint", tool.effects() == ToolEffects.READ)
                    .put("destructiveHint", tool.effects() == ToolEffects.DESTRUCTIVE);
        }
    }

    private static IllegalArgumentException badSchema(ToolSpec tool) {
        return new IllegalArgumentException(
                "the input schema of tool '" + tool.name() + "' is not a JSON object; correct it");
    }

    /** The names of the tools as the agent must list them. */
    Set<String> listed() {
        var all = new LinkedHashSet<String>();
        names.forEach(name -> all.add(PREFIX + name));
        all.addAll(builtins);
        return all;
    }

    /** From now on calls are taken; before it, every call is refused (TL-01). */
    void open() {
        open = true;
        users.open();
    }

    /** Calls whose answers are still awaited. */
    Set<String> running() {
        return Set.copyOf(calls.keySet());
    }

    /** Answers the request, or begins to. A request whose id was seen before is left alone. */
    void requested(Frame.ControlRequest request) {
        if (requests.contains(request.id())) {
            return;
        }
        requests.put(request.id(), true);
        switch (request.subtype()) {
            case "mcp_message" -> message(request);
            case "can_use_tool" -> permission(request);
            case "hook_callback" -> {
                if (guard != null && GuardDesk.asks(request.request())) {
                    guard.hook(request);
                } else {
                    users.hook(request);
                }
            }
            default -> {
                urgentWriter.accept(codec.controlError(
                        request.id(), "this host does not support '" + request.subtype() + "' requests"));
                reports.accept(new Report.Noticed("request_refused", request.subtype()));
            }
        }
    }

    /** The agent withdrew a request: nothing is sent for it any more. */
    void cancelled(String requestId) {
        for (var call : List.copyOf(calls.entrySet())) {
            if (call.getValue()
                            .removeIf(waiter -> waiter instanceof OnWire wire
                                    && wire.requestId().equals(requestId))
                    && call.getValue().isEmpty()) {
                withdrawn(call.getKey());
            }
        }
    }

    /** Gives a call's answer to everyone who waits for it; an answer to a call nobody waits for is dropped. */
    void answer(String callId, ToolAnswer answer) {
        List<Waiter> waiters = calls.remove(callId);
        if (waiters == null) {
            return;
        }
        answers.put(callId, answer);
        waiters.forEach(waiter -> reply(waiter, answer));
    }

    /** What says to those who wait for the call, and asked for it, how far it is: one message of the tool server each. */
    List<ObjectNode> progress(ToolProgress progress) {
        var messages = new ArrayList<ObjectNode>();
        for (Waiter waiter : calls.getOrDefault(progress.callId(), List.of())) {
            if (waiter instanceof OverHttp http) {
                http.progress().accept(progress);
            } else if (waiter instanceof OnWire wire
                    && (wire.progressToken().isString() || wire.progressToken().isNumber())) {
                ObjectNode request = ControlChannel.request("mcp_message").put("server_name", SERVER);
                ObjectNode notice = request.putObject("message");
                notice.put("jsonrpc", "2.0").put("method", "notifications/progress");
                ObjectNode params = notice.putObject("params");
                params.set("progressToken", wire.progressToken());
                params.put("progress", progress.done());
                progress.total().ifPresent(total -> params.put("total", total));
                if (!progress.note().isEmpty()) {
                    params.put("message", progress.note());
                }
                messages.add(request);
            }
        }
        return messages;
    }

    /** Withdraws every call: the agent is gone. */
    void close() {
        open = false;
        List.copyOf(calls.keySet()).forEach(this::withdrawn);
    }

    private void withdrawn(String callId) {
        for (Waiter waiter : calls.getOrDefault(callId, List.of())) {
            if (waiter instanceof OverHttp http) {
                http.answer().complete(ToolAnswer.error("the call is over"));
            }
        }
        calls.remove(callId);
        reports.accept(new Report.CallWithdrawn(callId));
    }

    private void message(Frame.ControlRequest request) {
        String server = StreamJson.text(request.request(), "server_name");
        JsonNode message = request.request().path("message");
        if (!server.equals(SERVER)) {
            urgentWriter.accept(codec.controlError(request.id(), "there is no tool server '" + server + "' here"));
            return;
        }
        JsonNode rpcId = message.path("id");
        String method = StreamJson.text(message, "method");
        switch (method) {
            case "initialize" -> result(request.id(), rpcId, greeting(message.path("params")));
            case "ping" -> result(request.id(), rpcId, StreamJson.NODES.objectNode());
            case "tools/list" ->
                result(request.id(), rpcId, StreamJson.NODES.objectNode().set("tools", listing.deepCopy()));
            case "tools/call" -> call(request.id(), rpcId, message.path("params"));
            case "notifications/cancelled" -> {
                result(request.id(), MissingNode.getInstance(), StreamJson.NODES.objectNode());
                notWanted(message.path("params").path("requestId"));
            }
            default -> {
                if (rpcId.isMissingNode()) {
                    result(request.id(), rpcId, StreamJson.NODES.objectNode());
                } else {
                    methodNotFound(request.id(), rpcId, method);
                }
            }
        }
    }

    private static ObjectNode greeting(JsonNode params) {
        ObjectNode result = StreamJson.NODES.objectNode();
        result.put("protocolVersion", StreamJson.text(params, "protocolVersion"));
        result.putObject("capabilities").putObject("tools");
        result.putObject("serverInfo").put("name", SERVER).put("version", "1");
        return result;
    }

    private void call(String requestId, JsonNode rpcId, JsonNode params) {
        String tool = StreamJson.text(params, "name");
        var waiter = new OnWire(requestId, rpcId, params.path("_meta").path("progressToken"));
        if (!open) {
            reply(waiter, ToolAnswer.error("this session takes no calls now"));
            return;
        }
        if (!names.contains(tool)) {
            reply(waiter, ToolAnswer.error("there is no tool '" + tool + "'"));
            return;
        }
        String useId = StreamJson.text(params.path("_meta"), "claudecode/toolUseId");
        JsonNode input = params.path("arguments");
        take(waiter, useId.isEmpty() ? "call-" + ++unnamed : useId, tool, input.isObject() ? codec.write(input) : "{}");
    }

    /** A call that came over HTTP; its answer completes the future, and cancelling that does nothing. */
    CompletableFuture<ToolAnswer> overHttp(String callId, String tool, String input, Consumer<ToolProgress> progress) {
        var waiter = new OverHttp(new CompletableFuture<>(), progress);
        if (!open) {
            waiter.answer().complete(ToolAnswer.error("this session takes no calls now"));
        } else {
            take(waiter, callId, tool, input);
        }
        return waiter.answer();
    }

    private void take(Waiter waiter, String callId, String tool, String input) {
        if (answers.contains(callId)) {
            reply(waiter, answers.getOrDefault(callId, ToolAnswer.error("the answer is gone")));
            return;
        }
        List<Waiter> waiters = calls.get(callId);
        if (waiters != null) {
            waiters.add(waiter);
            return;
        }
        calls.put(callId, new ArrayList<>(List.of(waiter)));
        reports.accept(new Report.CallRequested(callId, tool, input));
    }

    /** Nobody waits any more for a call that came over HTTP. */
    void leftOverHttp(String callId) {
        List<Waiter> waiters = calls.getOrDefault(callId, List.of());
        for (Waiter waiter : List.copyOf(waiters)) {
            if (waiter instanceof OverHttp http) {
                waiters.remove(waiter);
                http.answer().complete(ToolAnswer.error("the call is over"));
            }
        }
        if (calls.containsKey(callId) && waiters.isEmpty()) {
            withdrawn(callId);
        }
    }

    private void notWanted(JsonNode rpcId) {
        for (var call : List.copyOf(calls.entrySet())) {
            List<Waiter> gone = new ArrayList<>(call.getValue());
            gone.removeIf(
                    waiter -> !(waiter instanceof OnWire wire && wire.rpcId().equals(rpcId)));
            call.getValue().removeAll(gone);
            gone.forEach(waiter -> reply(waiter, ToolAnswer.error("the call was cancelled")));
            if (call.getValue().isEmpty()) {
                withdrawn(call.getKey());
            }
        }
    }

    /** A tool that is bound may be used, unless somebody is there to be asked; any other may not. */
    private void permission(Frame.ControlRequest request) {
        String tool = GuardDesk.boundName(StreamJson.text(request.request(), "tool_name"), listed());
        if (!listed().contains(tool)) {
            String why = "The tool '" + tool + "' is not bound to this session.";
            urgentWriter.accept(codec.controlSuccess(request.id(), HookShapes.refused(why, false)));
            reports.accept(new Report.Noticed("tool_denied", tool));
        } else if (guard != null && builtins.contains(tool)) {
            guard.permission(request);
        } else if (!users.permission(request)) {
            ObjectNode allowed = HookShapes.allowed(request.request().path("input"));
            urgentWriter.accept(codec.controlSuccess(request.id(), allowed));
        }
    }

    private void reply(Waiter waiter, ToolAnswer answer) {
        switch (waiter) {
            case OnWire wire -> reply(wire, answer);
            case OverHttp http -> http.answer().complete(answer);
        }
    }

    private void reply(OnWire waiter, ToolAnswer answer) {
        ObjectNode result = StreamJson.NODES.objectNode();
        ArrayNode content = result.putArray("content");
        for (ToolAnswer.Block block : answer.blocks()) {
            switch (block) {
                case ToolAnswer.Text text -> StreamJson.addText(content, text.text());
                case ToolAnswer.Image image ->
                    content.addObject()
                            .put("type", "image")
                            .put("mimeType", image.mimeType())
                            .put("data", image.data());
            }
        }
        answer.structured().flatMap(codec::tree).ifPresent(tree -> result.set("structuredContent", tree));
        if (answer.error()) {
            result.put("isError", true);
        }
        result(waiter.requestId(), waiter.rpcId(), result);
    }

    private void result(String requestId, JsonNode rpcId, JsonNode result) {
        ObjectNode rpc = rpc(rpcId);
        rpc.set("result", result);
        respond(requestId, rpc);
    }

    private void methodNotFound(String requestId, JsonNode rpcId, String method) {
        ObjectNode rpc = rpc(rpcId);
        rpc.putObject("error").put("code", METHOD_NOT_FOUND).put("message", "unknown method " + method);
        respond(requestId, rpc);
    }

    private static ObjectNode rpc(JsonNode rpcId) {
        ObjectNode rpc = StreamJson.NODES.objectNode().put("jsonrpc", "2.0");
        if (!rpcId.isMissingNode()) {
            rpc.set("id", rpcId);
        }
        return rpc;
    }

    private void respond(String requestId, ObjectNode rpc) {
        ObjectNode response = StreamJson.NODES.objectNode();
        response.set("mcp_response", rpc);
        urgentWriter.accept(codec.controlSuccess(requestId, response));
    }
}
