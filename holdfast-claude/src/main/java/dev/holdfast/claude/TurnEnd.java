package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.TurnResult;
import dev.holdfast.TurnResult.Ending;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Reads how a turn ended from its result: by error flag and terminal reason; by subtype only for the agent's own limits
 * (TN-02). One version calls a failed turn's terminal reason "completed", and a turn cut short by a newer message is no
 * error, so neither alone is enough.
 */
final class TurnEnd {
    private static final Set<String> FATAL_ERRORS =
            Set.of("authentication_failed", "oauth_org_not_allowed", "billing_error", "account_suspended");
    private static final Set<Long> FATAL_STATUS = Set.of(401L, 402L, 403L);
    private static final List<String> FATAL_WORDS =
            List.of("credit balance is too low", "not logged in", "usage limit reached", "quota");

    private TurnEnd() {}

    /**
     * @param answerId uuid of the turn's last assistant block, empty when there was none
     * @param assistantError what kind of failure that block stood for, empty for none
     */
    static TurnResult of(Frame.Result frame, OptionalLong costMicros, String answerId, String assistantError) {
        Ending ending = ending(frame);
        boolean failed = ending == Ending.FAILED;
        return new TurnResult(
                ending,
                failed ? "" : frame.text(),
                reason(frame, ending),
                usage(frame.raw().path("usage"), costMicros),
                lines(frame.raw()),
                answerId,
                frame.uuid(),
                failed && fatal(frame, assistantError));
    }

    private static Ending ending(Frame.Result frame) {
        if (frame.terminalReason().startsWith("aborted")) {
            return Ending.INTERRUPTED;
        }
        if (frame.terminalReason().equals("max_turns") || frame.subtype().equals("error_max_turns")) {
            return Ending.TURN_LIMIT;
        }
        return frame.error() ? Ending.FAILED : Ending.ANSWERED;
    }

    private static String reason(Frame.Result frame, Ending ending) {
        if (ending == Ending.ANSWERED) {
            return "";
        }
        if (ending != Ending.FAILED) {
            return frame.terminalReason();
        }
        if (!frame.text().isEmpty()) {
            return frame.text();
        }
        if (!frame.errors().isEmpty()) {
            return String.join("; ", frame.errors());
        }
        return frame.terminalReason().isEmpty() ? frame.subtype() : frame.terminalReason();
    }

    private static boolean fatal(Frame.Result frame, String assistantError) {
        String said = frame.text().toLowerCase(Locale.ROOT);
        return FATAL_ERRORS.contains(assistantError)
                || FATAL_STATUS.contains(frame.raw().path("api_error_status").longValue(0))
                || FATAL_WORDS.stream().anyMatch(said::contains);
    }

    static Usage usage(JsonNode usage, OptionalLong costMicros) {
        return new Usage(
                count(usage.path("input_tokens")),
                count(usage.path("output_tokens")),
                count(usage.path("cache_read_input_tokens")),
                count(usage.path("cache_creation_input_tokens")),
                costMicros);
    }

    private static long count(JsonNode tokens) {
        return Math.max(0, tokens.longValue(0));
    }

    private static List<DeliveryId> lines(JsonNode raw) {
        JsonNode named = raw.path("user_message_uuids");
        if (named.isEmpty()) {
            return List.of();
        }
        var lines = new ArrayList<DeliveryId>();
        StreamJson.texts(named).forEach(uuid -> lineId(uuid).ifPresent(lines::add));
        return List.copyOf(lines);
    }

    /** Another writer's id need not be a UUID; then it is no line of ours. */
    private static Optional<DeliveryId> lineId(String uuid) {
        try {
            return Optional.of(DeliveryId.parse(uuid));
        } catch (IllegalArgumentException notOurs) {
            return Optional.empty();
        }
    }
}
