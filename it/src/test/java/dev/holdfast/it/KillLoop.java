package dev.holdfast.it;

import dev.holdfast.it.KillLedger.Promise;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Kills a real JVM on a real store with SIGKILL, again and again: in its start, while it recovers, and after anything from
 * one to some hundred acknowledgements. Then it reads the store and compares: every acknowledged send is there once, under
 * its number and no other; every acknowledged settlement is the recorded one; nothing ended twice; what did not end is still
 * to be read, in order (P1, P2).
 *
 * <p>A kill takes away what a process holds in memory: it finds what was acknowledged before it was handed over, and what a
 * start makes of a half-done end. It does <em>not</em> show that a commit was synced, because what a process has written
 * outlives it in the page cache. That is shown by the simulated store, which loses what was not synced, and by the tests
 * that cut and garble the files. The seed decides who is killed when and what is sent; the moments themselves depend on the
 * machine.
 */
final class KillLoop {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LATEST = 600;

    private final Plan plan;
    private final KillCommand command;
    private final Random random;
    private final KillLedger ledger = new KillLedger();
    private int inStart;
    /** How long a life takes from its order to its first word, on this machine. */
    private double startMillis = 700;

    /** @param work a directory for the store's files and whatever else is written */
    record Plan(Store store, int kills, long seed, KillMistake mistake, Path work) {}

    enum Store {
        SQLITE,
        POSTGRESQL;

        String option() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What came out. */
    record Outcome(
            Plan plan,
            int kills,
            int inStart,
            long sent,
            long repeated,
            long settled,
            long fallen,
            int lost,
            int twice,
            List<String> breaches,
            double seconds) {
        String summary() {
            return String.format(
                    Locale.ROOT,
                    "%s: %d kills (%d in start-up), sends acknowledged: %d (asked again: %d), settled: %d, lost: %d,"
                            + " twice: %d, other breaches: %d, leases run out: %d, %.0f s, seed %d",
                    plan.store().option(),
                    kills,
                    inStart,
                    sent,
                    repeated,
                    settled,
                    lost,
                    twice,
                    breaches.size() - Math.min(breaches.size(), lost + twice),
                    fallen,
                    seconds,
                    plan.seed());
        }
    }

    private KillLoop(Plan plan, KillCommand command) {
        this.plan = plan;
        this.command = command;
        random = new Random(plan.seed());
    }

    /** dev/kill [N] [--store sqlite|postgresql] [--seed S] [--mistake NAME]. Exits with 1 when a promise was broken. */
    public static void main(String[] arguments) throws IOException {
        int kills = 2_000;
        var stores = List.of(Store.values());
        long seed = new Random().nextLong();
        var mistake = KillMistake.NONE;
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--store" -> stores = List.of(Store.valueOf(arguments[++i].toUpperCase(Locale.ROOT)));
                case "--seed" -> seed = Long.parseLong(arguments[++i]);
                case "--mistake" -> mistake = KillMistake.named(arguments[++i]);
                default -> {
                    if (!arguments[i].matches("[0-9]{1,9}")) {
                        System.err.println("dev/kill [N] [--store sqlite|postgresql] [--seed S] [--mistake NAME], where"
                                + " mistakes are " + Arrays.toString(KillMistake.values()) + "; got " + arguments[i]);
                        System.exit(2);
                    }
                    kills = Integer.parseInt(arguments[i]);
                }
            }
        }
        var trained = Files.createTempDirectory("holdfast-kill");
        var command = KillCommand.trained(trained);
        boolean kept = true;
        for (int i = 0; i < stores.size(); i++) {
            // Of two stores SQLite gets three kills of four: a life on it is the shorter one.
            int share = stores.size() == 1 ? kills : i == 0 ? kills - kills / 4 : kills / 4;
            var work = Files.createTempDirectory("holdfast-kill");
            var outcome = run(new Plan(stores.get(i), share, seed, mistake, work), command);
            System.out.println(outcome.summary());
            outcome.breaches().forEach(b -> System.out.println("  " + b));
            if (outcome.breaches().isEmpty()) {
                delete(work);
            } else {
                System.out.println("  kept: " + work);
                kept = false;
            }
        }
        delete(trained);
        System.exit(kept ? 0 : 1);
    }

    static void delete(Path work) throws IOException {
        try (var all = Files.walk(work)) {
            for (var file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Kills as planned, or until a life says what breaks a promise; then looks at the store. */
    static Outcome run(Plan plan, KillCommand command) throws IOException {
        return switch (plan.store()) {
            case SQLITE ->
                new KillLoop(plan, command).run(plan.work().resolve("store").toString());
            case POSTGRESQL -> {
                // The library turns fsync off for speed; durability is what is tested here.
                var server = EmbeddedPostgres.builder().setServerConfig("fsync", "on");
                try (var running = server.start()) {
                    yield new KillLoop(plan, command)
                            .run("postgresql://postgres:postgres@localhost:" + running.getPort() + "/postgres");
                }
            }
        };
    }

    private Outcome run(String store) throws IOException {
        System.err.println("kill loop: " + plan.store().option() + ", " + plan.kills() + " kills, seed " + plan.seed());
        long started = System.nanoTime();
        var home = Files.createDirectories(plan.work().resolve("home"));
        int kills = 0;
        while (kills < plan.kills() && ledger.breaches().isEmpty()) {
            kills++;
            oneLife(store, kills);
            if (kills % 100 == 0) {
                System.err.println(plan.store().option() + ": " + kills + " kills, " + ledger.sent() + " sent, "
                        + ledger.settled() + " settled");
            }
        }
        KillJudge.judge(store, home, ledger);
        return new Outcome(
                plan,
                kills,
                inStart,
                ledger.sent(),
                ledger.repeated(),
                ledger.settled(),
                ledger.fallen(),
                ledger.count(Promise.LOST),
                ledger.count(Promise.TWICE),
                ledger.breaches(),
                (System.nanoTime() - started) / 1e9);
    }

    private void oneLife(String store, int number) throws IOException {
        ledger.begin(number);
        try (var life = new Life(store)) {
            life.go("go " + number + " " + plan.seed() + ledger.order());
            if (random.nextInt(3) == 0) {
                life.awaitLines(Long.MAX_VALUE, Duration.ofNanos((long) (random.nextDouble() * 1.2e6 * startMillis)));
            } else {
                // As many short lives as long ones, on a logarithmic scale.
                long lines = Math.round(Math.exp(random.nextDouble() * Math.log(LATEST)));
                if (!life.awaitLines(lines, PATIENCE)) {
                    ledger.breach(Promise.STALLED, "nothing more is said after " + ledger.lines() + " lines");
                }
                life.awaitLines(Long.MAX_VALUE, Duration.ofNanos(random.nextInt(3_000_000)));
            }
            life.kill();
            inStart += ledger.lines() == 0 ? 1 : 0;
        }
        if (plan.store() == Store.SQLITE) {
            ledger.check(ledger.fallen() == 0, Promise.STALLED, "a reader lost the session of its own process");
        }
    }

    /** A running {@link KillLoopMain}. */
    private final class Life implements AutoCloseable {
        private final Process process;
        private final Thread listener;
        private final BufferedReader out;
        private final Object lock = new Object();
        private long ordered;
        private boolean killed;

        Life(String store) throws IOException {
            process = command.start(store, plan.mistake(), plan.work());
            out = process.inputReader(StandardCharsets.UTF_8);
            if (!"up".equals(out.readLine())) {
                throw new IOException("a life does not start, see stderr.txt in " + plan.work());
            }
            listener = Thread.ofPlatform().daemon().name("kill-listener").unstarted(this::listen);
        }

        void go(String order) throws IOException {
            ordered = System.nanoTime();
            listener.start();
            process.getOutputStream().write((order + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        }

        private void listen() {
            try {
                boolean first = true;
                for (var line = out.readLine(); line != null; line = out.readLine()) {
                    if (first) {
                        startMillis += ((System.nanoTime() - ordered) / 1e6 - startMillis) / 8;
                        first = false;
                    }
                    ledger.heard(line);
                    synchronized (lock) {
                        lock.notifyAll();
                    }
                }
                synchronized (lock) {
                    if (!killed) {
                        ledger.breach(Promise.STALLED, "it ended by itself, see stderr.txt in " + plan.work());
                        lock.notifyAll();
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Waits until so much was said or a promise was broken; false when it took too long. */
        boolean awaitLines(long lines, Duration most) {
            long end = System.nanoTime() + most.toNanos();
            synchronized (lock) {
                while (ledger.lines() < lines && ledger.breaches().isEmpty()) {
                    long left = end - System.nanoTime();
                    if (left <= 0) {
                        return false;
                    }
                    try {
                        TimeUnit.NANOSECONDS.timedWait(lock, left);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new IllegalStateException("interrupted", e);
                    }
                }
                return true;
            }
        }

        /** SIGKILL; returns when it is gone and all that it had said was heard. */
        void kill() {
            synchronized (lock) {
                killed = true;
            }
            process.toHandle().destroyForcibly(); // which leaves its output readable
            try {
                boolean gone = process.waitFor(PATIENCE) && listener.join(PATIENCE);
                ledger.check(gone, Promise.STALLED, "a killed process is not gone");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }

        @Override
        public void close() {
            process.toHandle().destroyForcibly();
        }
    }
}
