package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.Arrival;
import dev.holdfast.JournalReader;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.StoredEvent;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** What is read from a store in the same way, whichever database it is in and whoever reads. Thread-safe. */
abstract sealed class StoreReading implements JournalReader
        permits SqliteJournal, SqliteReader, PostgresJournal, PostgresReader {
    /** What is asked of a connection. */
    @FunctionalInterface
    interface Query<R> {
        R of(Statements sql) throws SQLException;
    }

    /** @param what what is being done, for the message when it fails */
    abstract <R> CompletionStage<R> read(String what, Query<R> query);

    @Override
    public CompletionStage<List<StoredEvent>> events(SessionName session, long afterSeq, int max) {
        atLeastOne(max);
        return read("reading events", sql -> Reads.events(sql, session, afterSeq, max));
    }

    @Override
    public CompletionStage<List<Arrival>> arrivals(SessionName session, long after, int max, Selection selection) {
        atLeastOne(max);
        return read("reading arrivals", sql -> Reads.arrivals(sql, session, after, max, selection));
    }

    @Override
    public CompletionStage<List<SessionSummary>> sessions(Optional<SessionName> after, int max) {
        atLeastOne(max);
        return read("listing sessions", sql -> Reads.sessions(sql, after, max));
    }

    @Override
    public CompletionStage<Optional<SessionSummary>> session(SessionName name) {
        return read("reading a session", sql -> Reads.session(sql, name));
    }

    @Override
    public CompletionStage<List<Address>> addresses(SessionName name) {
        return read("listing addresses", sql -> Reads.addresses(sql, name));
    }

    @Override
    public CompletionStage<Optional<Address>> address(String token) {
        return read("looking an address up", sql -> Reads.address(sql, token));
    }

    static void atLeastOne(int max) {
        if (max < 1) {
            throw new IllegalArgumentException("a page holds at least 1; max is " + max);
        }
    }
}
