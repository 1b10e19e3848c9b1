package dev.holdfast.bench;

import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Durable sends per second with 1 and with 64 senders, spread over 100 sessions and all to one, each sender waiting for
 * its receipt. Beside each round the same messages in the same batches as plain SQL on one thread: the ratio is what
 * hand-off, checksums and head file cost.
 */
final class JournalBench {
    private static final int PATIENCE_S = 60;
    private static final List<SessionName> SPREAD =
            IntStream.range(0, 100).mapToObj(i -> new SessionName("s" + i)).toList();
    private static final List<SessionName> HOT = List.of(new SessionName("hot"));

    private final Path directory;
    private final boolean quick;

    JournalBench(Path directory, boolean quick) {
        this.directory = directory;
        this.quick = quick;
    }

    /** One variant: how many senders, to which sessions. */
    private static final class Shape {
        final String name;
        final int senders;
        final List<SessionName> sessions;
        final int count;
        final Latencies journal = new Latencies();
        final Latencies plain = new Latencies();
        final Latencies handed = new Latencies();
        long commits;

        Shape(String name, int senders, List<SessionName> sessions, int count) {
            this.name = name;
            this.senders = senders;
            this.sessions = sessions;
            this.count = count;
        }

        void clear() {
            journal.clear();
            plain.clear();
            handed.clear();
            commits = 0;
        }
    }

    void run(Figures figures) throws Exception {
        int alone = quick ? 50 : 100;
        int many = quick ? 128 : 1_600;
        var shapes = List.of(
                new Shape("1 sender, 100 sessions", 1, SPREAD, alone),
                new Shape("1 sender, hot session", 1, HOT, alone),
                new Shape("64 senders, 100 sessions", 64, SPREAD, many),
                new Shape("64 senders, hot session", 64, HOT, many));
        openSessions(directory.resolve("plain")).close();
        try (var journal = openSessions(directory.resolve("journal"));
                var plain = new PlainSql(directory.resolve("plain").resolve("journal.db"));
                // A thread that does nothing else, as the committer is one: on a full machine the scheduler would
                // make the loop pay for what this thread has used to prepare the messages.
                var loop = Executors.newSingleThreadExecutor()) {
            round(shapes, journal, plain, loop, true);
            shapes.forEach(Shape::clear);
            var time = new Allowance();
            int done = 0;
            while (done < (quick ? 1 : 200) && time.allowsAnother()) {
                round(shapes, journal, plain, loop, done % 2 == 0);
                done++;
            }
            report(shapes, done, figures);
        }
    }

    private static SqliteJournal openSessions(Path path) throws Exception {
        var journal = SqliteJournal.at(path);
        var limits = new SessionLimits(1_000_000_000, 1L << 50);
        for (var names : List.of(SPREAD, HOT)) {
            for (SessionName name : names) {
                journal.open(name, limits).toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
            }
        }
        return journal;
    }

    private static void round(
            List<Shape> shapes, SqliteJournal journal, PlainSql plain, ExecutorService loop, boolean forwards)
            throws Exception {
        for (Shape shape : forwards ? shapes : shapes.reversed()) {
            var batches = durable(shape, journal);
            var sends = Sends.to(shape.sessions, shape.count);
            Callable<@Nullable Void> bare = () -> bare(shape, sends, batches, plain);
            loop.submit(bare).get(PATIENCE_S, TimeUnit.SECONDS);
            if (shape.senders == 1) {
                handedOver(shape, plain, loop);
            }
        }
    }

    /** The same statements again, asked for by a thread that waits for another to run them, as any sender does. */
    private static void handedOver(Shape shape, PlainSql plain, ExecutorService loop) throws Exception {
        var sends = Sends.to(shape.sessions, shape.count);
        Callable<@Nullable Void> sender = () -> {
            for (var send : sends) {
                Callable<@Nullable Void> one = () -> {
                    plain.batch(List.of(send));
                    return null;
                };
                long began = System.nanoTime();
                loop.submit(one).get(PATIENCE_S, TimeUnit.SECONDS);
                shape.handed.add(System.nanoTime() - began);
            }
            return null;
        };
        long round = System.nanoTime();
        try (var senders = Executors.newVirtualThreadPerTaskExecutor()) {
            senders.submit(sender).get(PATIENCE_S, TimeUnit.SECONDS);
        }
        shape.handed.elapsed(System.nanoTime() - round);
    }

    /** Sends through the journal. Answers how many messages each commit held. */
    private static List<Integer> durable(Shape shape, SqliteJournal journal) throws Exception {
        var sends = Sends.to(shape.sessions, shape.count);
        var durations = new long[shape.count];
        var commitOf = new long[shape.count];
        var next = new AtomicInteger();
        Callable<@Nullable Void> sender = () -> {
            for (int i = next.getAndIncrement(); i < shape.count; i = next.getAndIncrement()) {
                int place = i;
                long began = System.nanoTime();
                Receipt receipt = journal.accept(sends.get(i).delivery())
                        .thenApply(r -> {
                            commitOf[place] = journal.commits(); // on the committer's thread, behind the commit
                            return r;
                        })
                        .toCompletableFuture()
                        .get(PATIENCE_S, TimeUnit.SECONDS);
                durations[i] = System.nanoTime() - began;
                if (!(receipt instanceof Receipt.Accepted)) {
                    throw new IllegalStateException("a message was not accepted: " + receipt);
                }
            }
            return null;
        };
        long before = journal.commits();
        long began = System.nanoTime();
        try (var senders = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<@Nullable Void>> all = new ArrayList<>();
            for (int i = 0; i < shape.senders; i++) {
                all.add(senders.submit(sender));
            }
            for (var one : all) {
                one.get(PATIENCE_S, TimeUnit.SECONDS);
            }
        }
        shape.journal.elapsed(System.nanoTime() - began);
        for (long duration : durations) {
            shape.journal.add(duration);
        }
        int commits = (int) (journal.commits() - before);
        shape.commits += commits;
        var sizes = new int[commits + 1];
        for (long commit : commitOf) {
            sizes[(int) Math.max(0, commit - before)]++;
        }
        return IntStream.of(sizes).filter(size -> size > 0).boxed().toList();
    }

    private static @Nullable Void bare(Shape shape, List<Sends.Send> sends, List<Integer> batches, PlainSql plain)
            throws Exception {
        int from = 0;
        long round = System.nanoTime();
        for (int size : batches) {
            long began = System.nanoTime();
            plain.batch(sends.subList(from, from + size));
            long duration = System.nanoTime() - began;
            for (int i = 0; i < size; i++) {
                shape.plain.add(duration);
            }
            from += size;
        }
        shape.plain.elapsed(System.nanoTime() - round);
        return null;
    }

    private static double ratio(Latencies one, Latencies other) {
        return Figures.round(one.percentile(50) / Math.max(1e-9, other.percentile(50)));
    }

    private static void report(List<Shape> shapes, int rounds, Figures figures) {
        for (Shape shape : shapes) {
            String bare = shape.name + ", plain SQL";
            figures.row(shape.name, shape.journal);
            figures.put(shape.name, "per_commit", Figures.round((double) shape.journal.count() / shape.commits));
            figures.put(
                    shape.name,
                    "x_plain",
                    Figures.round(shape.journal.perSecond() / Math.max(1e-9, shape.plain.perSecond())));
            figures.row(bare, shape.plain);
            if (shape.senders == 1) {
                String handed = bare + ", handed over";
                figures.row(handed, shape.handed);
                figures.put(shape.name, "p50_x_plain", ratio(shape.journal, shape.plain));
                figures.put(shape.name, "p50_x_handed", ratio(shape.journal, shape.handed));
            }
        }
        figures.remark(rounds + " rounds; x_plain is sends per second over the same statements in the same batches on"
                + " one thread. A plain message's latency is that of its batch.");
        figures.remark(
                "Handed over: a thread asks another to run the same statements, and waits; what the wake-ups cost.");
        figures.remark("Each message has 200 bytes, a header of 100 and a key of its own, which is looked up first.");
    }
}
