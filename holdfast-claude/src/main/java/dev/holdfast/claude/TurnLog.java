package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.TurnResult;
import dev.holdfast.claude.HeldResult.Attempts;
import dev.holdfast.claude.HeldResult.Denial;
import dev.holdfast.claude.HeldResult.Ending;
import dev.holdfast.claude.HeldResult.ModelUsage;
import dev.holdfast.claude.HeldResult.Tokens;
import dev.holdfast.claude.HeldResult.ToolResult;
import dev.holdfast.claude.HeldResult.ToolUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Keeps what the frames of a turn tell, until its result is made of them. Belongs to its session. */
final class TurnLog {
    private static final double MICROS = 1_000_000;

    private final Set<String> bound;
    private final Set<String> reached = new HashSet<>();
    private final List<ToolUse> uses = new ArrayList<>();
    private final List<ToolResult> results = new ArrayList<>();
    private final StringBuilder words = new StringBuilder();
    private Map<String, JsonNode> counters = Map.of();
    private JsonNode result = MissingNode.getInstance();
    private int assistantEvents;

    /** @param bound the tools the agent may use, as it names them */
    TurnLog(Set<String> bound) {
        this.bound = Set.copyOf(bound);
    }

    void frame(Frame frame) {
        switch (frame) {
            case Frame.Assistant assistant -> assistant(assistant);
            case Frame.User user when !user.replay() -> user(user.raw());
            case Frame.Result ended -> result = ended.raw();
            default -> {}
        }
    }

    private void assistant(Frame.Assistant frame) {
        assistantEvents++;
        if (!frame.sidechain()) {
            words.append(frame.text());
        }
        if (frame.toolUses().isEmpty()) {
            return;
        }
        for (JsonNode block : frame.raw().path("message").path("content")) {
            if (StreamJson.text(block, "type").equals("tool_use")) {
                uses.add(new ToolUse(
                        StreamJson.text(block, "id"),
                        StreamJson.text(block, "name"),
                        block.path("input").toString()));
            }
        }
    }

    private void user(JsonNode raw) {
        JsonNode content = raw.path("message").path("content");
        if (!content.isArray()) {
            return;
        }
        for (JsonNode block : content) {
            if (StreamJson.text(block, "type").equals("tool_result")) {
                String callId = StreamJson.text(block, "tool_use_id");
                results.add(new ToolResult(
                        callId,
                        StreamJson.textBlocks(block.path("content")),
                        block.path("is_error").booleanValue(false),
                        notRun(raw.path("tool_result_meta"), callId)));
            }
        }
    }

    private static Optional<String> notRun(JsonNode meta, String callId) {
        for (JsonNode each : meta) {
            String kind = StreamJson.text(each, "non_execution_kind");
            String id = StreamJson.text(each, "tool_use_id");
            if (!kind.isEmpty() && (id.isEmpty() || id.equals(callId))) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    /** A call has come to this host. */
    void reached(String callId) {
        reached.add(callId);
    }

    /** What was seen so far belongs to no turn of ours; the counters stand where the agent's do. */
    void begin() {
        counters = counters(result.path("modelUsage"));
        clear();
    }

    private void clear() {
        uses.clear();
        results.clear();
        reached.clear();
        words.setLength(0);
        assistantEvents = 0;
        result = MissingNode.getInstance();
    }

    /** The result frame seen last, made into the result of a turn; then begins anew. */
    HeldResult take(TurnResult told, Optional<DeliveryId> message, Duration duration) {
        JsonNode raw = result;
        Ending ending = ending(told, raw);
        List<Denial> denials = denials(raw.path("permission_denials"));
        var taken = new HeldResult(
                ending,
                told.text().isEmpty() && ending != Ending.FAILED ? words.toString() : told.text(),
                ending == Ending.FAILED ? told.reason() : "",
                told.fatal(),
                said(raw, "stop_reason"),
                said(raw, "terminal_reason"),
                tokens(raw.path("usage")),
                models(raw.path("modelUsage")),
                told.usage().costMicros(),
                StreamJson.text(raw, "session_id"),
                told.requestId(),
                message,
                uses,
                results,
                denials,
                attempts(denials),
                assistantEvents,
                duration,
                new RawJson(raw));
        if (raw.path("modelUsage").isObject()) {
            counters = counters(raw.path("modelUsage"));
        }
        clear();
        return taken;
    }

    private static Ending ending(TurnResult told, JsonNode raw) {
        boolean budget = StreamJson.text(raw, "terminal_reason").equals("budget_exhausted")
                || StreamJson.text(raw, "subtype").equals("error_max_budget_usd");
        return switch (told.ending()) {
            case ANSWERED -> Ending.ANSWERED;
            case INTERRUPTED -> Ending.CANCELLED;
            case TURN_LIMIT -> Ending.TURN_LIMIT;
            case FAILED -> budget ? Ending.BUDGET_LIMIT : Ending.FAILED;
        };
    }

    /** A call that no denial names did reach its tool, unless the agent says or shows otherwise. */
    private Attempts attempts(List<Denial> denials) {
        if (uses.isEmpty() && denials.isEmpty()) {
            return Attempts.NONE;
        }
        var failed = new HashSet<String>();
        boolean refused = !denials.isEmpty();
        for (ToolResult each : results) {
            refused |= each.notRun().isPresent();
            if (each.error()) {
                failed.add(each.callId());
            }
        }
        for (ToolUse use : uses) {
            refused |= failed.contains(use.callId()) && cannotHaveReached(use);
        }
        return refused ? Attempts.SOME_REFUSED : Attempts.ALL_REACHED;
    }

    /** Of a call that failed. */
    private boolean cannotHaveReached(ToolUse use) {
        return use.hostTool().isPresent() ? !reached.contains(use.callId()) : !bound.contains(use.tool());
    }

    private static List<Denial> denials(JsonNode array) {
        var all = new ArrayList<Denial>();
        for (JsonNode each : array) {
            all.add(new Denial(said(each, "tool_name"), said(each, "tool_use_id"), new RawJson(each)));
        }
        return all;
    }

    private static Optional<String> said(JsonNode node, String name) {
        String text = StreamJson.text(node, name);
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private static Optional<Tokens> tokens(JsonNode usage) {
        if (!usage.isObject()) {
            return Optional.empty();
        }
        JsonNode kept = usage.path("cache_creation");
        return Optional.of(new Tokens(
                usage.path("input_tokens").longValue(0),
                usage.path("output_tokens").longValue(0),
                usage.path("cache_read_input_tokens").longValue(0),
                usage.path("cache_creation_input_tokens").longValue(0),
                number(kept.path("ephemeral_5m_input_tokens")),
                number(kept.path("ephemeral_1h_input_tokens"))));
    }

    private static OptionalLong number(JsonNode value) {
        return value.isNumber() ? OptionalLong.of(value.longValue()) : OptionalLong.empty();
    }

    private static Map<String, JsonNode> counters(JsonNode models) {
        var all = new HashMap<String, JsonNode>();
        models.properties().forEach(each -> all.put(each.getKey(), each.getValue()));
        return all;
    }

    private Map<String, ModelUsage> models(JsonNode models) {
        var all = new HashMap<String, ModelUsage>();
        models.properties().forEach(each -> {
            ModelUsage used = used(each.getValue(), counters.get(each.getKey()));
            if (used.input() + used.output() + used.cacheRead() + used.cacheCreation() > 0
                    || used.costMicros().orElse(0) > 0) {
                all.put(each.getKey(), used);
            }
        });
        return all;
    }

    /** A counter that has fallen has begun again at zero. */
    private static ModelUsage used(JsonNode now, @org.jspecify.annotations.Nullable JsonNode before) {
        JsonNode then = before == null || fallen(now, before) ? MissingNode.getInstance() : before;
        JsonNode cost = now.path("costUSD");
        OptionalLong micros = cost.isNumber()
                ? OptionalLong.of(
                        Math.round((cost.doubleValue() - then.path("costUSD").doubleValue(0)) * MICROS))
                : OptionalLong.empty();
        return new ModelUsage(
                since(now, then, "inputTokens"),
                since(now, then, "outputTokens"),
                since(now, then, "cacheReadInputTokens"),
                since(now, then, "cacheCreationInputTokens"),
                micros,
                new RawJson(now));
    }

    private static boolean fallen(JsonNode now, JsonNode before) {
        return now.path("outputTokens").longValue(0)
                        < before.path("outputTokens").longValue(0)
                || now.path("inputTokens").longValue(0)
                        < before.path("inputTokens").longValue(0)
                || now.path("costUSD").doubleValue(0) < before.path("costUSD").doubleValue(0);
    }

    private static long since(JsonNode now, JsonNode then, String counter) {
        return now.path(counter).longValue(0) - then.path(counter).longValue(0);
    }
}
