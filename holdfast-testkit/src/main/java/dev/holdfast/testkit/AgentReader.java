package dev.holdfast.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The reading thread of the agent: frames its input into lines and acts on each. It never runs a turn. */
final class AgentReader {
    private final AgentParts parts;

    AgentReader(AgentParts parts) {
        this.parts = parts;
    }

    /** Reads until the host closes the pipe. */
    void run() throws IOException {
        InputStream in = parts.machine.stdin();
        byte[] buffer = new byte[16 * 1024];
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            for (int at = 0; at < read; at++) {
                if (buffer[at] == '\n') {
                    accept(line.toString(StandardCharsets.UTF_8));
                    line.reset();
                    parts.faults.readingPermitted();
                } else {
                    line.write(buffer[at]);
                }
            }
        }
        if (line.size() > 0) {
            accept(line.toString(StandardCharsets.UTF_8));
        }
        parts.inbox.close();
        parts.host.close();
    }

    private void accept(String raw) {
        String text = raw.startsWith("\uFEFF") ? raw.substring(1).strip() : raw.strip();
        if (text.isEmpty()) {
            return;
        }
        Json line;
        try {
            line = Json.read(text);
        } catch (Json.Malformed e) {
            String shown = text.length() > 200 ? text.substring(0, 200) : text;
            die("Error parsing streaming input line: " + shown + ": SyntaxError: " + e.getMessage());
            return;
        }
        switch (line.text("type", "")) {
            case "user" -> message(line);
            case "control_request" -> control(line.text("request_id", ""), line.at("request"));
            case "control_response" -> answered(line);
            default -> {}
        }
    }

    private void die(String why) {
        parts.machine.complain(why);
        parts.record().flush();
        parts.machine.end(1);
    }

    private void answered(Json line) {
        parts.host.answered(line.at("response"));
        if (parts.flags.replays()) {
            parts.output.frame(line);
        }
    }

    private void message(Json line) {
        String role = line.at("message").text("role", "undefined");
        if (!role.equals("user")) {
            die("Error: Expected message role 'user', got '" + role + "'");
            return;
        }
        Json content = line.at("message").at("content");
        String uuid = line.text("uuid", "");
        if (!uuid.isEmpty() && (parts.inbox.received(uuid) || parts.memory().knows(uuid))) {
            repeated(uuid, content);
            return;
        }
        String priority = line.text("priority", "next");
        boolean query = !(line.at("shouldQuery") instanceof Json.Bool should && !should.value());
        String id = uuid.isEmpty() ? parts.machine.uuid() : uuid;
        Json.Obj note = Json.object()
                .with("type", "queue-operation")
                .with("operation", "enqueue")
                .with("timestamp", parts.machine.now())
                .with("sessionId", parts.sessionId());
        parts.memory().note(content instanceof Json.Str ? note.with("content", content) : note);
        boolean now = priority.equals("now");
        AgentInbox.Line read =
                new AgentInbox.Line(id, content, query, priority.equals("later"), now, parts.machine.millis());
        parts.inbox.put(read, () -> parts.lifecycle(uuid, "queued"));
        if (now && parts.isInTurn()) {
            Turn turn = parts.turn();
            turn.replaced = true;
            parts.host.abort(turn::abort);
        }
    }

    /** A message that is known already: acknowledged, and no turn ever starts for it. */
    private void repeated(String uuid, Json content) {
        boolean onlyQueued = parts.inbox.isWaiting(uuid);
        if (onlyQueued && !parts.has(AgentQuirk.FALSE_REPLAY)) {
            return;
        }
        parts.replay(uuid, content);
        if (!parts.inbox.received(uuid)) {
            parts.lifecycle(uuid, "completed");
        }
        parts.inbox.repeatIdle();
    }

    private void control(String requestId, Json request) {
        String subtype = request.text("subtype", "");
        for (Directive step : parts.scenario.control(subtype)) {
            if (step.is("ignore")) {
                return;
            }
            if (step.is("refuse")) {
                parts.output.frame(parts.frames.controlError(requestId, step.rest()));
                return;
            }
            parts.faults.perform(step, new Turn(0));
        }
        switch (subtype) {
            case "initialize" -> initialize(requestId, request);
            case "interrupt" -> interrupt(requestId);
            case "mcp_status" -> succeed(requestId, Json.object().with("mcpServers", parts.servers()));
            case "set_model" -> {
                parts.model(request.text("model", parts.model()));
                parts.replay(parts.machine.uuid(), new Json.Str(LocalCommand.output("Set model to " + parts.model())));
                succeed(requestId, Json.Nil.NIL);
            }
            case "set_permission_mode" ->
                succeed(requestId, Json.object().with("mode", request.text("mode", "default")));
            case "get_context_usage" ->
                succeed(requestId, Json.object().with("totalTokens", 10).with("maxTokens", 200_000));
            case "cancel_async_message" ->
                succeed(
                        requestId,
                        Json.object().with("cancelled", parts.inbox.withdraw(request.text("message_uuid", ""))));
            case "mcp_message" -> succeed(requestId, Json.Nil.NIL); // progress of a call, which nobody sees here
            case "end_session" -> {
                succeed(requestId, Json.Nil.NIL);
                parts.exit(0);
            }
            default ->
                parts.output.frame(
                        parts.frames.controlError(requestId, "Unsupported control request subtype: " + subtype));
        }
    }

    private void succeed(String requestId, Json response) {
        parts.output.frame(parts.frames.controlSuccess(requestId, response));
    }

    private void initialize(String requestId, Json request) {
        parts.hooks.register(request.at("hooks"));
        Json pending = parts.host.pendingPermissions();
        Json.Obj answer = parts.frames.controlSuccess(requestId, initialized());
        if (!pending.list().isEmpty() && answer.at("response") instanceof Json.Obj envelope) {
            envelope.with("pending_permission_requests", pending);
        }
        parts.output.frame(answer);
    }

    private Json initialized() {
        Json command =
                Json.object().with("name", "compact").with("description", "").with("argumentHint", "");
        return Json.object()
                .with("commands", Json.array().add(command))
                .with("agents", Json.array())
                .with("output_style", "default")
                .with("models", Json.array())
                .with("account", Json.object().with("apiProvider", "firstParty"))
                .with("pid", parts.machine.pid());
    }

    private void interrupt(String requestId) {
        if (parts.faults.ignoresInterrupt()) {
            return;
        }
        List<String> queued = new ArrayList<>(parts.inbox.waitingUuids());
        Json receipt =
                parts.has(AgentQuirk.RECEIPTS) ? Json.object().with("still_queued", Json.texts(queued)) : Json.Nil.NIL;
        parts.host.abort(() -> {
            succeed(requestId, receipt);
            parts.abort();
        });
    }
}
