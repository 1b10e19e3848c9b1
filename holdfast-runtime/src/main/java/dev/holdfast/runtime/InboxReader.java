package dev.holdfast.runtime;

import dev.holdfast.FeedEnd;
import dev.holdfast.Inbox;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.Session;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** The inbox over a session's reading. */
final class InboxReader implements Inbox {
    private static final int ALL = 100_000;

    private final LiveSession session;
    private final Reading reading;

    InboxReader(LiveSession session, Reading reading) {
        this.session = session;
        this.reading = reading;
    }

    @Override
    public Session session() {
        return session;
    }

    @Override
    public CompletionStage<Optional<Received>> next() {
        return reading.take(1, true, 0, taken -> taken.stream().findFirst());
    }

    @Override
    public CompletionStage<List<Received>> takeAll() {
        return session.lastArrival().thenCompose(last -> reading.take(ALL, false, last, Function.identity()));
    }

    @Override
    public CompletionStage<Boolean> hasPending() {
        return session.waiting(1).thenApply(all -> !all.isEmpty());
    }

    @Override
    public CompletionStage<Boolean> settle(Received payload, Outcome outcome, String answer) {
        return reading.settle(payload.number(), outcome, answer);
    }

    @Override
    public Optional<FeedEnd> lastEnd() {
        return reading.end();
    }

    @Override
    public void close() {
        reading.close();
    }
}
