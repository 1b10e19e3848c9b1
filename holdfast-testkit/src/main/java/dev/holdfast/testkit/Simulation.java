package dev.holdfast.testkit;

import dev.holdfast.Agent;
import dev.holdfast.Author;
import dev.holdfast.Harness;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolSpec;
import dev.holdfast.core.Core;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * One run of the real core, owner, effect runner and runtime over a simulated store, simulated agents and virtual time,
 * with everything drawn from one seed: senders that retry with keys, steers, cancels, evictions; agents that die, hang,
 * fail and forget; hosts that are killed between any two steps, or paused and overtaken. Safety is checked after every
 * event, liveness after the faults have stopped.
 */
public final class Simulation {
    private static final SessionName SESSION = new SessionName("simulated");
    private static final Duration FAULTS = Duration.ofSeconds(40);
    private static final Duration CALM = Duration.ofHours(3);
    private static final int STEPS_MAX = 200_000;

    private final long seed;
    private final Random random;
    private final VirtualTime time;
    private final VirtualTime.Group machine;
    private final SimulatedStore store = new SimulatedStore();
    private final SimulatedAgents agents;
    private final InvariantChecker checker;
    private final Optional<SeededBug> bug;
    private final List<Client> clients = new ArrayList<>();
    private Host host;
    private boolean faulty = true;
    private int crashes;
    private int steps;

    /**
     * What a run showed.
     *
     * @param violation empty when every promise was kept
     */
    public record Outcome(
            long seed, Optional<String> violation, int messages, int crashes, int steps, Duration simulated) {}

    private Simulation(long seed, Optional<SeededBug> bug, Consumer<String> trace) {
        this.seed = seed;
        this.bug = bug;
        random = new Random(seed);
        time = new VirtualTime(random);
        machine = time.new Group();
        bug.ifPresent(b -> b.plant(store));
        checker = new InvariantChecker(SESSION, store, what -> trace.accept(time.now() + " " + what));
        agents = new SimulatedAgents(machine, random, checker, faults());
        host = new Host();
    }

    private SimulatedAgents.Faults faults() {
        return new SimulatedAgents.Faults(
                random.nextInt(4) * 0.04,
                random.nextInt(4) == 0 ? 0.02 : 0,
                random.nextInt(3) * 0.05,
                random.nextInt(3) * 0.05,
                random.nextInt(3) * 0.1,
                random.nextInt(4) == 0 ? 0.1 : 0);
    }

    /** Runs one seed. The same seed and bug give the same run. */
    public static Outcome run(long seed, Optional<SeededBug> bug) {
        return run(seed, bug, what -> {});
    }

    /** As {@link #run(long, Optional)}, telling line by line what happens. */
    public static Outcome run(long seed, Optional<SeededBug> bug, Consumer<String> trace) {
        return new Simulation(seed, bug, trace).run();
    }

    private Outcome run() {
        Optional<String> violation = Optional.empty();
        try {
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                var client = new Client("c" + i, 1 + random.nextInt(5));
                clients.add(client);
                machine.after(Duration.ofMillis(random.nextInt(2_000)), client::next);
            }
            machine.after(Duration.ofMillis(random.nextInt(3_000)), this::fault);
            machine.at(time.now().plus(FAULTS), this::calm);
            stepUntil(time.now().plus(FAULTS));
            stepUntil(time.now().plus(CALM));
            checker.atTheEnd();
        } catch (InvariantChecker.Violation e) {
            violation = Optional.of(e.what());
        }
        var simulated = Duration.between(Instant.parse("2026-01-01T00:00:00Z"), time.now());
        return new Outcome(seed, violation, checker.messages(), crashes, steps, simulated);
    }

    private void stepUntil(Instant until) {
        while (steps++ < STEPS_MAX && time.step(until)) {
            checker.afterStep();
            if (!faulty && clients.stream().allMatch(Client::done) && checker.everythingEnded()) {
                return;
            }
        }
        if (steps >= STEPS_MAX) {
            throw new InvariantChecker.Violation("L1: no end after " + steps + " steps");
        }
    }

    /** Something goes wrong, and after a while something else. */
    private void fault() {
        if (!faulty) {
            return;
        }
        switch (random.nextInt(6)) {
            case 0, 1 -> crashHost();
            case 2 -> agents.killOne();
            case 3 -> overtakeHost();
            case 4 -> {
                agents.killOne();
                crashHost();
            }
            default -> host.session.ifPresent(Session::evict);
        }
        machine.after(Duration.ofMillis(random.nextInt(8_000)), this::fault);
    }

    private void crashHost() {
        crashes++;
        host.group.kill();
        host = new Host();
    }

    /** The host stops for a while; another takes its place; then the first goes on as if nothing had been. */
    private void overtakeHost() {
        var old = host.group;
        old.pause();
        host = new Host();
        machine.after(Duration.ofMillis(random.nextInt(5_000)), old::resume);
        machine.after(Duration.ofSeconds(20), old::kill);
    }

    private void calm() {
        faulty = false;
        agents.stopFaults();
        crashHost(); // a person takes the session up again, which resumes it when it is parked
    }

    // ---- a host ---------------------------------------------------------------------------------------------------

    private final class Host {
        private final VirtualTime.Group group = time.new Group();
        private Optional<Session> session = Optional.empty();

        Host() {
            machine.after(Duration.ofMillis(random.nextInt(500)), this::open);
        }

        private void open() {
            if (group.dead()) {
                return;
            }
            var limits = Limits.standard().withIdle(Duration.ofSeconds(20));
            var core = bug.map(b -> b.plant(Core.standard(limits))).orElseGet(() -> Core.standard(limits));
            var options = new Options(
                    limits,
                    SessionLimits.standard(),
                    4,
                    Duration.ofSeconds(60),
                    Duration.ofMinutes(5),
                    Duration.ofSeconds(15),
                    1 + random.nextInt(60),
                    Optional.empty(),
                    group,
                    Optional.empty(),
                    core);
            var holdfast = Holdfast.open(store.open(group), options);
            var unused = holdfast.sessionAsync(SESSION, new SimulatedAgent()).whenComplete((s, failure) -> {
                if (failure != null) {
                    throw new InvariantChecker.Violation("a session cannot be opened: " + failure);
                }
                session = Optional.of(s);
            });
        }
    }

    private final class SimulatedAgent implements Agent {
        @Override
        public Harness harness() {
            return agents.harness();
        }

        @Override
        public List<Object> tools() {
            return List.of(new Work());
        }
    }

    /** The host tool of every simulated session: must not run without a durable start. */
    private final class Work implements Tool {
        @Override
        public ToolSpec spec() {
            return new ToolSpec("work", "does some work", "{\"type\":\"object\"}");
        }

        @Override
        public ToolAnswer call(ToolCall call) {
            checker.toolRuns(call);
            return ToolAnswer.text("done");
        }
    }

    // ---- a sender -------------------------------------------------------------------------------------------------

    /** Sends its messages one after the other, each until it has a receipt, with one key. */
    private final class Client {
        private final String name;
        private int left;
        private int sent;
        private boolean waiting;

        Client(String name, int count) {
            this.name = name;
            this.left = count;
        }

        boolean done() {
            return left == 0;
        }

        private void next() {
            if (left > 0) {
                sent++;
                attempt(name + "-" + sent, random.nextInt(5) == 0);
            }
        }

        private void attempt(String key, boolean steer) {
            if (host.session.isEmpty()) {
                machine.after(Duration.ofMillis(100), () -> attempt(key, steer));
                return;
            }
            var message = Message.of("<<" + key + ">>").key(key).author(new Author(name, "test"));
            waiting = true;
            var session = host.session.get();
            if (steer) {
                var unused = session.steerAsync(message)
                        .whenComplete((answer, failure) -> machine.executor().execute(() -> received(key)));
                machine.after(Duration.ofSeconds(10), () -> retry(key, steer));
                return;
            }
            var unused = session.sendAsync(message).whenComplete((receipt, failure) -> {
                if (failure == null) {
                    checker.acknowledged(key, receipt);
                    machine.executor().execute(() -> received(key));
                    watch(session, receipt);
                }
            });
            if (random.nextInt(6) == 0) {
                var unusedToo = session.interruptAsync();
            }
            machine.after(Duration.ofSeconds(2), () -> retry(key, steer));
        }

        /** A caller is told an end only once, and the one that is on the disk. */
        private void watch(Session session, Receipt receipt) {
            if (receipt instanceof Receipt.Accepted a && random.nextBoolean()) {
                var unused = session.reply(a.number()).thenAccept(checker::told);
            }
        }

        private void retry(String key, boolean steer) {
            if (waiting && key.equals(name + "-" + sent)) {
                attempt(key, steer);
            }
        }

        private void received(String key) {
            if (waiting && key.equals(name + "-" + sent)) {
                waiting = false;
                left--;
                machine.after(Duration.ofMillis(random.nextInt(5_000)), this::next);
            }
        }
    }
}
