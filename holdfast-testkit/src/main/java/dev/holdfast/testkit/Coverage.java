package dev.holdfast.testkit;

import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Effect;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Turn;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the distinct pairs of state and input that runs of a core came to, figures left out. Thread-safe. */
final class Coverage {
    private final Set<Integer> pairs = ConcurrentHashMap.newKeySet();
    private final Set<Integer> states = ConcurrentHashMap.newKeySet();

    int pairs() {
        return pairs.size();
    }

    int states() {
        return states.size();
    }

    Core watch(Core core) {
        return new WatchedCore(core);
    }

    private void seen(Durable d, Live l, Input input) {
        int state = Objects.hash(
                d.phase(),
                d.turn().map(Coverage::shape),
                few(d.front().size()),
                few(d.reading().inHand().size()),
                d.reading().open(),
                few(d.released().size()),
                d.finishing().isPresent(),
                d.questions().isEmpty(),
                d.continueAfter().isPresent(),
                d.restartAt().isPresent(),
                Math.min(d.failures(), 2),
                d.up(),
                live(l, d));
        states.add(state);
        pairs.add(Objects.hash(state, shape(input, l)));
    }

    private static int live(Live l, Durable d) {
        return Objects.hash(
                l.stage(),
                l.busy(),
                l.awaitIdle(),
                l.interrupt(),
                l.told().isPresent(),
                l.stop(),
                l.calls().isEmpty(),
                few(l.waiting().tailMap(d.takenThrough(), false).size()),
                l.leaving(),
                l.freeSlot(),
                l.internal().isEmpty(),
                l.judging().isPresent(),
                l.demand().isPresent(),
                l.settings().taker());
    }

    private static int shape(Turn turn) {
        return Objects.hash(
                turn.stage(),
                turn.inFlight(),
                turn.exposed(),
                turn.cancelled(),
                Math.min(turn.agentDeaths(), 2),
                Math.min(turn.hostDeaths(), 2),
                turn.original().kind(),
                turn.current().kind(),
                turn.openSteer().isPresent(),
                turn.messages().size() > 1);
    }

    private static int shape(Input input, Live l) {
        return switch (input) {
            case Input.Arrived a ->
                Objects.hash(
                        "Arrived",
                        a.headers().stream()
                                .map(h -> h.kind())
                                .distinct()
                                .limit(3)
                                .toList());
            case Input.Reported r -> Objects.hash(r.report().getClass(), r.epoch() == l.epoch());
            default -> input.getClass().hashCode();
        };
    }

    private static int few(int count) {
        return Math.min(count, 2);
    }

    private final class WatchedCore implements Core {
        private final Core core;

        WatchedCore(Core core) {
            this.core = core;
        }

        @Override
        public Decision decide(Durable durable, Live live, Input input, Instant now) {
            seen(durable, live, input);
            return core.decide(durable, live, input, now);
        }

        @Override
        public Durable apply(Durable durable, Event event) {
            return core.apply(durable, event);
        }

        @Override
        public Set<Effect> effects(Durable durable, Live live) {
            return core.effects(durable, live);
        }

        @Override
        public Optional<Instant> dueAt(Durable durable, Live live) {
            return core.dueAt(durable, live);
        }

        @Override
        public Optional<Instant> wakeAt(Durable durable, Live live) {
            return core.wakeAt(durable, live);
        }

        @Override
        public boolean idle(Durable durable, Live live) {
            return core.idle(durable, live);
        }

        @Override
        public boolean waits(Durable durable, Live live) {
            return core.waits(durable, live);
        }

        @Override
        public boolean sleepable(Durable durable, Live live, Instant now) {
            return core.sleepable(durable, live, now);
        }
    }
}
