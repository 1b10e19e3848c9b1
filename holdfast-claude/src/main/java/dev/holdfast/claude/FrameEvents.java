package dev.holdfast.claude;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Which event a frame is, by itself. Texts, tool calls and results come as reports instead. */
final class FrameEvents {
    /** Notices of the harness that repeat what an event has told already. */
    private static final Set<String> TOLD_BY_EVENTS =
            Set.of("api_retry", "compacted", "rate_limit", "unknown_type", "hook_failed", "permission_unanswered");

    private FrameEvents() {}

    static Optional<HeldEvent> of(Frame frame) {
        return switch (frame) {
            case Frame.State state -> Optional.of(new HeldEvent.StateChanged(state.state()));
            case Frame.Notice notice -> Optional.of(notice(notice.subtype(), notice.raw()));
            case Frame.Other other -> Optional.of(other(other));
            default -> Optional.empty();
        };
    }

    static boolean repeats(String notice) {
        return TOLD_BY_EVENTS.contains(notice) || notice.startsWith("system_");
    }

    private static HeldEvent notice(String subtype, JsonNode raw) {
        return switch (subtype) {
            case "api_retry" ->
                new HeldEvent.ApiRetry(
                        raw.path("attempt").longValue(0),
                        raw.path("max_retries").longValue(0),
                        Duration.ofMillis((long) raw.path("retry_delay_ms").doubleValue(0)),
                        raw.path("error_status").longValue(0),
                        StreamJson.text(raw, "error"));
            case "compact_boundary" ->
                new HeldEvent.Compacted(StreamJson.text(raw.path("compact_metadata"), "trigger"), new RawJson(raw));
            case "hook_started", "hook_progress", "hook_response" ->
                new HeldEvent.Hook(
                        subtype.substring("hook_".length()), StreamJson.text(raw, "hook_name"), new RawJson(raw));
            default -> new HeldEvent.Other("system/" + subtype, new RawJson(raw));
        };
    }

    private static HeldEvent other(Frame.Other frame) {
        if (frame.type().equals("rate_limit_event")) {
            return new HeldEvent.RateLimit(
                    StreamJson.text(frame.raw().path("rate_limit_info"), "status"), new RawJson(frame.raw()));
        }
        return new HeldEvent.Other(frame.type(), new RawJson(frame.raw()));
    }
}
