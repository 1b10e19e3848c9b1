package dev.holdfast.bench;

import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * What a turn costs the processor, from the sending of its message to its settlement, when its agent costs nothing:
 * that of the whole process, and of it what the one thread spends that writes to the database.
 */
final class TurnCost {
    private static final int PATIENCE_S = 120;
    private static final String WRITER = "holdfast-committer";
    private static final String ROW = "agent in process, queue";

    private final Path directory;
    private final int perRound;
    private final int rounds;

    TurnCost(Path directory, boolean quick) {
        this.directory = directory;
        this.perRound = quick ? 50 : 1_000;
        this.rounds = quick ? 2 : 12;
    }

    void run(Figures figures) throws Exception {
        try (var holdfast = Holdfast.open(SqliteJournal.at(directory), Options.standard())) {
            var session = holdfast.session("cost", new InProcess(false));
            var took = new Latencies();
            var all = new ArrayList<Double>();
            var writer = new ArrayList<Double>();
            for (int i = 0; i < rounds * 2; i++) {
                long process = ProcessorTime.nanos();
                long committer = writerNanos();
                long began = System.nanoTime();
                turns(session);
                if (i >= rounds) { // those before are for the compiler
                    took.add((System.nanoTime() - began) / perRound);
                    took.elapsed((System.nanoTime() - began) / perRound);
                    all.add((ProcessorTime.nanos() - process) / 1e3 / perRound);
                    writer.add((writerNanos() - committer) / 1e3 / perRound);
                }
            }
            figures.row(ROW, took);
            figures.put(ROW, "cpu_us/turn", Figures.round(median(all)));
            figures.put(ROW, "of it writing", Figures.round(median(writer)));
            figures.remark(ROW + ": processor time from sending to settlement, of the whole JVM and of the thread that"
                    + " writes to the database; the difference is what journal and mailbox cost besides.");
        }
    }

    private void turns(Session session) throws Exception {
        var messages = IntStream.range(0, perRound)
                .mapToObj(i -> Message.of(TurnBench.text(i)))
                .toList();
        List<CompletableFuture<Reply>> replies = new ArrayList<>();
        for (Receipt receipt : session.sendAll(messages).toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS)) {
            replies.add(session.reply(((Receipt.Accepted) receipt).number()).toCompletableFuture());
        }
        CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new)).get(PATIENCE_S, TimeUnit.SECONDS);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
    }

    private static long writerNanos() {
        var threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(info -> info != null && info.getThreadName().equals(WRITER))
                .mapToLong(info -> threads.getThreadCpuTime(info.getThreadId()))
                .sum();
    }
}
