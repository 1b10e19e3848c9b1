package dev.holdfast.claude;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What can be asked of a session's live process besides turns, in a turn or between two. Every stage fails with
 * {@link HeldFailure.ControlFailed} when there is no process that takes turns, when the agent refuses, and when it does not
 * answer within {@link Deadlines#control}. Thread-safe.
 */
public final class HeldControl {
    /**
     * A tool server as the agent sees it.
     *
     * @param status such as {@code connected}, {@code failed}, {@code needs-auth}, {@code pending}, {@code disabled}
     * @param error empty while there is none
     */
    public record McpServer(String name, String status, String error, RawJson raw) {}

    /** How full the model's context is, as far as the agent says. */
    public record ContextUsage(OptionalLong tokens, OptionalLong maxTokens, RawJson raw) {}

    private final HeldSession session;
    private final Executor executor;

    HeldControl(HeldSession session, Executor executor) {
        this.session = session;
        this.executor = executor;
    }

    private <T> CompletionStage<T> ask(ObjectNode request, Function<JsonNode, T> answer) {
        CompletableFuture<T> answered = session.ask(request).thenApply(answer);
        return HeldTurn.handedOut(answered, executor);
    }

    /**
     * Takes back a message that the agent has queued and not begun.
     *
     * @param message its id, as in {@link HeldEvent.Landed} or {@link InterruptReceipt#stillQueued}
     * @return whether it was taken back
     */
    public CompletionStage<Boolean> cancelQueued(String message) {
        return ask(
                ControlChannel.request("cancel_async_message").put("message_uuid", message),
                answer -> answer.path("cancelled").booleanValue(false));
    }

    /** Changes the model of this process until it ends; the next one has the bound model again. */
    public CompletionStage<RawJson> model(String model) {
        return ask(ControlChannel.request("set_model").put("model", model), RawJson::new);
    }

    /** Changes the permission mode of this process until it ends. */
    public CompletionStage<RawJson> permissionMode(String mode) {
        return ask(ControlChannel.request("set_permission_mode").put("mode", mode), RawJson::new);
    }

    public CompletionStage<List<McpServer>> mcpStatus() {
        return ask(ControlChannel.request("mcp_status"), answer -> {
            var all = new ArrayList<McpServer>();
            for (JsonNode each : answer.path("mcpServers")) {
                all.add(new McpServer(
                        StreamJson.text(each, "name"),
                        StreamJson.text(each, "status"),
                        StreamJson.text(each, "error"),
                        new RawJson(each)));
            }
            return List.copyOf(all);
        });
    }

    public CompletionStage<ContextUsage> contextUsage() {
        return ask(
                ControlChannel.request("get_context_usage"),
                answer -> new ContextUsage(
                        number(answer.path("totalTokens")), number(answer.path("maxTokens")), new RawJson(answer)));
    }

    private static OptionalLong number(JsonNode value) {
        return value.isNumber() ? OptionalLong.of(value.longValue()) : OptionalLong.empty();
    }

    /**
     * Greets the agent anew, with the bound hooks. It lists what it still waits for: a question that is open here stays
     * open, one that never arrived is asked now, and none is asked twice (HS-18).
     */
    public CompletionStage<RawJson> reinitialize() {
        return request("initialize");
    }

    /** Any other request of the agent's control protocol, by its subtype, without a payload. */
    public CompletionStage<RawJson> request(String subtype) {
        return ask(ControlChannel.request(subtype), RawJson::new);
    }
}
