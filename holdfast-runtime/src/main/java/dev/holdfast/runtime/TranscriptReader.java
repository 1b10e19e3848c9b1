package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.Author;
import dev.holdfast.JournalReader;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Outcome;
import dev.holdfast.SessionName;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.TurnMessage.Role;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import tools.jackson.databind.json.JsonMapper;

/** The transcript as people and thinkers are shown it: whole turns, read from the journal. Never blocks; thread-safe. */
final class TranscriptReader {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final JournalReader journal;
    private final EventCodec codec;
    private final Envelope envelope;

    TranscriptReader(JournalReader journal, EventCodec codec, Envelope envelope) {
        this.journal = journal;
        this.codec = codec;
        this.envelope = envelope;
    }

    /** The body of a copied turn. */
    record Past(List<TranscriptEntry> entries) {}

    CompletionStage<TranscriptIndex> index(SessionName session, TranscriptIndex known) {
        return known.read(journal, codec, session);
    }

    /** Turns after {@code after}, oldest first, at most {@code max}. */
    CompletionStage<List<TranscriptTurn>> page(SessionName session, long after, int max) {
        return index(session, new TranscriptIndex()).thenCompose(index -> {
            CompletionStage<List<TranscriptTurn>> all = CompletableFuture.completedFuture(new ArrayList<>());
            for (long turn :
                    index.turns().tailSet(after, false).stream().limit(max).toList()) {
                all = all.thenCombine(turn(session, index, turn), (list, one) -> {
                    list.add(one);
                    return list;
                });
            }
            return all;
        });
    }

    /** One turn of the index. */
    CompletionStage<TranscriptTurn> turn(SessionName session, TranscriptIndex index, long turn) {
        long seq = index.end(turn);
        boolean remembered = turn > index.forgotten();
        return journal.events(session, seq - 1, 1).thenCompose(page -> switch (codec.decode(page.getFirst())) {
            case Event.TurnSettled e -> said(session, e.messages()).thenApply(asked -> settled(e, asked, remembered));
            case Event.TurnCopied e ->
                journal.arrivals(session, e.number() - 1, 1, Selection.WITH_BODIES)
                        .thenApply(arrivals -> new TranscriptTurn(
                                turn, e.outcome(), past(arrivals.getFirst()).entries(), remembered));
            default -> throw new IllegalStateException("event " + seq + " ends no turn");
        });
    }

    private static TranscriptTurn settled(Event.TurnSettled e, List<TranscriptEntry> asked, boolean remembered) {
        var entries = new ArrayList<>(asked);
        if (e.kind() == Told.Kind.AFTER_LIMIT) {
            entries.add(new TranscriptEntry(Role.HOST, Optional.empty(), 0, Optional.empty(), Transcript.AFTER_LIMIT));
        }
        if (e.outcome() == Outcome.ANSWERED) {
            entries.add(new TranscriptEntry(Role.AGENT, Optional.empty(), 0, Optional.empty(), e.text()));
        }
        return new TranscriptTurn(e.turn(), e.outcome(), entries, remembered);
    }

    /** The words of these messages, in order. */
    CompletionStage<List<TranscriptEntry>> said(SessionName session, List<Taken> messages) {
        CompletionStage<List<TranscriptEntry>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (Taken m : messages) {
            all = all.thenCombine(journal.arrivals(session, m.number() - 1, 1, Selection.WITH_BODIES), (list, page) -> {
                list.add(entry(page.getFirst()));
                return list;
            });
        }
        return all;
    }

    private TranscriptEntry entry(Arrival arrival) {
        Author author = envelope.label(arrival).by();
        return new TranscriptEntry(
                Role.SENDER,
                Optional.of(author),
                arrival.number(),
                Optional.of(arrival.acceptedAt()),
                Envelope.text(arrival));
    }

    static Past past(Arrival arrival) {
        return JSON.readValue(arrival.body(), Past.class);
    }

    static String body(List<TranscriptEntry> entries) {
        return new String(JSON.writeValueAsBytes(new Past(entries)), StandardCharsets.UTF_8);
    }
}
