package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.ToolEffects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The door for tools of the agent's own (TL-03): before each use the agent asks a hook that only this desk answers, and
 * whatever else it asks about a use comes here too. Every request is answered once, in its own words. Not thread-safe: its
 * owner calls it under its lock.
 */
final class GuardDesk {
    /** Callback id of the hook. */
    private static final String CALLBACK = "holdfast-guard";

    /** Longer than any person is waited for; silence would refuse, an error would as well. */
    private static final Duration HOOK_TIME = Duration.ofHours(24);

    /** How long a permission counts when the hook and the permission prompt ask about one use after each other (TL-04). */
    private static final long VERDICT_NANOS = Duration.ofSeconds(5).toNanos();

    private static final int REMEMBERED = 64;
    private static final Set<String> READING = Set.of("Read", "Glob", "Grep", "LS", "NotebookRead");

    /** @param hook whether the hook asked, else the permission prompt */
    private record Waiter(String requestId, boolean hook) {}

    /** A use the agent waits for, under the id it was reported by. */
    private record Use(String key, JsonNode input, List<Waiter> waiters) {}

    /**
     * What one of the two who ask about a use was told.
     *
     * @param hook whether that was the hook
     */
    private record Permit(long at, boolean hook) {}

    private final StreamJson codec;
    private final Set<String> tools;
    private final LongSupplier clock;
    private final Consumer<String> urgentWriter;
    private final Consumer<Report> reports;
    private final Map<String, Use> open = new LinkedHashMap<>();
    private final ControlChannel.Recent<Boolean> ids = new ControlChannel.Recent<>(REMEMBERED);
    private final ControlChannel.Recent<Optional<Permit>> permits = new ControlChannel.Recent<>(REMEMBERED);
    private long counter;
    private boolean closing;

    /** @param tools the agent's own that are bound */
    GuardDesk(
            StreamJson codec,
            Set<String> tools,
            LongSupplier clock,
            Consumer<String> urgentWriter,
            Consumer<Report> reports) {
        this.codec = codec;
        this.tools = tools;
        this.clock = clock;
        this.urgentWriter = urgentWriter;
        this.reports = reports;
    }

    /** Writes the hook into a greeting, behind those of the user. */
    static void register(ObjectNode greeting, List<String> tools) {
        if (tools.isEmpty()) {
            return;
        }
        ObjectNode entry = greeting.withObjectProperty("hooks")
                .withArrayProperty(HookEvent.PRE_TOOL_USE.wireName())
                .addObject();
        entry.put("matcher", String.join("|", tools));
        entry.putArray("hookCallbackIds").add(CALLBACK);
        entry.put("timeout", HOOK_TIME.toSeconds());
        entry.put("onFailure", "block");
    }

    static boolean asks(JsonNode request) {
        return StreamJson.text(request, "callback_id").equals(CALLBACK);
    }

    /** The hook asks. */
    void hook(Frame.ControlRequest request) {
        JsonNode input = request.request().path("input");
        String useId = StreamJson.text(request.request(), "tool_use_id");
        asked(
                new Waiter(request.id(), true),
                useId.isEmpty() ? StreamJson.text(input, "tool_use_id") : useId,
                StreamJson.text(input, "tool_name"),
                input.path("tool_input"));
    }

    /** The permission prompt asks. */
    void permission(Frame.ControlRequest request) {
        asked(
                new Waiter(request.id(), false),
                StreamJson.text(request.request(), "tool_use_id"),
                StreamJson.text(request.request(), "tool_name"),
                request.request().path("input"));
    }

    /** One tool has two names: real agents list it as Task, and ask about it as Agent. The one that is bound counts. */
    static String boundName(String asked, Set<String> bound) {
        return asked.equals("Agent") && !bound.contains(asked) && bound.contains("Task") ? "Task" : asked;
    }

    private void asked(Waiter waiter, String useId, String name, JsonNode input) {
        String tool = boundName(name, tools);
        if (closing) {
            answer(waiter, input, Optional.of("This session is being ended."));
            return;
        }
        if (!tools.contains(tool)) {
            answer(waiter, input, Optional.of("The tool '" + tool + "' is not bound to this session."));
            return;
        }
        String written = input.isObject() ? codec.write(input) : "{}";
        String key = useId + " " + tool + " " + written;
        for (Use use : open.values()) {
            if (use.key().equals(key)) {
                use.waiters().add(waiter);
                return;
            }
        }
        boolean permitted = !useId.isEmpty()
                && permits.getOrDefault(key, Optional.empty())
                        .filter(p -> p.hook() != waiter.hook() && clock.getAsLong() - p.at() < VERDICT_NANOS)
                        .isPresent();
        if (permitted) {
            permits.put(key, Optional.empty()); // both have asked
            answer(waiter, input, Optional.empty());
            return;
        }
        counter++;
        String callId = useId.isEmpty() || open.containsKey(useId) || ids.contains(useId)
                ? (useId.isEmpty() ? "use" : useId) + "~" + counter
                : useId;
        ids.put(callId, true);
        open.put(callId, new Use(key, input, new ArrayList<>(List.of(waiter))));
        var effects = READING.contains(tool) ? ToolEffects.READ : ToolEffects.WRITE;
        reports.accept(new Report.PermissionAsked(callId, tool, effects, written));
    }

    void permit(String callId, Optional<String> refusal) {
        Use use = open.remove(callId);
        if (use == null) {
            return;
        }
        boolean hook = use.waiters().stream().anyMatch(Waiter::hook);
        boolean both = hook && use.waiters().stream().anyMatch(waiter -> !waiter.hook());
        if (refusal.isEmpty() && !both) {
            permits.put(use.key(), Optional.of(new Permit(clock.getAsLong(), hook)));
        }
        use.waiters().forEach(waiter -> answer(waiter, use.input(), refusal));
    }

    private void answer(Waiter waiter, JsonNode input, Optional<String> refusal) {
        ObjectNode shape = waiter.hook()
                ? refusal.map(HookShapes::denied).orElseGet(HookShapes::permitted)
                : refusal.map(why -> HookShapes.refused(why, false)).orElseGet(() -> HookShapes.allowed(input));
        urgentWriter.accept(codec.controlSuccess(waiter.requestId(), shape));
    }

    /** The agent does not want that request's answer any more. */
    void cancelled(String requestId) {
        for (var use : List.copyOf(open.entrySet())) {
            List<Waiter> waiters = use.getValue().waiters();
            if (waiters.removeIf(waiter -> waiter.requestId().equals(requestId)) && waiters.isEmpty()) {
                open.remove(use.getKey());
                reports.accept(new Report.CallWithdrawn(use.getKey()));
            }
        }
    }

    /** The agent is being ended: it is refused whatever it waits for. */
    void closing() {
        closing = true;
        List.copyOf(open.keySet()).forEach(id -> permit(id, Optional.of("This session is being ended.")));
    }
}
