package dev.holdfast.runtime;

import dev.holdfast.JournalReader;
import dev.holdfast.Outcome;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import dev.holdfast.core.Told;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Which turns a session's transcript has now, and where their ends are in the journal. Grows by reading on; never holds
 * words. Used by one reader at a time.
 */
final class TranscriptIndex {
    private static final int PAGE = 500;
    private static final Set<String> TYPES = Set.of("TurnSettled", "TurnCopied", "TranscriptCut", "MemoryDropped");

    private final TreeMap<Long, End> turns = new TreeMap<>();
    private long forgotten;
    private long seq;

    /**
     * Where a turn ends.
     *
     * @param seq of the event
     * @param messages of the turn, its answer included
     */
    private record End(long seq, long messages) {}

    /** Numbers of the turns. */
    NavigableSet<Long> turns() {
        return turns.navigableKeySet();
    }

    /** Where the end of a turn is. */
    long end(long turn) {
        return Optional.ofNullable(turns.get(turn))
                .map(End::seq)
                .orElseThrow(() -> new IllegalStateException("turn " + turn + " is not in the transcript"));
    }

    /** Turns up to here are told to nobody. */
    long forgotten() {
        return forgotten;
    }

    /** Takes in what was committed since. */
    CompletionStage<TranscriptIndex> read(JournalReader journal, EventCodec codec, SessionName session) {
        return journal.events(session, seq, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (TYPES.contains(stored.event().type())) {
                    take(codec.decode(stored), stored.seq());
                }
                seq = stored.seq();
            }
            return page.isEmpty() ? CompletableFuture.completedFuture(this) : read(journal, codec, session);
        });
    }

    /** How many messages the remembered turns have. */
    long messages() {
        return turns.tailMap(forgotten, false).values().stream()
                .mapToLong(End::messages)
                .sum();
    }

    private void take(Event event, long at) {
        switch (event) {
            case Event.TurnSettled e -> {
                if (e.kind() != Told.Kind.INTERNAL) {
                    long asked =
                            e.kind() == Told.Kind.AFTER_LIMIT ? 1 : e.messages().size();
                    turns.put(e.turn(), new End(at, asked + 1)); // the answer, or that there is none
                }
            }
            case Event.TurnCopied e ->
                turns.put(e.turn(), new End(at, e.entries() + (e.outcome() == Outcome.ANSWERED ? 0 : 1)));
            case Event.TranscriptCut e -> turns.tailMap(e.from(), true).clear();
            case Event.MemoryDropped e -> forgotten = e.through();
            default -> {}
        }
    }
}
