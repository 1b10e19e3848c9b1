package dev.holdfast.server;

import dev.holdfast.OpenQuestion;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.SessionStatus;
import dev.holdfast.SessionSummary;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.Usage;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** How the API shows things. A member that does not apply is absent, never null. */
final class Shown {
    private static final int LIMIT = 80;

    private Shown() {}

    /** @param numbered what the number is of: {@code message} for words, else {@code number} */
    static Map<String, Object> receipt(SessionName session, String numbered, Receipt.Stored receipt, boolean held) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.value());
        members.put(numbered, receipt.number());
        members.put("id", receipt.id().toString());
        members.put("accepted_at", receipt.acceptedAt().toString());
        members.put("duplicate", receipt instanceof Receipt.Duplicate);
        members.put("held", held);
        return members;
    }

    static Map<String, Object> reply(SessionName session, Reply reply) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.value());
        members.put("message", reply.number());
        members.put("turn", reply.turn());
        members.put("outcome", reply.outcome().name());
        members.put("text", reply.text());
        members.put("detail", reply.detail());
        members.put("usage", usage(reply.usage()));
        return members;
    }

    static Map<String, Object> turn(TranscriptTurn turn) {
        var members = new LinkedHashMap<String, Object>();
        members.put("turn", turn.number());
        members.put("outcome", turn.outcome().name());
        members.put("remembered", turn.remembered());
        members.put("entries", turn.entries().stream().map(Shown::entry).toList());
        return members;
    }

    private static Map<String, Object> entry(TranscriptEntry entry) {
        var members = new LinkedHashMap<String, Object>();
        members.put("role", entry.role().name().toLowerCase(Locale.ROOT));
        entry.author().ifPresent(a -> members.put("author", a.name()));
        if (entry.message() > 0) {
            members.put("message", entry.message());
        }
        entry.at().ifPresent(at -> members.put("at", at.toString()));
        members.put("text", entry.text());
        return members;
    }

    private static Map<String, Object> usage(Usage usage) {
        var members = new LinkedHashMap<String, Object>();
        members.put("input_tokens", usage.inputTokens());
        members.put("output_tokens", usage.outputTokens());
        members.put("cache_read_tokens", usage.cacheReadTokens());
        members.put("cache_creation_tokens", usage.cacheCreationTokens());
        usage.costMicros().ifPresent(micros -> members.put("cost_micros", micros));
        return members;
    }

    static Map<String, Object> status(SessionStatus status, boolean held) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", status.name().value());
        members.put("phase", status.phase());
        members.put("phase_reason", status.phaseReason());
        status.finishing().ifPresent(reason -> members.put("finishing", reason));
        members.put("queue", status.queued());
        status.openTurn().ifPresent(turn -> members.put("open_turn", turn));
        status.turnSince().ifPresent(at -> members.put("turn_since", at.toString()));
        members.put("consumed", status.consumed());
        members.put("awaiting_mail", status.awaitingMail());
        members.put("last_end", status.lastEnd());
        members.put("process", status.process());
        status.costMicros().ifPresent(micros -> members.put("cost_micros", micros));
        members.put("last_words", status.lastWords());
        members.put("held", held);
        return members;
    }

    static Map<String, Object> question(OpenQuestion question) {
        var members = new LinkedHashMap<String, Object>();
        members.put("id", question.id());
        members.put("text", question.text());
        members.put("deadline", question.deadline().toString());
        question.tool().ifPresent(tool -> members.put("tool", tool));
        return members;
    }

    static Map<String, Object> summary(SessionSummary summary, boolean held) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", summary.name().value());
        String phase = summary.summary().phase();
        members.put("phase", phase.isEmpty() ? "OPEN" : phase);
        members.put("phase_reason", summary.summary().phaseReason());
        members.put("queue", summary.unread());
        summary.openTurn().ifPresent(turn -> members.put("open_turn", turn));
        summary.summary().turnSince().ifPresent(at -> members.put("turn_since", at.toString()));
        members.put("messages", summary.lastArrival());
        members.put("events", summary.seq());
        summary.summary().costMicros().ifPresent(micros -> members.put("cost_micros", micros));
        members.put("last_words", summary.summary().lastWords());
        members.put("held", held);
        return members;
    }

    /** What came from outside, short and on one line, for an error message. */
    static String shortened(String text) {
        var out = new StringBuilder();
        text.codePoints().limit(LIMIT).forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return text.length() > LIMIT ? out + "…" : out.toString();
    }
}
