package dev.holdfast.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * One call to the scripted model within a turn: logs what the model is shown, carries out its plan and prints the
 * answer as it streams. Used once, by the turn thread.
 */
final class ModelCall {
    /** A tool call that the model made. */
    record Call(String id, String tool, Json input, String entryUuid) {}

    /** How the call ended. */
    enum End {
        ANSWERED,
        CALLS_TOOLS,
        ABORTED,
        FAILED
    }

    private record Piece(String uuid, Json block) {}

    private final AgentParts parts;
    private final Turn turn;
    private final String messageId;
    private final List<Piece> pieces = new ArrayList<>();
    private final List<Call> calls = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private boolean started;
    private boolean textOpen;
    private int index;

    ModelCall(AgentParts parts, Turn turn) {
        this.parts = parts;
        this.turn = turn;
        this.messageId = "msg_" + parts.machine.uuid().substring(0, 8);
    }

    List<Call> calls() {
        return calls;
    }

    End run() {
        if (parts.flags.streams()) {
            Json.Obj frame = parts.frames.system("status", parts.sessionId()).with("status", "requesting");
            parts.output.frame(frame);
        }
        if (turn.isAborted()) {
            return aborted();
        }
        Json.Arr shown = parts.memory().messages();
        log(shown);
        Conversation conversation = Conversation.of(Json.object().with("messages", shown));
        List<String> words = ScriptedModel.deciding(conversation);
        ScriptedModel.Plan plan = ScriptedModel.next(conversation, parts.scenario.inTurn(turn.number(), words));
        turn.modelCalls++;
        for (Directive step : plan.steps()) {
            boolean failed = perform(step);
            if (failed) {
                return End.FAILED;
            }
            if (turn.isAborted()) {
                return aborted();
            }
        }
        if (!plan.answer().isEmpty()) {
            say(plan.answer());
        }
        return finish();
    }

    private boolean perform(Directive step) {
        switch (step.name()) {
            case "say" -> say(step.rest());
            case "tool", "tool+" -> call(step);
            case "error" -> {
                return fail(step);
            }
            case "compact" -> new LocalCommands(parts).compactByItself();
            case "spend" -> parts.ledger.oneCall();
            default -> parts.faults.perform(step, turn);
        }
        return false;
    }

    private void log(Json.Arr shown) {
        String file = parts.machine.setting("MODEL_LOG");
        if (file.isEmpty()) {
            return;
        }
        String line = Json.object()
                        .with("model", parts.model())
                        .with("session_id", parts.sessionId())
                        .with("pid", parts.machine.pid())
                        .with("tools", Json.texts(parts.tools()))
                        .with("messages", shown)
                        .write()
                + "\n";
        try (OutputStream out =
                Files.newOutputStream(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            out.write(line.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the model log " + file, e);
        }
    }

    private void start() {
        if (started) {
            return;
        }
        started = true;
        if (parts.flags.streams() && !parts.has(AgentQuirk.LATE_REPLAY)) {
            land(parts, turn);
        }
        Json message =
                parts.frames.message(messageId, parts.model(), Json.array(), Json.Nil.NIL, AgentFrames.usage(10, 1));
        event(Json.object().with("type", "message_start").with("message", message));
    }

    /** Acknowledges the turn's message, once: from now on the host may count on it. */
    static void land(AgentParts parts, Turn turn) {
        if (turn.landed) {
            return;
        }
        turn.landed = true;
        if (!parts.has(AgentQuirk.LATE_RECORD) && parts.record().isBegun()) {
            parts.record().flush();
        }
        parts.faults.pointReached("before-landing", turn);
        parts.replay(turn.landingUuid, turn.landingContent);
        parts.faults.pointReached("landing", turn);
    }

    /** Prints an event of the model's stream, when the host wants them. */
    private void event(Json event) {
        if (parts.flags.streams()) {
            parts.output.frame(parts.frames.stream(event, parts.sessionId()));
        }
    }

    private void say(String words) {
        start();
        if (!textOpen) {
            textOpen = true;
            event(blockStart(AgentMemory.text("")));
        }
        int half = Math.max(1, words.length() / 2);
        if (half < words.length() && Character.isLowSurrogate(words.charAt(half))) {
            half++;
        }
        delta(words.substring(0, Math.min(half, words.length())));
        delta(words.substring(Math.min(half, words.length())));
        text.append(words);
    }

    private void delta(String words) {
        if (!words.isEmpty()) {
            Json delta = Json.object().with("type", "text_delta").with("text", words);
            event(Json.object()
                    .with("type", "content_block_delta")
                    .with("index", index)
                    .with("delta", delta));
        }
    }

    private Json blockStart(Json block) {
        return Json.object()
                .with("type", "content_block_start")
                .with("index", index)
                .with("content_block", block);
    }

    private void closeText() {
        if (textOpen) {
            textOpen = false;
            turn.text = text.toString();
            piece(AgentMemory.text(turn.text), Json.object());
            text.setLength(0);
        }
    }

    private void piece(Json block, Json.Obj extra) {
        Piece piece = new Piece(parts.machine.uuid(), block);
        pieces.add(piece);
        land(parts, turn);
        Json message = parts.frames.message(
                messageId, parts.model(), Json.array().add(block), Json.Nil.NIL, AgentFrames.usage(10, 1));
        Json.Obj frame = parts.frames.assistant(piece.uuid(), message, parts.sessionId());
        extra.members().forEach(frame::with);
        addUuids(frame);
        parts.output.frame(frame);
        event(Json.object().with("type", "content_block_stop").with("index", index++));
    }

    private void addUuids(Json.Obj frame) {
        if (parts.has(AgentQuirk.LIFECYCLE) && turn.modelCalls == 1 && pieces.size() == 1 && !turn.uuids.isEmpty()) {
            frame.with("user_message_uuid", turn.uuids.getLast()).with("user_message_uuids", Json.texts(turn.uuids));
        }
    }

    private void call(Directive step) {
        start();
        closeText();
        String id = "toolu_" + parts.machine.uuid().substring(0, 8);
        String arguments = step.afterWord().isEmpty() ? "{}" : step.afterWord();
        Json input = Json.read(arguments);
        event(blockStart(Json.object()
                .with("type", "tool_use")
                .with("id", id)
                .with("name", step.word())
                .with("input", Json.object())));
        Json delta = Json.object().with("type", "input_json_delta").with("partial_json", arguments);
        event(Json.object()
                .with("type", "content_block_delta")
                .with("index", index)
                .with("delta", delta));
        Json block = Json.object()
                .with("type", "tool_use")
                .with("id", id)
                .with("name", step.word())
                .with("input", input);
        piece(block, meta(id, step.word()));
        calls.add(new Call(id, step.word(), input, pieces.getLast().uuid()));
    }

    private static Json.Obj meta(String id, String tool) {
        if (!tool.startsWith("mcp__")) {
            return Json.object();
        }
        int behindServer = tool.indexOf("__", 5);
        String server = behindServer < 0 ? "" : tool.substring(5, behindServer);
        Json one = Json.object()
                .with("id", id)
                .with("display_name", tool.substring(tool.lastIndexOf("__") + 2))
                .with("server_display_name", server);
        return Json.object().with("tool_use_meta", Json.array().add(one));
    }

    private End finish() {
        start();
        closeText();
        String reason = calls.isEmpty() ? "end_turn" : "tool_use";
        turn.stopReason = reason;
        event(Json.object()
                .with("type", "message_delta")
                .with("delta", Json.object().with("stop_reason", reason).with("stop_sequence", Json.Nil.NIL))
                .with("usage", Json.object().with("output_tokens", AgentLedger.OUTPUT_PER_CALL)));
        event(Json.object().with("type", "message_stop"));
        write(new Json.Str(reason));
        parts.ledger.oneCall();
        turn.inputTokens += AgentLedger.INPUT_PER_CALL;
        turn.outputTokens += AgentLedger.OUTPUT_PER_CALL;
        return calls.isEmpty() ? End.ANSWERED : End.CALLS_TOOLS;
    }

    private void write(Json stopReason) {
        Json usage = AgentFrames.usage(AgentLedger.INPUT_PER_CALL, AgentLedger.OUTPUT_PER_CALL);
        for (Piece piece : pieces) {
            Json.Obj message =
                    parts.frames.message(messageId, parts.model(), Json.array().add(piece.block()), stopReason, usage);
            parts.memory().assistant(piece.uuid(), message);
        }
    }

    /** The turn was aborted: what was said so far stands, without a stop reason. Open calls vanish with it. */
    private End aborted() {
        land(parts, turn);
        if (textOpen) {
            textOpen = false;
            turn.text = text.toString();
            Json block = AgentMemory.text(turn.text);
            Piece piece = new Piece(parts.machine.uuid(), block);
            pieces.add(piece);
            Json message = parts.frames.message(
                    messageId, parts.model(), Json.array().add(block), Json.Nil.NIL, AgentFrames.usage(10, 1));
            Json.Obj frame = parts.frames.assistant(piece.uuid(), message, parts.sessionId());
            if (parts.has(AgentQuirk.LIFECYCLE)) {
                frame.with("aborted", true);
            }
            parts.output.frame(frame);
        }
        if (started && parts.has(AgentQuirk.STREAM_ENDS_AFTER_ABORT)) {
            turn.streamIndex = index;
            parts.ledger.partOfACall();
        }
        calls.clear();
        pieces.removeIf(piece -> piece.block().text("type", "").equals("tool_use"));
        write(Json.Nil.NIL);
        turn.stopReason = "";
        return End.ABORTED;
    }

    /** {@code [[error STATUS [TIMES]]]}: fails so often, or for good. True when the call has failed for good. */
    private boolean fail(Directive step) {
        long status = step.number(500);
        String word = step.afterWord();
        long times = word.isEmpty() ? Long.MAX_VALUE : Long.parseLong(word);
        boolean retried = status == 401 || status == 408 || status == 429 || status >= 500;
        long delay = 500;
        for (int attempt = 1; retried && attempt <= 10; attempt++) {
            if (attempt > times) {
                return false;
            }
            parts.output.frame(parts.frames
                    .system("api_retry", parts.sessionId())
                    .with("attempt", attempt)
                    .with("max_retries", 10)
                    .with("retry_delay_ms", delay)
                    .with("error_status", status)
                    .with("error", errorName(status)));
            turn.sleep(parts.machine, delay);
            if (turn.isAborted()) {
                return false;
            }
            delay = Math.min(delay * 2, 32_000);
        }
        failed(status);
        return true;
    }

    private void failed(long status) {
        land(parts, turn);
        turn.apiStatus = status;
        turn.apiError = "API Error: " + status + " scripted error";
        turn.stopReason = "stop_sequence";
        Json block = AgentMemory.text(turn.apiError);
        String uuid = parts.machine.uuid();
        Json message = parts.frames.message(
                parts.machine.uuid(),
                "<synthetic>",
                Json.array().add(block),
                new Json.Str("stop_sequence"),
                AgentFrames.usage(0, 0));
        Json.Obj frame =
                parts.frames.assistant(uuid, message, parts.sessionId()).with("error", errorName(status));
        if (parts.has(AgentQuirk.API_ERROR_REASON)) {
            frame.with("is_api_error_message", true).with("api_error_status", status);
        }
        parts.output.frame(frame);
        parts.memory().synthetic(uuid, block, true);
    }

    private static String errorName(long status) {
        return switch ((int) status) {
            case 401, 403 -> "authentication_failed";
            case 402 -> "billing_error";
            case 404 -> "model_not_found";
            case 429 -> "rate_limit";
            case 529 -> "overloaded";
            default -> status >= 500 ? "server_error" : "unknown";
        };
    }
}
