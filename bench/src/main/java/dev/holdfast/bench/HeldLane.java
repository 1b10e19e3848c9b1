package dev.holdfast.bench;

import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A session of Holdfast on its own SQLite journal. Alone, each message is sent when the one before it is answered. With
 * a queue all of a round are sent at once, and the duration of a turn is the time since the answer before it.
 */
final class HeldLane implements Lane {
    private static final int PATIENCE_S = 60;

    private final boolean queued;
    private final SqliteJournal journal;
    private final Holdfast holdfast;
    private final Session session;

    private long turns;
    private long commits;
    /** Turns that ended, and commits made, after the last message of a round was accepted. */
    private long laterTurns;

    private long laterCommits;

    HeldLane(AgentHome home, boolean queued) {
        this.queued = queued;
        journal = SqliteJournal.at(home.directory().resolve("data"));
        holdfast = Holdfast.open(journal, Options.standard().home(home.home()));
        session = holdfast.session("held", home.agent());
    }

    @Override
    public String name() {
        return queued ? "held, queue" : "held, lone asks";
    }

    @Override
    public void turn(int i) {
        check(session.ask(TurnBench.text(i)));
    }

    @Override
    public void round(int count, Latencies into) throws Exception {
        long before = journal.commits();
        if (queued) {
            long round = System.nanoTime();
            queue(count, into);
            into.elapsed(System.nanoTime() - round);
        } else {
            Lane.super.round(count, into);
        }
        turns += count;
        commits += journal.commits() - before;
    }

    private void queue(int count, Latencies into) throws Exception {
        var ended = new AtomicLong();
        var last = new AtomicLong(System.nanoTime());
        var durations = new long[count];
        List<CompletableFuture<Receipt>> receipts = new ArrayList<>();
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int place = i;
            var receipt = session.sendAsync(Message.of(TurnBench.text(i))).toCompletableFuture();
            receipts.add(receipt);
            replies.add(receipt.thenCompose(r -> session.reply(number(r))).whenComplete((reply, failure) -> {
                long now = System.nanoTime();
                durations[place] = now - last.getAndSet(now);
                ended.incrementAndGet();
            }));
        }
        CompletableFuture.allOf(receipts.toArray(CompletableFuture[]::new)).get(PATIENCE_S, TimeUnit.SECONDS);
        long commitsThen = journal.commits();
        long endedThen = ended.get();
        for (var reply : replies) {
            check(reply.get(PATIENCE_S, TimeUnit.SECONDS));
        }
        laterCommits += journal.commits() - commitsThen;
        laterTurns += count - endedThen;
        for (long duration : durations) {
            into.add(duration);
        }
    }

    private static long number(Receipt receipt) {
        if (receipt instanceof Receipt.Accepted accepted) {
            return accepted.number();
        }
        throw new IllegalStateException("a message was not accepted: " + receipt);
    }

    private static void check(Reply reply) {
        if (reply.outcome() != Outcome.ANSWERED) {
            throw new IllegalStateException("a turn did not end with an answer: " + reply);
        }
    }

    @Override
    public void measured() {
        turns = 0;
        commits = 0;
        laterTurns = 0;
        laterCommits = 0;
    }

    @Override
    public void report(Figures figures) {
        if (turns > 0) {
            figures.put(name(), "commits/turn", Figures.round((double) commits / turns));
        }
        if (laterTurns > 0) {
            figures.put(name(), "without accepts", Figures.round((double) laterCommits / laterTurns));
        }
    }

    @Override
    public void close() {
        holdfast.close();
    }
}
