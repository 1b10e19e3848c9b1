package dev.holdfast;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Reads a store. Several readers may have it open beside its owner (LV-07). Thread-safe. Stages complete exceptionally
 * with {@link JournalException}. There is no cursor over all sessions: commit order exists only within one.
 */
public interface JournalReader extends AutoCloseable {
    /** A page of a session's events after {@code afterSeq}, at most {@code max}, in order; empty at the end. */
    CompletionStage<List<StoredEvent>> events(SessionName session, long afterSeq, int max);

    /** A page of arrivals after number {@code after}, at most {@code max}, in order; empty at the end. */
    CompletionStage<List<Arrival>> arrivals(SessionName session, long after, int max, Selection selection);

    /** Sessions in name order after {@code after}, at most {@code max}. */
    CompletionStage<List<SessionSummary>> sessions(Optional<SessionName> after, int max);

    /** One session; absent when it was never opened. */
    CompletionStage<Optional<SessionSummary>> session(SessionName name);

    /** The addresses a session has now, in claim order (IN-08). */
    CompletionStage<List<Address>> addresses(SessionName name);

    /** An address, claimed or released; absent when it was never claimed. */
    CompletionStage<Optional<Address>> address(String token);

    @Override
    void close();

    /** Which arrivals a page holds, and how much of each. */
    enum Selection {
        /** All, with bodies. */
        WITH_BODIES,
        /** All, with empty bodies. */
        HEADERS,
        /** Only the urgent ones, with empty bodies. */
        URGENT_HEADERS
    }
}
