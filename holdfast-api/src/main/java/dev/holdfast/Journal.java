package dev.holdfast;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The store: what was sent to a session (arrivals, appended by anyone) and what its owner did about it (the journal,
 * appended by the one owner). Thread-safe. Every stage completes after the commit and its fsync (P1), or exceptionally
 * with {@link JournalException}; after a failed fsync nothing is accepted any more.
 */
public interface Journal extends JournalReader {
    /** Identity of this store, made when it was created; part of every marker (HS-21). */
    String storeId();

    /** The directory the store lives in, when it is a local one. */
    Optional<Path> directory();

    /** Creates the session when it is new (IN-16). Answers whether this call created it. */
    CompletionStage<Boolean> open(SessionName name, SessionLimits limits);

    /** Accepts a delivery: key looked up, limit and admission checked, number given, session marked ready, committed. */
    CompletionStage<Receipt> accept(Delivery delivery);

    /** Takes ownership: the epoch is raised by one, every older claim is fenced from then on (P3). */
    CompletionStage<Claim> claim(SessionName name, Node node);

    /** Sessions with something unread, something due by {@code now}, or work in flight. Level-triggered (IN-21). */
    CompletionStage<List<SessionName>> ready(Instant now, int max);

    /** Calls {@code listener} after commits of arrivals, on the committer's thread; it must not block. May be lost. */
    void onAccepted(Consumer<SessionName> listener);
}
