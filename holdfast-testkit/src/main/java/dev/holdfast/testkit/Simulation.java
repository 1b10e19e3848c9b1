package dev.holdfast.testkit;

import dev.holdfast.HoldfastException;
import dev.holdfast.Limits;
import dev.holdfast.Session;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.core.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One run of the real core, owner, effect runner and runtime over a simulated store, simulated agents and virtual time,
 * with everything drawn from one seed: senders that retry with keys, in every policy and through addresses; a person who
 * cancels, withdraws, pauses, drains, finishes and asks; agents that die, hang, fail and forget; readers that let go, settle
 * late and are fenced; hosts that are killed between any two steps, paused and overtaken, or hand a session over to each
 * other; clocks that are set. Safety is checked after every event, liveness after the faults have stopped.
 */
public final class Simulation {
    static final SessionName SESSION = new SessionName("simulated");
    /** Owns addresses that {@link #SESSION} would like to have. */
    static final SessionName NEIGHBOUR = new SessionName("neighbour");

    private static final Duration FAULTS = Duration.ofSeconds(40);
    private static final Duration CALM = Duration.ofHours(1);
    private static final int STEPS_MAX = 200_000;

    final Random random;
    final VirtualTime time;
    final VirtualTime.Group machine;
    final SimulatedStore store;
    final SimulatedAgents agents;
    final InvariantChecker checker;
    final Kind kind;
    private int answers;
    final Limits limits;
    private final long seed;
    private final Optional<SeededBug> bug;
    private final Coverage coverage;
    private final List<SimulatedSender> senders = new ArrayList<>();
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final List<Promised> promised = new ArrayList<>();
    private final SimulatedOperator operator;
    private boolean faulty = true;
    private int hostsMade;
    private int crashes;
    private int steps;

    /**
     * What a run showed.
     *
     * @param violation empty when every promise was kept
     */
    public record Outcome(
            long seed, Optional<String> violation, int messages, int crashes, int steps, Duration simulated) {}

    /** Who takes the session's mail. */
    enum Taker {
        AGENT,
        INBOX,
        MAILBOX,
        CHAT
    }

    /**
     * What kind of run it is.
     *
     * @param bound how many messages may lie unread
     * @param leased whether several hosts share the store, each claim a lease
     * @param jumps whether clocks are set now and then
     * @param ends whether the session is closed or finished on the way
     * @param wears whether processes grow old and big soon, and agents fall silent. Told by the seed's last digit, and not
     *     drawn: all other seeds run as they did before there was such a thing, so that those which are kept stay the same
     */
    record Kind(
            Taker taker,
            boolean combines,
            boolean borders,
            boolean stays,
            long bound,
            boolean leased,
            double signalsLost,
            boolean jumps,
            boolean ends,
            boolean wears) {
        @SuppressWarnings("EnumOrdinal") // any of the others
        static Kind drawn(Random random, long seed) {
            boolean read = random.nextInt(3) == 0;
            return new Kind(
                    read ? Taker.values()[1 + random.nextInt(3)] : Taker.AGENT,
                    !read && random.nextInt(3) == 0,
                    !read && random.nextInt(4) == 0,
                    random.nextInt(4) == 0,
                    random.nextInt(4) == 0 ? 3 + random.nextInt(4) : 10_000,
                    random.nextInt(2) == 0,
                    random.nextInt(2) * 0.3,
                    random.nextInt(3) == 0,
                    random.nextInt(4) == 0,
                    seed % 10 == 7 || seed % 10 == 9);
        }

        boolean read() {
            return taker != Taker.AGENT;
        }
    }

    /** Something a host promised to answer. */
    private record Promised(SimulatedHost host, String what, CompletionStage<?> answer) {
        boolean broken() {
            return host.runs() && !answer.toCompletableFuture().isDone();
        }
    }

    private Simulation(long seed, Optional<SeededBug> bug, Coverage coverage, Optional<Consumer<String>> trace) {
        this.seed = seed;
        this.bug = bug;
        this.coverage = coverage;
        random = new Random(seed);
        kind = Kind.drawn(random, seed);
        var quick = Limits.standard().withIdle(Duration.ofSeconds(20));
        limits = kind.wears() ? quick.withRecycling(Duration.ofSeconds(15), SimulatedProcess.BIG, 3) : quick;
        time = new VirtualTime(random);
        machine = time.new Group();
        store = new SimulatedStore(random, new SimulatedStore.Traits(kind.leased(), kind.signalsLost(), bug));
        var judged = new InvariantChecker.Judged(
                SESSION, kind.read(), kind.combines(), kind.borders(), kind.bound(), limits);
        checker = new InvariantChecker(judged, store, time::now, trace);
        agents = new SimulatedAgents(machine, random, checker, faults());
        operator = new SimulatedOperator(this);
        hosts.add(new SimulatedHost(this, true));
        if (kind.leased() && random.nextBoolean()) {
            hosts.add(new SimulatedHost(this, false));
        }
    }

    private SimulatedAgents.Faults faults() {
        return new SimulatedAgents.Faults(
                random.nextInt(4) * 0.04,
                random.nextInt(4) == 0 ? 0.02 : 0,
                random.nextInt(3) * 0.05,
                random.nextInt(3) * 0.05,
                random.nextInt(3) == 0 ? random.nextDouble() : 0,
                random.nextInt(3) * 0.1,
                random.nextInt(4) == 0 ? 0.1 : 0,
                random.nextInt(4) == 0 ? 3_000 : 25,
                kind.wears() ? 0.1 : 0,
                kind.wears() ? 0.2 : 0);
    }

    /** Runs one seed. The same seed and bug give the same run. */
    public static Outcome run(long seed, Optional<SeededBug> bug) {
        return run(seed, bug, new Coverage(), Optional.empty());
    }

    /** As {@link #run(long, Optional)}, telling line by line what happens. */
    public static Outcome run(long seed, Optional<SeededBug> bug, Consumer<String> trace) {
        return run(seed, bug, new Coverage(), Optional.of(trace));
    }

    static Outcome run(long seed, Optional<SeededBug> bug, Coverage coverage, Optional<Consumer<String>> trace) {
        return new Simulation(seed, bug, coverage, trace).run();
    }

    private Outcome run() {
        Optional<String> violation = Optional.empty();
        checker.trace(() -> kind.toString());
        try {
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                senders.add(new SimulatedSender(this, "c" + i, 1 + random.nextInt(5)));
                machine.after(Duration.ofMillis(random.nextInt(2_000)), senders.getLast()::next);
            }
            machine.after(Duration.ofMillis(random.nextInt(2_000)), operator::act);
            machine.after(Duration.ofMillis(random.nextInt(3_000)), this::fault);
            machine.after(Duration.ofSeconds(5), this::lookAfter);
            machine.at(time.now().plus(FAULTS), this::calm);
            stepUntil(time.now().plus(FAULTS).plus(CALM));
            end();
        } catch (InvariantChecker.Violation e) {
            violation = Optional.of(e.what());
        } catch (RuntimeException e) { // whatever throws into the world's one thread
            violation = Optional.of("P4: " + e + " at " + e.getStackTrace()[0]);
        }
        var simulated = Duration.between(VirtualTime.EPOCH, time.now());
        return new Outcome(seed, violation, checker.messages(), crashes, steps, simulated);
    }

    private void stepUntil(Instant until) {
        Optional<Instant> over = Optional.empty();
        while (steps++ < STEPS_MAX && time.step(until)) {
            checker.afterStep();
            if (faulty) {
                continue;
            }
            if (over.isPresent() && !time.now().isBefore(over.get())) {
                return;
            }
            if (!finished()) {
                over = Optional.empty();
            } else if (over.isEmpty()) {
                over = Optional.of(time.now().plusSeconds(2)); // what comes after the end is seen as well
            }
        }
        if (steps >= STEPS_MAX) {
            throw new InvariantChecker.Violation("L1: no end after " + steps + " steps");
        }
    }

    private boolean finished() {
        return senders.stream().allMatch(SimulatedSender::done)
                && checker.everythingEnded()
                && operator.done()
                && promised.stream().noneMatch(Promised::broken);
    }

    private void end() {
        checker.atTheEnd();
        operator.atTheEnd();
        for (Promised p : promised) {
            if (p.broken()) {
                throw new InvariantChecker.Violation("P4: never answered: " + p.what());
            }
        }
        for (SimulatedSender s : senders) {
            if (!s.done()) {
                throw new InvariantChecker.Violation("P4: a sender never gets a receipt: " + s);
            }
        }
    }

    boolean faulty() {
        return faulty;
    }

    int nextHost() {
        return ++hostsMade;
    }

    /** Each answer of a reader is one of its kind, so that it can be told whose is recorded. */
    int nextAnswer() {
        return ++answers;
    }

    Optional<SeededBug> bug() {
        return bug;
    }

    Coverage coverage() {
        return coverage;
    }

    // ---- what callers are promised --------------------------------------------------------------------------------

    /** The host is to answer, unless it is killed; an answer that is a failure is one that names its reason. */
    <T> CompletionStage<T> promised(SimulatedHost host, String what, CompletionStage<T> answer) {
        promised.add(new Promised(host, what, answer));
        return answer.whenComplete((value, failure) -> {
            var cause = failure instanceof CompletionException c && c.getCause() != null ? c.getCause() : failure;
            checker.trace(() -> what + ": " + (cause != null ? cause : value instanceof Session ? "" : value));
            if (cause != null && !(cause instanceof HoldfastException)) {
                checker.violation("P4: " + what + " fails with " + cause);
            }
        });
    }

    // ---- hosts ----------------------------------------------------------------------------------------------------

    /** The host that takes the mail. */
    Optional<SimulatedHost> primary() {
        return hosts.stream().filter(h -> h.runs() && h.primary()).findFirst();
    }

    /** Any host through which the session can be reached now. */
    Optional<SimulatedHost> anyHost() {
        var reachable =
                hosts.stream().filter(h -> h.runs() && h.session().isPresent()).toList();
        return reachable.isEmpty() ? Optional.empty() : Optional.of(reachable.get(random.nextInt(reachable.size())));
    }

    Optional<Session> anySession() {
        return anyHost().flatMap(SimulatedHost::session);
    }

    private void crash(SimulatedHost host) {
        crashes++;
        checker.trace(() -> host + " is killed");
        host.group.kill();
        hosts.remove(host);
        hosts.add(new SimulatedHost(this, host.primary()));
    }

    private void end(SimulatedHost host) {
        checker.trace(() -> host + " ends");
        host.group.kill();
        hosts.remove(host);
    }

    /** The host stops for a while; another takes its place; then the first goes on as if nothing had been. */
    private void overtake(SimulatedHost host) {
        checker.trace(() -> host + " is paused");
        host.group.pause();
        hosts.add(new SimulatedHost(this, host.primary()));
        machine.after(Duration.ofMillis(random.nextInt(kind.leased() ? 30_000 : 5_000)), host::goOn);
        machine.after(Duration.ofSeconds(35), () -> end(host));
    }

    /** The session goes from one host to another; both live (IN-18). */
    void handOver() {
        var from = primary();
        if (from.filter(SimulatedHost::holds).isEmpty()) {
            return;
        }
        var to = hosts.stream()
                .filter(h -> h.runs() && !h.primary())
                .findFirst()
                .orElseGet(() -> {
                    var fresh = new SimulatedHost(this, false);
                    hosts.add(fresh);
                    return fresh;
                });
        checker.trace(() -> from.get() + " hands the session over to " + to);
        from.get().release(Duration.ofSeconds(random.nextInt(10)), () -> {
            if (primary().isEmpty()) {
                to.becomePrimary();
            }
        });
    }

    /** Somebody sees to it that a host takes the mail. */
    private void lookAfter() {
        boolean handing = hosts.stream().anyMatch(h -> h.runs() && h.handingOver());
        if (primary().isEmpty() && (!handing || !faulty)) {
            hosts.stream()
                    .filter(SimulatedHost::runs)
                    .findFirst()
                    .ifPresentOrElse(SimulatedHost::becomePrimary, () -> hosts.add(new SimulatedHost(this, true)));
        }
        if (!faulty) {
            operator.putRight();
        }
        machine.after(Duration.ofSeconds(5), this::lookAfter);
    }

    // ---- faults ---------------------------------------------------------------------------------------------------

    /** Something goes wrong, and after a while something else. */
    private void fault() {
        if (!faulty) {
            return;
        }
        var host = hosts.get(random.nextInt(hosts.size()));
        switch (random.nextInt(9)) {
            case 0, 1 -> crash(host);
            case 2 -> agents.killOne();
            case 3 -> overtake(host);
            case 4 -> {
                agents.killOne();
                crash(host);
            }
            case 5 -> primary().ifPresent(SimulatedHost::disturbReader);
            case 6 -> {
                if (kind.leased()) {
                    handOver();
                }
            }
            case 7 -> {
                if (kind.jumps()) {
                    host.group.jump(Duration.ofSeconds(random.nextInt(600) - 300));
                }
            }
            default ->
                anySession().ifPresent(s -> {
                    var unused = s.evict();
                });
        }
        machine.after(Duration.ofMillis(random.nextInt(8_000)), this::fault);
    }

    private void calm() {
        faulty = false;
        checker.trace(() -> "calm");
        agents.stopFaults();
        if (random.nextBoolean()) {
            primary().ifPresent(this::crash);
        }
        hosts.stream().filter(h -> h.runs() && h.primary()).skip(1).toList().forEach(this::end);
        primary().ifPresent(SimulatedHost::restartReader);
        if (checker.phase() != Phase.CLOSED) {
            senders.add(new SimulatedSender(this, "probe", 1 + random.nextInt(2)));
            machine.after(Duration.ofMillis(random.nextInt(20_000)), senders.getLast()::next);
        }
    }

    SessionLimits unread() {
        return new SessionLimits(kind.bound(), 1L << 30);
    }
}
