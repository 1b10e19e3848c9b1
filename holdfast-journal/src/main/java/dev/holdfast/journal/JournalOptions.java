package dev.holdfast.journal;

import java.time.InstantSource;

/**
 * How a {@link SqliteJournal} works. Immutable; begin with {@link #standard()}.
 *
 * @param clock gives the time stamped on arrivals and events, once per commit
 * @param batchItems most writes in one commit, at least 1
 * @param batchBytes most bytes of payload in one commit; a single larger write is a commit of its own
 * @param waitingItems most senders' writes that may wait for the committer; the next one is refused (R1)
 * @param waitingBytes most bytes of payload that may wait for the committer
 * @param bodyBytes the largest body of one message, at most 900,000,000 bytes; a larger one is refused
 * @param readers threads, each with its own connection, that serve reads
 */
public record JournalOptions(
        InstantSource clock,
        int batchItems,
        long batchBytes,
        int waitingItems,
        long waitingBytes,
        long bodyBytes,
        int readers) {
    /** SQLite itself refuses rows from 1,000,000,000 bytes on. */
    private static final long LARGEST_BODY = 900_000_000;

    public JournalOptions {
        atLeastOne("batchItems", batchItems);
        atLeastOne("batchBytes", batchBytes);
        atLeastOne("waitingItems", waitingItems);
        atLeastOne("waitingBytes", waitingBytes);
        atLeastOne("bodyBytes", bodyBytes);
        atLeastOne("readers", readers);
        if (bodyBytes > LARGEST_BODY) {
            throw new IllegalArgumentException(
                    "bodyBytes is at most " + LARGEST_BODY + ", what a SQLite row can hold; got " + bodyBytes);
        }
    }

    /**
     * System clock; commits of up to 512 writes or 8 MiB; up to 65,536 writes or 256 MiB waiting; bodies up to
     * 64 MiB; two readers.
     */
    public static JournalOptions standard() {
        return new JournalOptions(InstantSource.system(), 512, 8L << 20, 65_536, 256L << 20, 64L << 20, 2);
    }

    public JournalOptions withClock(InstantSource newClock) {
        return new JournalOptions(newClock, batchItems, batchBytes, waitingItems, waitingBytes, bodyBytes, readers);
    }

    public JournalOptions withBatch(int items, long bytes) {
        return new JournalOptions(clock, items, bytes, waitingItems, waitingBytes, bodyBytes, readers);
    }

    public JournalOptions withWaiting(int items, long bytes) {
        return new JournalOptions(clock, batchItems, batchBytes, items, bytes, bodyBytes, readers);
    }

    public JournalOptions withBodyBytes(long bytes) {
        return new JournalOptions(clock, batchItems, batchBytes, waitingItems, waitingBytes, bytes, readers);
    }

    public JournalOptions withReaders(int threads) {
        return new JournalOptions(clock, batchItems, batchBytes, waitingItems, waitingBytes, bodyBytes, threads);
    }

    private static void atLeastOne(String what, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " must be at least 1; got " + value);
        }
    }
}
