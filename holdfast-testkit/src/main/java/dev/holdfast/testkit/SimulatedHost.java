package dev.holdfast.testkit;

import dev.holdfast.Agent;
import dev.holdfast.Harness;
import dev.holdfast.Journal;
import dev.holdfast.Session;
import dev.holdfast.SessionPolicy;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolSpec;
import dev.holdfast.core.Core;
import dev.holdfast.runtime.DoorRules;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.runtime.ToolLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A host of a simulation: takes the mail of the session, or only reaches it. Not thread-safe. */
final class SimulatedHost {
    final VirtualTime.Group group;
    private final Simulation world;
    private final int number;
    private Instant knowsSince = Instant.MIN;
    private boolean primary;
    private boolean handingOver;
    private Optional<Journal> journal = Optional.empty();
    private Optional<Holdfast> holdfast = Optional.empty();
    private Optional<Session> session = Optional.empty();
    private Optional<SimulatedReader> reader = Optional.empty();

    SimulatedHost(Simulation world, boolean primary) {
        this.world = world;
        this.primary = primary;
        number = world.nextHost();
        group = world.time.new Group();
        world.machine.after(Duration.ofMillis(world.random.nextInt(500)), this::open);
    }

    boolean runs() {
        return !group.dead() && !group.paused();
    }

    /** Whether it runs, and has had time to notice that it was overtaken while it did not. */
    boolean knows() {
        return runs() && !knowsSince.isAfter(world.time.now());
    }

    /** Goes on after a pause. Without a lease it may never notice that it was overtaken, as long as it writes nothing. */
    void goOn() {
        knowsSince = world.kind.leased() ? world.time.now().plusSeconds(2) : Instant.MAX;
        group.resume();
    }

    /** Whether it takes the mail. */
    boolean primary() {
        return primary;
    }

    boolean handingOver() {
        return handingOver;
    }

    Optional<Session> session() {
        return session;
    }

    Optional<Holdfast> holdfast() {
        return holdfast;
    }

    Journal journal() {
        return journal.orElseThrow();
    }

    Optional<SimulatedReader> reader() {
        return reader;
    }

    private void open() {
        if (group.dead()) {
            return;
        }
        var core = world.coverage().watch(Core.standard(world.limits));
        var options = new Options(
                world.limits,
                world.unread(),
                4,
                Duration.ofSeconds(60),
                ToolLimits.standard(),
                DoorRules.standard().guard(SimulatedGuard.POLICY).askTime(Duration.ofSeconds(4)),
                Duration.ofSeconds(15),
                1 + world.random.nextInt(60),
                Optional.empty(),
                group,
                Optional.empty(),
                world.bug().map(b -> b.plant(core)).orElse(core));
        var opened = world.store.open(group);
        journal = Optional.of(opened);
        holdfast = Optional.of(Holdfast.open(opened, options));
        if (primary) {
            takeUp();
        } else {
            reach();
        }
    }

    void becomePrimary() {
        primary = true;
        handingOver = false;
        world.checker.trace(() -> this + " is to take the mail");
        if (holdfast.isPresent()) {
            takeUp();
        }
    }

    private void takeUp() {
        var here = holdfast.orElseThrow();
        if (world.kind.read()) {
            if (reader.isEmpty()) {
                reader = Optional.of(new SimulatedReader(world, this, here));
            }
            reader.get().open();
            return;
        }
        var policy = SessionPolicy.standard()
                .combine(world.kind.combines())
                .stay(world.kind.stays() ? SessionPolicy.Stay.STAY_OPEN : SessionPolicy.Stay.END_WHEN_IDLE);
        if (world.kind.borders()) {
            policy = policy.boundary(text -> text.contains(InvariantChecker.BORDER));
        }
        world.promised(this, "take up", here.sessionAsync(Simulation.SESSION, new SimulatedAgent(), policy))
                .whenComplete((found, failure) -> {
                    if (failure == null) {
                        reached(found);
                    } else {
                        group.after(Duration.ofSeconds(1), this::takeUp); // somebody tries again
                    }
                });
    }

    /** Only reaches the session; tried again while nobody has opened it. */
    void reach() {
        holdfast.orElseThrow().mailAsync(Simulation.SESSION).whenComplete((found, failure) -> {
            if (failure == null) {
                reached(found);
            } else if (session.isEmpty()) {
                group.after(Duration.ofMillis(500), this::reach);
            }
        });
    }

    /** Whether the session was taken up here, and not only reached. */
    boolean holds() {
        return holdfast.flatMap(h -> h.open(Simulation.SESSION)).isPresent();
    }

    /** Whether it still is the session of this host. */
    @SuppressWarnings("ReferenceEquality") // that very object
    boolean has(Session one) {
        return session.filter(s -> s == one).isPresent();
    }

    @SuppressWarnings("ReferenceEquality") // that very object
    void reached(Session found) {
        if (session.filter(s -> s == found).isEmpty()) {
            session = Optional.of(found);
            var unused = found.onInterrupt(r -> world.checker.announced(r.number()));
        }
    }

    /** Lets the session go; {@code then} is done once it has. */
    void release(Duration within, Runnable then) {
        primary = false;
        handingOver = true;
        session = Optional.empty();
        reader.ifPresent(SimulatedReader::stop);
        reader = Optional.empty();
        world.promised(this, "release", holdfast.orElseThrow().release(Simulation.SESSION, within))
                .whenComplete((drained, failure) -> {
                    handingOver = false;
                    if (!primary) {
                        reach();
                    }
                    world.machine.executor().execute(then);
                });
    }

    void disturbReader() {
        reader.ifPresent(SimulatedReader::disturb);
    }

    void restartReader() {
        reader.ifPresent(SimulatedReader::restart);
    }

    @Override
    public String toString() {
        return "host " + number;
    }

    private final class SimulatedAgent implements Agent {
        @Override
        public Harness harness() {
            return world.agents.harness();
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
            world.checker.toolRuns(call);
            return ToolAnswer.text("done");
        }
    }
}
