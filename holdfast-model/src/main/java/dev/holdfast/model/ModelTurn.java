package dev.holdfast.model;

import dev.holdfast.Beat;
import dev.holdfast.Skill;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolOutcome;
import dev.holdfast.ToolSpec;
import dev.holdfast.Turn;
import dev.holdfast.TurnEvent;
import dev.holdfast.TurnMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** One turn of a model loop. Runs on the turn's thread; steers come from others, and {@code steers} is their lock. */
final class ModelTurn {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration WAIT_MAX = Duration.ofMinutes(1);

    private final Turn turn;
    private final ModelLoop.Setup setup;
    private final MessagesApi api;
    private final ArrayNode messages = JSON.createArrayNode();
    private final List<TurnMessage> steers = new ArrayList<>();
    private boolean closed;

    ModelTurn(Turn turn, ModelLoop.Setup setup, MessagesApi api) {
        this.turn = turn;
        this.setup = setup;
        this.api = api;
    }

    void run() throws InterruptedException {
        beat(Beat.UNDERSTANDING);
        turn.messages().forEach(this::add);
        turn.onSteer(this::land);
        int steps = Math.min(setup.maxSteps(), turn.options().maxTurns().orElse(Integer.MAX_VALUE));
        beat(Beat.PLANNING);
        for (int step = 0; step < steps; step++) {
            var answer = ask();
            if (answer.failed() || turn.cancel().isCancelled()) {
                return;
            }
            messages.add(answer.message());
            boolean goesOn = answer.stop().equals("pause_turn");
            if (!answer.calls().isEmpty()) {
                messages.add(call(answer.calls()));
            } else if (!goesOn && !steered()) {
                end(answer);
                return;
            }
        }
        close();
        turn.emit(new TurnEvent.Failure(
                TurnEvent.Cause.TURN_LIMIT, "the model was asked " + steps + " times and did not come to an end"));
    }

    private void end(ModelAnswer answer) {
        switch (answer.stop()) {
            case "refusal" -> turn.emit(new TurnEvent.Failure(TurnEvent.Cause.FAILED, "the model refused to answer"));
            case "max_tokens" -> {
                turn.emit(new TurnEvent.Notice(
                        "the answer was cut: it reached the " + setup.maxTokens() + " tokens it may have"));
                beat(Beat.FINISHING);
            }
            default -> beat(Beat.FINISHING);
        }
    }

    // ---- steers ---------------------------------------------------------------------------------------------------

    /** True while the model will be asked at least once more, which it is for the sake of a steer alone. */
    private boolean land(TurnMessage message) {
        synchronized (steers) {
            if (!closed) {
                steers.add(message);
            }
            return !closed;
        }
    }

    /** Whether steers came while the model gave its last answer: they are asked then, else none lands any more. */
    private boolean steered() {
        synchronized (steers) {
            closed = steers.isEmpty();
            return !closed;
        }
    }

    private void close() {
        synchronized (steers) {
            closed = true;
        }
    }

    private void takeSteers() {
        synchronized (steers) {
            steers.forEach(this::add);
            steers.clear();
        }
    }

    // ---- the model ------------------------------------------------------------------------------------------------

    /** Its next answer; on failure the turn's end was said. */
    private ModelAnswer ask() throws InterruptedException {
        takeSteers();
        var wait = setup.firstWait();
        for (int tries = 0; ; tries++) {
            var answer = new ModelAnswer(turn);
            try {
                api.stream(body(), turn.cancel(), answer::take);
                return answer;
            } catch (ApiFailure e) {
                boolean again = e.again() && !answer.begun() && tries < setup.retries();
                if (turn.cancel().isCancelled()) {
                    return ModelAnswer.failure(turn);
                }
                if (!again) {
                    close();
                    turn.emit(new TurnEvent.Failure(
                            e.fatal() ? TurnEvent.Cause.FATAL : TurnEvent.Cause.FAILED,
                            String.valueOf(e.getMessage())));
                    return ModelAnswer.failure(turn);
                }
                turn.emit(new TurnEvent.Notice("the request is sent again: " + e.getMessage()));
                pause(e.asked().orElse(wait));
                wait = wait.multipliedBy(2);
            }
        }
    }

    @SuppressWarnings("try") // what takes the cancel back is only closed
    private void pause(Duration wait) throws InterruptedException {
        var cancelled = new CountDownLatch(1);
        try (var unused = turn.cancel().onCancel(cancelled::countDown)) {
            var most = wait.compareTo(WAIT_MAX) > 0 ? WAIT_MAX : wait;
            var unusedToo = cancelled.await(most.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private ObjectNode body() {
        var body = JSON.createObjectNode()
                .put("model", setup.model())
                .put("max_tokens", setup.maxTokens())
                .put("stream", true);
        setup.effort()
                .ifPresent(e ->
                        body.putObject("output_config").put("effort", e.name().toLowerCase(java.util.Locale.ROOT)));
        var system = system();
        if (!system.isEmpty()) {
            body.put("system", system);
        }
        var specs = turn.tools().list();
        if (!specs.isEmpty()) {
            var tools = body.putArray("tools");
            for (ToolSpec spec : specs) {
                tools.addObject()
                        .put("name", spec.name())
                        .put("description", spec.description())
                        .set("input_schema", JSON.readTree(spec.inputSchema()));
            }
        }
        body.set("messages", messages.deepCopy());
        return body;
    }

    private String system() {
        var text = new StringBuilder(turn.brief());
        for (Skill skill : turn.skills()) {
            text.append(text.isEmpty() ? "" : "\n\n")
                    .append("Skill ")
                    .append(skill.name())
                    .append(" (")
                    .append(skill.description())
                    .append("):\n")
                    .append(skill.instructions());
        }
        return text.toString();
    }

    // ---- what it is shown -----------------------------------------------------------------------------------------

    /** A sender's words stand unchanged in a block of their own; the block behind them says whose they are. */
    private void add(TurnMessage message) {
        switch (message.role()) {
            case AGENT -> {
                var text = message.text().isBlank() ? "(no words)" : message.text();
                text(messages.addObject().put("role", "assistant").putArray("content"), text);
            }
            case SENDER -> {
                var content = messages.addObject().put("role", "user").putArray("content");
                text(content, message.text());
                text(content, "[holdfast] message from " + message.author());
            }
            case HOST -> text(messages.addObject().put("role", "user").putArray("content"), message.text());
        }
    }

    private static void text(ArrayNode content, String text) {
        content.addObject().put("type", "text").put("text", text);
    }

    // ---- tools ----------------------------------------------------------------------------------------------------

    /** Runs them all at once and gives their results in the order of the calls. */
    private ObjectNode call(List<ModelAnswer.Call> calls) {
        beat(Beat.BUILDING);
        var running = calls.stream().map(this::begin).toList();
        var message = JSON.createObjectNode().put("role", "user");
        var content = message.putArray("content");
        for (int i = 0; i < running.size(); i++) {
            var outcome = running.get(i).join();
            content.add(result(calls.get(i).id(), outcome));
        }
        beat(Beat.CHECKING);
        return message;
    }

    private static ObjectNode result(String id, ToolOutcome outcome) {
        var result = JSON.createObjectNode()
                .put("type", "tool_result")
                .put("tool_use_id", id)
                .put("is_error", outcome.error());
        if (outcome instanceof ToolOutcome.Ok ok && !ok.answer().error()) {
            blocks(result, ok.answer());
        } else {
            result.put("content", outcome.text()); // an error is words
        }
        return result;
    }

    /** Structured data is words of its own to a model, unless the answer says the same already. */
    private static void blocks(ObjectNode result, ToolAnswer answer) {
        boolean images = answer.blocks().stream().anyMatch(ToolAnswer.Image.class::isInstance);
        var data = answer.structured().filter(d -> !answer.text().contains(d));
        if (!images && data.isEmpty()) {
            result.put("content", answer.text());
            return;
        }
        var content = result.putArray("content");
        for (ToolAnswer.Block block : answer.blocks()) {
            switch (block) {
                case ToolAnswer.Text words -> {
                    if (!words.text().isBlank()) { // the API refuses an empty block
                        text(content, words.text());
                    }
                }
                case ToolAnswer.Image image ->
                    content.addObject()
                            .put("type", "image")
                            .putObject("source")
                            .put("type", "base64")
                            .put("media_type", image.mimeType())
                            .put("data", image.data());
            }
        }
        data.ifPresent(d -> text(content, d));
    }

    private CompletableFuture<ToolOutcome> begin(ModelAnswer.Call call) {
        return call.broken()
                ? CompletableFuture.completedFuture(new ToolOutcome.Failed("the input of the call is no JSON object"))
                : turn.tools().callAsync(call.name(), call.input()).toCompletableFuture();
    }

    private void beat(Beat beat) {
        turn.emit(new TurnEvent.Status(beat));
    }
}
