package dev.holdfast.journal;

import dev.holdfast.Claim;
import dev.holdfast.Node;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.time.Duration;

/**
 * A process that owns a session and accepts messages for it from several threads as fast as it can, and prints what was
 * acknowledged, until it is killed: {@code a} and the number of an arrival, {@code e} and the number of an event.
 */
final class PostgresChild {
    private static final int SENDERS = 4;

    private PostgresChild() {}

    static PostgresOptions options(String schema) {
        return PostgresOptions.standard()
                .withSchema(schema)
                .withLease(Duration.ofMillis(1_500), Duration.ofMillis(900));
    }

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        PostgresJournal journal = PostgresJournal.at(arguments[0], options(arguments[1]));
        PostgresFixture.open(journal, PostgresFixture.DESK);
        Claim claim = JournalFixture.outcome(journal.claim(
                PostgresFixture.DESK,
                new Node("child-" + ProcessHandle.current().pid())));
        out.println("OPEN " + claim.epoch());
        for (int i = 0; i < SENDERS; i++) {
            int sender = i;
            Thread.ofPlatform().start(() -> {
                for (int n = 0; ; n++) {
                    out.println("a "
                            + PostgresFixture.accepted(journal, JournalFixture.message(sender + "/" + n))
                                    .number());
                }
            });
        }
        long seq = claim.recovered().seq();
        while (PostgresFixture.append(claim, BatchDraft.after(seq, "e" + seq)) instanceof Claim.Appended.Committed c) {
            seq = c.seq();
            out.println("e " + seq);
        }
    }
}
