package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.FeedEnd;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Everything that can happen next in a {@link World}, by name. */
final class WorldSteps {
    private final World world;
    private final Map<String, World.Step> steps;

    private WorldSteps(World world, Map<String, World.Step> steps) {
        this.world = world;
        this.steps = steps;
    }

    static Map<String, World.Step> of(World world) {
        var all = new WorldSteps(world, willing(world));
        if (world.shape.batches()) {
            all.together();
        }
        all.arrivals();
        all.host();
        all.readers();
        all.deaths();
        return all.steps;
    }

    private void once(Happening what, String name, boolean can, World.Step step) {
        int more = world.left.getOrDefault(what, 0);
        if (can && more > 0) {
            steps.put(name, w -> {
                var rest = new EnumMap<Happening, Integer>(w.left);
                rest.put(what, more - 1);
                w.left = rest;
                step.change(w);
            });
        }
    }

    /** Inputs decided one after the other and committed together. */
    private void together() {
        boolean unread = world.read < world.store.size();
        if (world.reports.size() > 1) {
            steps.put("hear and hear", w -> w.batch(World::hear, World::hear));
        }
        if (!world.reports.isEmpty() && unread) {
            steps.put("hear and read", w -> w.batch(World::hear, World::read));
            steps.put("read and hear", w -> w.batch(World::read, World::hear));
        }
    }

    private void arrivals() {
        boolean some = !world.store.isEmpty();
        var held = Set.of(Phase.PAUSED, Phase.DRAINING, Phase.PARKED);
        arrival(Happening.MESSAGE, true, ArrivalKind.MESSAGE, Header.Wish.none());
        arrival(Happening.PATIENT, true, ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        arrival(Happening.STEER, true, ArrivalKind.STEER, Header.Wish.none());
        arrival(Happening.REPLACE, true, ArrivalKind.REPLACE, Header.Wish.none());
        arrival(Happening.CANCEL, some, ArrivalKind.CANCEL, Header.Wish.none());
        arrival(Happening.CLEAR, some, ArrivalKind.CLEAR, Header.Wish.none());
        arrival(Happening.CUT, some, ArrivalKind.CUT, CoreDriver.from(1));
        arrival(Happening.RESET, some, ArrivalKind.RESET, Header.Wish.none());
        arrival(Happening.PAUSE, some, ArrivalKind.PAUSE, Header.Wish.none());
        arrival(Happening.RESUME, held.contains(world.durable.phase()), ArrivalKind.RESUME, Header.Wish.none());
        arrival(Happening.DRAIN, some, ArrivalKind.DRAIN, world.drainWish());
        arrival(Happening.FINISH, some, ArrivalKind.FINISH, Header.Wish.none());
        arrival(Happening.CLOSE, some, ArrivalKind.CLOSE, Header.Wish.none());
        arrival(Happening.RELEASE, some, ArrivalKind.RELEASE, Header.Wish.none());
        for (Header h : world.store) {
            if (h.kind().speaks()) {
                once(
                        Happening.WITHDRAW,
                        "withdraw " + h.number(),
                        !world.ledger.ended(h.number()),
                        w -> w.accept(ArrivalKind.WITHDRAW, CoreDriver.about(h.number())));
            }
        }
    }

    private void arrival(Happening what, boolean can, ArrivalKind kind, Header.Wish wish) {
        once(what, what.name(), can && admits(), w -> w.accept(kind, wish));
    }

    /** Senders are refused once a close or a finish is committed. */
    private boolean admits() {
        return world.durable.phase() != Phase.CLOSED
                && world.durable.finishing().isEmpty();
    }

    private void host() {
        once(Happening.LEAVING, "leave", true, w -> w.decide(new Input.Leaving()));
        once(Happening.TICK, "tick", world.due(), World::tick);
        once(Happening.INTERNAL, "ask internally", true, World::askInternally);
        once(
                Happening.RESTORE,
                "restore",
                !world.durable.released().isEmpty(),
                w -> w.decide(new Input.RestoreWanted(CoreDriver.numbers(w.durable.released()))));
        world.live.judging().ifPresent(n -> once(Happening.REJECTION, "reject " + n, true, w -> judge(w, n, true)));
    }

    private static void judge(World w, long number, boolean rejected) {
        w.decide(new Input.Judged(w.live.epoch(), w.durable.incarnation(), number, rejected));
    }

    private void readers() {
        if (!world.shape.settings().reader()) {
            return;
        }
        var r = world.reader;
        once(Happening.FEED, "open a feed", true, WorldSteps::openFeed);
        once(Happening.TAKE, "take", r.open() && !r.asks(), WorldSteps::ask);
        once(
                Happening.OVER,
                "let go",
                r.open() || !r.holds().isEmpty(),
                w -> w.decide(new Input.FeedOver(r.feed(), FeedEnd.ENDED, false)));
        once(
                Happening.OVER,
                "end the feed and keep",
                r.open(),
                w -> w.decide(new Input.FeedOver(r.feed(), FeedEnd.DRAINED, true)));
        once(Happening.TAKE, "take no more", r.asks(), w -> {
            w.reader = w.reader.asking(false);
            w.decide(new Input.TakeWithdrawn(r.feed()));
        });
        for (long m : r.holds()) {
            steps.put("settle " + m, w -> settle(w, m));
            once(
                    Happening.RETURN,
                    "return " + m,
                    true,
                    w -> w.decide(new Input.ReadReturned(r.feed(), List.of(m), "its taker was gone")));
        }
        var old = world.stale;
        once(
                Happening.STALE,
                "a stale reader takes",
                old.feed() > 0,
                w -> w.decide(new Input.TakeWanted(old.feed(), 1, true, 0)));
        for (long m : old.holds()) {
            once(
                    Happening.STALE,
                    "a stale reader settles " + m,
                    true,
                    w -> w.decide(new Input.ReadSettled(old.feed(), m, Outcome.ANSWERED, "late")));
        }
    }

    private static void openFeed(World w) {
        w.decide(new Input.FeedWanted("inbox"));
    }

    private static void ask(World w) {
        w.reader = w.reader.asking(true);
        w.decide(new Input.TakeWanted(w.reader.feed(), 1, true, 0));
    }

    private static void settle(World w, long message) {
        w.decide(new Input.ReadSettled(w.reader.feed(), message, Outcome.ANSWERED, "words"));
    }

    private void deaths() {
        once(Happening.OWN_TURN, "own turn", world.agent.up() && !world.agent.works(), w -> {
            w.agent = w.agent.beginOwnTurn();
            w.says(new Report.Busy());
        });
        boolean attached = world.live.stage() != AgentStage.DOWN
                && world.live.stage() != AgentStage.PLANNED
                && !world.endIsReported();
        var losses = new TreeSet<>(world.agent.losses());
        if (!world.shape.allLosses() && losses.size() > 2) {
            losses.remove(1);
        }
        for (int lost : losses) {
            once(Happening.AGENT_DEATH, "agent dies, loses " + lost, attached, w -> w.agentEnds(lost, "killed"));
            once(Happening.HOST_DEATH, "host dies, agent loses " + lost, true, w -> w.hostDies(lost));
        }
    }

    // ---- what happens by itself -----------------------------------------------------------------------------------

    /** What happens when everyone does their part. */
    static Map<String, World.Step> willing(World world) {
        var steps = bound(world);
        var agent = world.agent;
        if (agent.up() && !agent.written().isEmpty()) {
            steps.put("take", World::take);
        }
        if (agent.up() && agent.works()) {
            steps.put("finish", w -> {
                var id = w.agent.answerId();
                w.agent = w.agent.finish();
                w.says(new Report.Result(ModelAgent.result(TurnResult.Ending.ANSWERED, id)));
                w.says(new Report.Idle());
            });
            new WorldSteps(world, steps).once(Happening.LIMIT, "reach the limit", !agent.ownTurn(), w -> {
                var id = w.agent.answerId();
                w.agent = w.agent.stopAtLimit();
                w.says(new Report.Result(ModelAgent.result(TurnResult.Ending.TURN_LIMIT, id)));
                w.says(new Report.Idle());
            });
            new WorldSteps(world, steps).once(Happening.SILENCE, "fall silent", true, w -> {
                w.agent = w.agent.fallSilent();
                w.says(new Report.Idle());
            });
            new WorldSteps(world, steps).once(Happening.GROWTH, "finish and grow", true, w -> {
                var id = w.agent.answerId();
                w.agent = w.agent.finish();
                w.says(new Report.Result(ModelAgent.result(TurnResult.Ending.ANSWERED, id)));
                w.says(new Report.Memory(Long.MAX_VALUE));
                w.says(new Report.Idle());
            });
        }
        if (agent.up() && agent.interrupted()) {
            steps.put("obey", World::obey);
        }
        return steps;
    }

    /** A reader that does its part, when nothing else happens by itself. */
    static Map<String, World.Step> willingReader(World world) {
        var steps = new LinkedHashMap<String, World.Step>();
        var r = world.reader;
        if (!world.shape.settings().reader() || world.durable.phase() != Phase.OPEN) {
            return steps;
        }
        if (!r.holds().isEmpty()) {
            steps.put("settle", w -> settle(w, w.reader.holds().getFirst()));
        } else if (!world.durable.released().isEmpty()) {
            steps.put("restore", w -> w.decide(new Input.RestoreWanted(CoreDriver.numbers(w.durable.released()))));
        } else if (!r.open()) {
            steps.put("open a feed", WorldSteps::openFeed);
        } else if (!r.asks()) {
            steps.put("take", WorldSteps::ask);
        }
        return steps;
    }

    /** What happens even when the agent does nothing any more: reports made, the store, the slots, the stop ladder. */
    static Map<String, World.Step> bound(World world) {
        var steps = new LinkedHashMap<String, World.Step>();
        if (!world.reports.isEmpty()) {
            steps.put("hear " + world.reports.getFirst().getClass().getSimpleName(), World::hear);
        }
        boolean unread = world.read < world.store.size();
        if (unread) {
            steps.put("read", World::read);
        }
        if (world.sleepable() && (world.live.leaving() || unread)) {
            steps.put("another owner", World::wakeAnother);
        }
        world.live.judging().ifPresent(n -> steps.put("let through " + n, w -> judge(w, n, false)));
        switch (world.live.stage()) {
            case PLANNED ->
                steps.put(
                        "slot",
                        w -> w.decide(
                                new Input.Slot(w.live.epoch(), w.durable.incarnation(), Input.SlotAnswer.GRANTED)));
            case ASKING -> {
                if (!world.endIsReported()) {
                    steps.put(
                            "know",
                            w -> w.report(new Report.Known(w.agent.knowledge(
                                    w.effect(Effect.AskKnowledge.class).orElseThrow()))));
                }
            }
            case STARTING -> {
                if (!world.agent.up() && world.reports.isEmpty()) {
                    steps.put("start", World::start);
                }
            }
            case STOPPING -> {
                if (!world.endIsReported()) {
                    steps.put("stopped", w -> w.agentEnds(0, "asked to"));
                }
            }
            case DOWN, READY -> {}
        }
        return steps;
    }
}
