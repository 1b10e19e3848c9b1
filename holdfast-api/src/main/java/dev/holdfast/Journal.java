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

    /**
     * Accepts several deliveries to one session, all or none, in order, with consecutive numbers (IN-19). When one is
     * refused, its receipt says why and the others are {@link Receipt.Refused} for its sake; one whose key was accepted
     * before is a {@link Receipt.Duplicate} and refuses nobody.
     *
     * @param deliveries at least one, at most 1,000, all to the same session
     */
    CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries);

    /**
     * Claims an address for a session; idempotent for the same session and terms (IN-08). A released one may be claimed
     * again, by any session.
     */
    CompletionStage<AddressClaim> claimAddress(SessionName session, String token, AddressTerms terms);

    /**
     * Gives addresses of the session up: later deliveries through them are {@link Receipt.Released}. Tokens the session
     * does not have are passed over. An empty list means all.
     *
     * @return those given up now, in claim order, each with the last arrival accepted before
     */
    CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens);

    /** Everything stored of a session, read in one transaction (MB-22). */
    CompletionStage<SessionImage> image(SessionName name);

    /**
     * Stores a session as it was in another store, under its image's name, whole or not at all (MB-22). Its epoch goes on
     * from the image's.
     *
     * @return false when a session of that name exists or existed; nothing was stored
     */
    CompletionStage<Boolean> restore(SessionImage image);

    /**
     * Takes ownership: the epoch is raised by one, every older claim is fenced from then on (P3). While another node that is
     * alive owns the session, the stage fails with {@link JournalException.Problem#OWNED}.
     */
    CompletionStage<Claim> claim(SessionName name, Node node);

    /**
     * Sessions with something unread, something due by {@code now}, or work in flight. Level-triggered (IN-21). Those that
     * have waited longest come first; a session that is paused or parked with nothing due comes behind all others, so that
     * no number of them hides one that could run.
     */
    CompletionStage<List<SessionName>> ready(Instant now, int max);

    /** Calls {@code listener} after commits of arrivals, on the committer's thread; it must not block. May be lost. */
    void onAccepted(Consumer<SessionName> listener);
}
