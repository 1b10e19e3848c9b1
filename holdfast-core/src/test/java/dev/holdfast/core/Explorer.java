package dev.holdfast.core;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/**
 * Visits every state of a {@link World}, breadth first, so that what fails is shown by a shortest path. A state met before
 * is not entered again. No randomness: a failure repeats. Each level is visited by every processor there is.
 */
final class Explorer {
    private final int playedOn;
    private final Set<Long> seen = ConcurrentHashMap.newKeySet();
    private final LongAdder edges = new LongAdder();

    /** @param playedOn one state in this many is played on to its end, by a willing agent and by one that falls silent */
    Explorer(int playedOn) {
        this.playedOn = playedOn;
    }

    /** How many states there are. */
    long states() {
        return seen.size();
    }

    /** How many steps lead from one to another. */
    long edges() {
        return edges.sum();
    }

    void explore(World.Shape shape, Map<Happening, Integer> budget) {
        Collection<World> level = List.of(World.begin(shape, budget));
        while (!level.isEmpty()) {
            var next = new ConcurrentLinkedQueue<World>();
            var failures = new ConcurrentLinkedQueue<AssertionError>();
            level.parallelStream().forEach(world -> {
                try {
                    visit(world, next);
                } catch (AssertionError e) {
                    failures.add(e);
                }
            });
            failures.stream()
                    .min((a, b) -> String.valueOf(a.getMessage()).compareTo(String.valueOf(b.getMessage())))
                    .ifPresent(e -> {
                        throw e;
                    });
            level = next;
        }
    }

    private void visit(World world, Collection<World> next) {
        WorldSteps.of(world).forEach((name, step) -> {
            var after = world.after(name, step);
            long key = after.key();
            edges.increment();
            if (seen.add(key)) {
                next.add(after);
                if (Math.floorMod(key, playedOn) == 0) {
                    after.drain(true);
                    after.drain(false);
                }
            }
        });
    }
}
