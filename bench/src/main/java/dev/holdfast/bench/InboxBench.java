package dev.holdfast.bench;

import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Session;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Durable;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.EventCodec;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * A cancel behind a full queue beside one behind none, awake and asleep; waking one session among few and among many
 * sleepers, with what each sleeper costs in heap and threads; and a recovery from many events beside one from few.
 */
final class InboxBench {
    private static final int PATIENCE_S = 120;

    private final Path directory;
    private final boolean quick;

    InboxBench(Path directory, boolean quick) {
        this.directory = directory;
        this.quick = quick;
    }

    void run(Figures figures) throws Exception {
        cancels(figures);
        sleepers(figures);
        recovery(figures);
    }

    // ---- a cancel behind a queue ------------------------------------------------------------------------------------

    private void cancels(Figures figures) throws Exception {
        int queue = quick ? 200 : 10_000;
        int rounds = quick ? 2 : 15;
        var none = new Latencies();
        var awake = new Latencies();
        var asleepNone = new Latencies();
        var asleep = new Latencies();
        for (int i = 0; i < rounds; i++) {
            cancelAwake("cancel-none-" + i, 0, none);
            cancelAwake("cancel-queue-" + i, queue, awake);
            cancelAsleep("wake-none-" + i, 0, asleepNone);
            cancelAsleep("wake-queue-" + i, queue, asleep);
        }
        figures.row("cancel, awake, behind none", none);
        figures.row("cancel, awake, behind " + queue, awake);
        figures.put("cancel, awake, behind " + queue, "ratio_p50", ratio(awake, none));
        figures.row("cancel, asleep, behind none", asleepNone);
        figures.row("cancel, asleep, behind " + queue, asleep);
        figures.put("cancel, asleep, behind " + queue, "ratio_p50", ratio(asleep, asleepNone));
        figures.remark("a cancel is measured from its sending to the end of the cancelled message's turn");
    }

    private static double ratio(Latencies one, Latencies other) {
        return Figures.round(one.percentile(50) / other.percentile(50));
    }

    private static Options options() {
        return Options.standard().unread(new SessionLimits(1_000_000, 1L << 40));
    }

    private void cancelAwake(String name, int queue, Latencies into) throws Exception {
        try (var holdfast = Holdfast.open(SqliteJournal.at(directory.resolve(name)), options())) {
            var session = holdfast.session(name, new InProcess(true));
            var first = session.send(Message.of("first"));
            fill(session, queue);
            await(session.awaitMessage(), queue > 0);
            long began = System.nanoTime();
            session.interrupt();
            end(session, first, into, began);
        }
    }

    /** The host ends with the turn open and the queue full; the next one finds the cancel. */
    private void cancelAsleep(String name, int queue, Latencies into) throws Exception {
        var path = directory.resolve(name);
        dev.holdfast.Receipt first;
        try (var holdfast = Holdfast.open(SqliteJournal.at(path), options())) {
            var session = holdfast.session(name, new InProcess(true));
            first = session.send(Message.of("first"));
            fill(session, queue);
        }
        try (var holdfast = Holdfast.open(SqliteJournal.at(path), options())) {
            var mail = holdfast.mail(new SessionName(name));
            long began = System.nanoTime();
            mail.interrupt();
            end(mail, first, into, began);
        }
    }

    private static void end(Session session, dev.holdfast.Receipt first, Latencies into, long began) throws Exception {
        long number = ((dev.holdfast.Receipt.Stored) first).number();
        var reply = session.reply(number).toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
        into.add(System.nanoTime() - began);
        into.elapsed(System.nanoTime() - began);
        if (reply.outcome() != Outcome.CANCELLED) {
            throw new IllegalStateException("the first message ended as " + reply);
        }
    }

    private static void fill(Session session, int queue) throws Exception {
        var sent = new ArrayList<Message>();
        for (int i = 0; i < queue; i++) {
            sent.add(Message.of("waiting " + i));
            if (sent.size() == 1_000) {
                session.sendAll(List.copyOf(sent)).toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
                sent.clear();
            }
        }
        if (!sent.isEmpty()) {
            session.sendAll(sent).toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
        }
    }

    private static <T> void await(CompletionStage<T> stage, boolean wait) throws Exception {
        if (wait) {
            stage.toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
        }
    }

    // ---- sleepers ---------------------------------------------------------------------------------------------------

    private void sleepers(Figures figures) throws Exception {
        int many = quick ? 300 : 100_000;
        int few = quick ? 10 : 100;
        var path = directory.resolve("sleepers");
        var wakes = new Latencies();
        var wakesAmongMany = new Latencies();
        var options = options()
                .agents(name -> Optional.of(new InProcess(false)))
                .limits(dev.holdfast.Limits.standard().withIdle(Duration.ZERO));
        var journal = SqliteJournal.at(path);
        try (var holdfast = Holdfast.open(journal, options)) {
            open(journal, 0, few);
            wake(holdfast, few, wakes);
            long heapBefore = heap();
            int threadsBefore = Thread.activeCount();
            open(journal, few, many);
            long each = Math.max(0, heap() - heapBefore) / (many - few);
            int threads = Thread.activeCount() - threadsBefore;
            wake(holdfast, few, wakesAmongMany);
            figures.row("wake and answer, among " + few, wakes);
            figures.row("wake and answer, among " + many, wakesAmongMany);
            figures.put("wake and answer, among " + many, "ratio_p50", ratio(wakesAmongMany, wakes));
            figures.put("wake and answer, among " + many, "heap_each", each);
            figures.put("wake and answer, among " + many, "threads_more", threads);
        }
    }

    private static void open(SqliteJournal journal, int from, int to) throws Exception {
        var opening = new ArrayList<CompletionStage<Boolean>>();
        for (int i = from; i < to; i++) {
            opening.add(journal.open(new SessionName("sleeper-" + i), SessionLimits.standard()));
            if (opening.size() == 1_000 || i == to - 1) {
                for (var one : opening) {
                    one.toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
                }
                opening.clear();
            }
        }
    }

    private void wake(Holdfast holdfast, int sessions, Latencies into) {
        for (int i = 0; i < sessions; i++) {
            var mail = holdfast.session("sleeper-" + i, new InProcess(false));
            long began = System.nanoTime();
            mail.ask("wake up");
            into.add(System.nanoTime() - began);
            into.elapsed(System.nanoTime() - began);
        }
    }

    private static long heap() {
        var runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    // ---- recovery ---------------------------------------------------------------------------------------------------

    /** A session with many events and no snapshot is taken up by a new host; the events are folded on the way. */
    private void recovery(Figures figures) throws Exception {
        int few = quick ? 20 : 200;
        int many = quick ? 100 : 10_000;
        var fewer = conversation("few", few);
        var more = conversation("many", many);
        var small = new Latencies();
        var large = new Latencies();
        for (int i = 0; i < (quick ? 1 : 8); i++) {
            takeUp("few", small);
            takeUp("many", large);
        }
        String row = "recovery, " + more.size() + " events";
        figures.row("recovery, " + fewer.size() + " events", small);
        figures.row(row, large);
        double perEvent = (large.percentile(50) - small.percentile(50)) / (more.size() - fewer.size());
        figures.put(row, "us_per_event", Figures.round(perEvent));
        fold(more, figures);
        figures.remark("recovery reads, checks and folds every event, as after the loss of a snapshot");
        figures.remark("a full fold reads every stored event into its type and applies it, in memory");
    }

    /** Makes it; answers its events. */
    private List<StoredEvent> conversation(String name, int turns) throws Exception {
        var path = directory.resolve("recover-" + name);
        try (var holdfast = Holdfast.open(SqliteJournal.at(path), options())) {
            var session = holdfast.session(name, new InProcess(false));
            fill(session, turns);
            session.ask("last");
        }
        withoutSnapshots(path);
        try (var journal = SqliteJournal.at(path)) {
            return journal.image(new SessionName(name))
                    .toCompletableFuture()
                    .get()
                    .events();
        }
    }

    private void takeUp(String name, Latencies into) throws Exception {
        var path = directory.resolve("recover-" + name);
        try (var holdfast = Holdfast.open(SqliteJournal.at(path), options())) {
            long began = System.nanoTime();
            holdfast.session(name, new InProcess(false)).ask("again");
            into.add(System.nanoTime() - began);
            into.elapsed(System.nanoTime() - began);
        }
        withoutSnapshots(path);
    }

    private void fold(List<StoredEvent> events, Figures figures) {
        var codec = new EventCodec();
        var core = options().core();
        var took = new Latencies();
        for (int i = 0; i < (quick ? 1 : 30); i++) {
            long began = System.nanoTime();
            var state = Durable.empty();
            for (StoredEvent stored : events) {
                state = core.apply(state, codec.decode(stored));
            }
            took.add(System.nanoTime() - began);
            took.elapsed(System.nanoTime() - began);
            if (state.takenThrough() == 0) {
                throw new IllegalStateException("the fold of " + events.size() + " events took in nothing");
            }
        }
        String row = "full fold, " + events.size() + " events";
        figures.row(row, took);
        figures.put(row, "events_per_s", Math.round(events.size() * 1e6 / took.percentile(50)));
    }

    private static void withoutSnapshots(Path path) throws Exception {
        try (var sql = java.sql.DriverManager.getConnection("jdbc:sqlite:" + path.resolve("journal.db"));
                var statement = sql.createStatement()) {
            statement.executeUpdate("DELETE FROM snapshot");
        }
    }
}
