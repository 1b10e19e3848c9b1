package dev.holdfast.runtime;

import dev.holdfast.AuditRow;
import dev.holdfast.JournalReader;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The audit of a session: a view of its journal, which is append-only and checksummed (TL-08). Thread-safe. */
public final class AuditRows {
    private static final int PAGE = 500;
    private static final String TYPE = Event.CallEnded.class.getSimpleName();

    private AuditRows() {}

    /**
     * The next rows of a session, also of one that no host runs.
     *
     * @param after the {@link AuditRow#seq} of the last row already seen; 0 for all
     * @param max at least 1
     * @return fewer than {@code max} when there are no more
     */
    public static CompletionStage<List<AuditRow>> read(
            JournalReader journal, SessionName session, long after, int max) {
        return read(journal, new EventCodec(), session, after, max);
    }

    static CompletionStage<List<AuditRow>> read(
            JournalReader journal, EventCodec codec, SessionName session, long after, int max) {
        if (max < 1) {
            throw new IllegalArgumentException("at least 1 row must be asked for; got " + max);
        }
        return read(journal, codec, session, after, max, new ArrayList<>());
    }

    private static CompletionStage<List<AuditRow>> read(
            JournalReader journal, EventCodec codec, SessionName session, long after, int max, List<AuditRow> rows) {
        return journal.events(session, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (rows.size() < max && stored.event().type().equals(TYPE)) {
                    rows.add(row(session, stored, (Event.CallEnded) codec.decode(stored)));
                }
            }
            return page.isEmpty() || rows.size() >= max
                    ? CompletableFuture.completedFuture(List.copyOf(rows))
                    : read(journal, codec, session, page.getLast().seq(), max, rows);
        });
    }

    private static AuditRow row(SessionName session, StoredEvent stored, Event.CallEnded e) {
        return new AuditRow(
                stored.seq(),
                stored.at(),
                session,
                e.facts().author(),
                e.turn(),
                e.facts().message(),
                e.callId(),
                e.tool(),
                e.builtIn(),
                e.inputDigest(),
                e.facts().ruling(),
                e.facts().rule(),
                e.millis().isPresent()
                        ? Optional.of(Duration.ofMillis(e.millis().getAsLong()))
                        : Optional.empty(),
                e.outcome());
    }

    /** A row as the members of a JSON object, for every surface alike. */
    public static Map<String, Object> members(AuditRow row) {
        var members = new LinkedHashMap<String, Object>();
        members.put("seq", row.seq());
        members.put("at", row.at().toString());
        members.put("session", row.session().value());
        members.put("author", row.author());
        members.put("turn", row.turn());
        members.put("message", row.message());
        members.put("call", row.callId());
        members.put("tool", row.tool());
        members.put("built_in", row.builtIn());
        members.put("input_sha256", row.inputDigest());
        members.put("ruling", row.ruling().name().toLowerCase(Locale.ROOT));
        members.put("rule", row.rule());
        row.took().ifPresent(took -> members.put("took_ms", took.toMillis()));
        members.put("outcome", row.outcome().name().toLowerCase(Locale.ROOT));
        return members;
    }
}
