package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AgentTool;
import dev.holdfast.HoldfastException;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.Deadlines;
import dev.holdfast.claude.HeldSessions;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Holds many scripted agents for a long time, in one JVM and on real files, while they misbehave, are killed, evicted and
 * interrupted, and while the host is closed and opened again: half of them in sessions with a journal, half in
 * {@link SoakHeld}. More sessions than places share them, so that there is eviction all the time. Nothing may be lost or answered by somebody else's words, and at the end threads, children,
 * descriptors and heap stand where they stood at the beginning.
 *
 * <p>It has rounds, each with a host of its own. A round ends with every place taken by a fresh process that has answered
 * once (<em>warm</em>) and then without a host (<em>cold</em>); the last round is compared with the first.
 */
final class Soak {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** Silence that is told to an agent which hangs; far above what a busy machine needs for a sound answer. */
    private static final Duration SILENCE = Duration.ofSeconds(12);

    private static final Limits LIMITS = new Limits(
            Duration.ofMinutes(2),
            Duration.ofSeconds(5),
            Duration.ofMinutes(5),
            java.util.Collections.nCopies(8, Duration.ofMillis(20)),
            3,
            10,
            3,
            Duration.ofDays(30),
            64);

    private static final Deadlines DEADLINES =
            Deadlines.standard().firstOutput(SILENCE).silence(SILENCE).interrupt(Duration.ofSeconds(3));

    /**
     * @param agents places for processes, of both halves; a quarter more sessions share them
     * @param work a directory for everything that is written
     */
    record Plan(int agents, Duration length, int rounds, long seed, Path work) {
        /** Places without a journal. */
        int held() {
            return agents / 2;
        }

        /** Places with one. */
        int journaled() {
            return agents - held();
        }

        int sessions() {
            return journaled() + journaled() / 4 + 1;
        }
    }

    /** What came out. */
    record Outcomes(Plan plan, Map<String, Long> turns, List<SoakLevel> levels, List<String> breaches) {
        String summary() {
            return String.format(
                    Locale.ROOT,
                    "%d sessions on %d places and %d held places, %d s and what the rounds' ends take, seed %d: %s",
                    plan.sessions(),
                    plan.journaled(),
                    plan.held(),
                    plan.length().toSeconds(),
                    plan.seed(),
                    turns);
        }

        long answered() {
            return turns.getOrDefault("ANSWERED", 0L) + turns.getOrDefault("held: ANSWERED", 0L);
        }
    }

    private static final Pattern WORDS = Pattern.compile("desk-\\d+-\\d+ of desk-\\d+\\.");

    private final Plan plan;
    private final ClaudeCodeAgent agent;
    private final Map<String, AtomicLong> turns = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<String> breaches = new ConcurrentLinkedQueue<>();
    private final List<Desk> desks = new ArrayList<>();
    private final SoakHeld held;
    private volatile boolean over;

    private Soak(Plan plan) throws IOException {
        this.plan = plan;
        Path scenario = Files.writeString(plan.work().resolve("scenario"), SoakFault.scenario());
        agent = ClaudeCode.agent()
                .binary(ScriptedAgent.worst()
                        .scenario(scenario)
                        .writeExecutable(plan.work().resolve("agent")))
                .inference("http://127.0.0.1:9", "sk-fake")
                .deadlines(DEADLINES)
                .builtinTools("Bash") // such an agent can begin turns by itself
                .tools(new Tools());
        for (int i = 0; i < plan.sessions(); i++) {
            desks.add(new Desk("desk-" + i, new Random(plan.seed() + i)));
        }
        held = new SoakHeld(plan.held(), plan.work().resolve("held"), agent, new SharedBooks(), plan.seed());
    }

    /** What the other half writes into. */
    private final class SharedBooks implements SoakHeld.Books {
        @Override
        public void count(String what) {
            Soak.this.count(what);
        }

        @Override
        public void breach(String what) {
            breaches.add(what);
        }

        @Override
        public boolean over() {
            return over;
        }
    }

    /** The tool that agents call. */
    public static final class Tools {
        @AgentTool("Does a step")
        public String step(String text) {
            return "did " + text;
        }
    }

    /** dev/soak [MINUTES] [--seconds N] [--agents N] [--rounds N] [--seed S]. Exits with 1 when something was not flat. */
    public static void main(String[] arguments) throws IOException {
        long seconds = 600;
        int agents = 64;
        int rounds = 4;
        long seed = new Random().nextLong();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--seconds" -> seconds = Long.parseLong(arguments[++i]);
                case "--agents" -> agents = Integer.parseInt(arguments[++i]);
                case "--rounds" -> rounds = Integer.parseInt(arguments[++i]);
                case "--seed" -> seed = Long.parseLong(arguments[++i]);
                default -> {
                    if (!arguments[i].matches("[0-9]{1,6}")) {
                        System.err.println("dev/soak [MINUTES] [--seconds N] [--agents N] [--rounds N] [--seed S]; got "
                                + arguments[i]);
                        System.exit(2);
                    }
                    seconds = 60 * Long.parseLong(arguments[i]);
                }
            }
        }
        var work = Files.createTempDirectory("holdfast-soak");
        var outcomes = run(new Plan(agents, Duration.ofSeconds(seconds), rounds, seed, work));
        System.out.println(outcomes.summary());
        outcomes.breaches().forEach(breach -> System.out.println("  " + breach));
        System.out.println(outcomes.breaches().isEmpty() ? "flat" : "NOT FLAT, kept: " + work);
        if (outcomes.breaches().isEmpty()) {
            KillLoop.delete(work);
        }
        System.exit(outcomes.breaches().isEmpty() ? 0 : 1);
    }

    static Outcomes run(Plan plan) throws IOException {
        return new Soak(plan).rounds();
    }

    private Outcomes rounds() throws IOException {
        var levels = new ArrayList<SoakLevel>();
        for (int round = 0; round < plan.rounds(); round++) {
            round(round, levels);
        }
        SoakLevel.compare(levels, plan.agents()).forEach(breaches::add);
        var counts = new TreeMap<String, Long>();
        turns.forEach((what, count) -> counts.put(what, count.get()));
        return new Outcomes(plan, counts, levels, List.copyOf(breaches));
    }

    private void round(int round, List<SoakLevel> levels) throws IOException {
        var options = Options.standard().processes(plan.journaled()).limits(LIMITS);
        try (var host = Holdfast.open(SqliteJournal.at(plan.work().resolve("data")), options);
                HeldSessions sessions = held.open()) {
            over = false;
            var drivers = new ArrayList<>(held.work(sessions));
            desks.forEach(desk -> drivers.add(Thread.ofVirtual().name(desk.name).start(() -> desk.work(host))));
            harry(plan.length().dividedBy(plan.rounds()), new Random(plan.seed() ^ round));
            over = true;
            if (round % 2 == 0) {
                join(drivers);
                warm(host);
                held.warm(sessions);
                levels.add(SoakLevel.now("warm", round));
            } else {
                count("restarts of the host in mid-turn");
            }
        }
        Awaitility.await("no process of a closed host")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Offspring.living()).isEmpty());
        Awaitility.await("drivers of a closed host")
                .atMost(PATIENCE)
                .until(() -> !held.working() && desks.stream().noneMatch(desk -> desk.working));
        levels.add(SoakLevel.now("cold", round));
        System.err.println("soak: " + levels.getLast() + ", turns " + turns);
    }

    /** Kills processes at random for so long. */
    private void harry(Duration length, Random random) {
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() - end < 0) {
            long pause = Math.min(200 + random.nextInt(1_500), Math.max(1, (end - System.nanoTime()) / 1_000_000));
            Awaitility.await().pollDelay(Duration.ofMillis(pause)).until(() -> true);
            var living = ProcessHandle.current().children().toList();
            if (!living.isEmpty() && random.nextInt(2) == 0) {
                living.get(random.nextInt(living.size())).destroyForcibly();
                count("kills from outside");
            }
        }
    }

    private static void join(List<Thread> drivers) {
        for (Thread driver : drivers) {
            try {
                driver.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
    }

    /** Every place is taken by a process that was started for a plain question and has answered it. */
    private void warm(Holdfast host) {
        for (Desk desk : desks) {
            desk.session(host).ifPresent(session -> now(session.evict()));
        }
        try {
            Awaitility.await("all evicted").atMost(PATIENCE).until(() -> host.processes() == 0);
        } catch (ConditionTimeoutException e) {
            breaches.add("after evicting all, " + host.processes() + " processes were left");
        }
        for (Desk desk : desks) {
            desk.turn(host, SoakFault.PLAIN);
        }
        Awaitility.await("every place is taken").atMost(PATIENCE).until(() -> host.processes() == plan.journaled());
    }

    private void count(String what) {
        turns.computeIfAbsent(what, missing -> new AtomicLong()).incrementAndGet();
    }

    private static <T> T now(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw named(e);
        } catch (TimeoutException e) {
            throw new AssertionError("nothing came within " + PATIENCE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static HoldfastException named(ExecutionException e) {
        if (e.getCause() instanceof HoldfastException named) {
            return named;
        }
        throw new AssertionError(e.getCause());
    }

    /** One sender with a session of its own; it lives over all rounds and finds again what a round left open. */
    private final class Desk {
        private final String name;
        private final Random random;
        private long sent;
        private long open;
        private SoakFault openFault = SoakFault.PLAIN;
        private volatile boolean working;

        Desk(String name, Random random) {
            this.name = name;
            this.random = random;
        }

        java.util.Optional<Session> session(Holdfast host) {
            return orNothing(() -> host.session(name, agent));
        }

        /** What the end of a host refuses is no breach; what a host refuses that goes on is. */
        private <T> java.util.Optional<T> orNothing(Supplier<T> what) {
            try {
                return java.util.Optional.of(what.get());
            } catch (HoldfastException e) {
                if (!over) {
                    breaches.add(name + ": " + e);
                }
                return java.util.Optional.empty();
            }
        }

        void work(Holdfast host) {
            working = true;
            try {
                while (!over) {
                    if (random.nextInt(12) == 0) {
                        session(host).ifPresent(session -> orNothing(() -> now(session.evict())));
                        count("evictions asked for");
                    }
                    turn(host, SoakFault.any(random));
                }
            } catch (RuntimeException | Error e) {
                breaches.add(name + ": " + e);
            } finally {
                working = false;
            }
        }

        void turn(Holdfast host, SoakFault fault) {
            session(host).ifPresent(session -> {
                if (open == 0 && send(session, fault)) {
                    if (fault == SoakFault.SLOW) {
                        orNothing(session::interrupt);
                    }
                }
                if (open != 0) {
                    orNothing(() -> await(session)).ifPresent(this::judge);
                }
            });
        }

        private boolean send(Session session, SoakFault fault) {
            var message = Message.of(fault.word() + " " + words(sent)).key(name + "-" + sent);
            var receipt = orNothing(() -> session.send(message));
            if (receipt.orElse(null) instanceof Receipt.Stored stored) {
                open = stored.number();
                openFault = fault;
                sent++;
                return true;
            }
            if (!over) {
                breaches.add(name + ": not accepted: " + receipt);
            }
            return false;
        }

        /** Gives up without a word when the round ends. */
        private Reply await(Session session) {
            var reply = session.reply(open).toCompletableFuture();
            long end = System.nanoTime() + PATIENCE.multipliedBy(2).toNanos();
            while (true) {
                try {
                    return reply.get(1, TimeUnit.SECONDS);
                } catch (TimeoutException e) {
                    if (session.status().phase().equals("PARKED")) {
                        System.err.println("soak: " + name + " is parked: "
                                + session.status().phaseReason());
                        count("parked and taken up again");
                        now(session.resume());
                    } else if (System.nanoTime() - end > 0) {
                        throw new AssertionError("no end of message " + open + ": " + session.status(), e);
                    }
                } catch (ExecutionException e) {
                    throw named(e);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new AssertionError("interrupted", e);
                }
            }
        }

        private void judge(Reply reply) {
            count(reply.outcome().name());
            if (!openFault.mayEndAs(reply.outcome())) {
                breaches.add(name + ": " + openFault + " ended as " + reply);
            }
            if (reply.outcome() == Outcome.ANSWERED && !mine(reply.text())) {
                breaches.add(name + ": message " + (sent - 1) + " has the answer of another: " + reply);
            }
            open = 0;
        }

        /** The agent repeats the words it was asked: this message's, or the host's when it was told to go on. */
        private boolean mine(String text) {
            var words = WORDS.matcher(text);
            boolean any = false;
            while (words.find()) {
                any = true;
                if (!words.group().equals(words(sent - 1))) {
                    return false;
                }
            }
            return any || text.contains("[holdfast] Your process was restarted");
        }

        private String words(long number) {
            return name + "-" + number + " of " + name + ".";
        }
    }
}
