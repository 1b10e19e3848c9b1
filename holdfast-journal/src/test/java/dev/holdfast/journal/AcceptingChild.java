package dev.holdfast.journal;

import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.testkit.JournalFixture;
import java.io.PrintStream;
import java.nio.file.Path;

/**
 * A process that accepts messages from several threads as fast as it can and prints each acknowledged number, until it
 * is killed. With a second argument it ends itself at that step of the commit after its 20th acknowledgement.
 */
final class AcceptingChild {
    private static final int SENDERS = 4;

    private AcceptingChild() {}

    public static void main(String[] arguments) {
        String point = arguments.length > 1 ? arguments[1] : "";
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true);
        java.util.concurrent.atomic.AtomicInteger acknowledged = new java.util.concurrent.atomic.AtomicInteger();
        Step step = at -> {
            if (at.name().equals(point) && acknowledged.get() >= 20) {
                Runtime.getRuntime().halt(137);
            }
        };
        SqliteJournal journal = SqliteJournal.open(Path.of(arguments[0]), JournalOptions.standard(), step);
        JournalFixture.outcome(journal.open(StoreFiles.DESK, new SessionLimits(1_000_000, 1L << 40)));
        out.println("OPEN");
        for (int i = 0; i < SENDERS; i++) {
            int sender = i;
            Thread.ofPlatform().start(() -> {
                for (int n = 0; ; n++) {
                    Receipt receipt = JournalFixture.outcome(journal.accept(StoreFiles.message(sender + "/" + n)));
                    out.println(((Receipt.Accepted) receipt).number());
                    acknowledged.incrementAndGet();
                }
            });
        }
    }
}
