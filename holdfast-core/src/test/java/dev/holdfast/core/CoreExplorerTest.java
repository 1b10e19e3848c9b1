package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every interleaving of a handful of things, breadth first, so that what fails is shown by a shortest path. What is checked
 * in each state is in {@link World}; a state met before is not entered again.
 */
class CoreExplorerTest {
    /** One state in this many is played on to its end, by a willing agent and by one that falls silent. */
    private static final int DRAINED = 16;

    @Test
    @Tag("P2")
    @Tag("P4")
    void twoMessages_withDeaths() {
        explore(new World.Budget(2, 0, 0, 1, 1, 1, 0));
    }

    @Test
    void steerCancel() {
        explore(new World.Budget(1, 1, 1, 1, 1, 1, 0));
    }

    @Test
    void custom() {
        var b = java.util.Arrays.stream(System.getProperty("budget").split(","))
                .mapToInt(Integer::parseInt)
                .toArray();
        explore(new World.Budget(b[0], b[1], b[2], b[3], b[4], b[5], b[6]));
    }

    @Test
    void one() {
        explore(new World.Budget(1, 0, 0, 1, 1, 1, 0));
    }

    private static void explore(World.Budget budget) {
        long begin = System.nanoTime();
        Set<Long> seen = new HashSet<>();
        List<World> level = List.of(World.begin(budget));
        long steps = 0;
        int depth = 0;
        while (!level.isEmpty()) {
            var next = new ArrayList<World>();
            for (World world : level) {
                for (var step : world.steps().entrySet()) {
                    var after = world.after(step.getKey(), step.getValue());
                    steps++;
                    long hash = hash(after.key());
                    if (seen.add(hash)) {
                        next.add(after);
                        if (Math.floorMod(hash, DRAINED) == 0) {
                            after.drain(true);
                            after.drain(false);
                        }
                    }
                }
            }
            level = next;
            depth++;
            if (depth % 5 == 0)
                System.out.println("depth " + depth + " level " + level.size() + " seen " + seen.size());
        }
        System.out.println(budget + ": " + seen.size() + " states, " + steps + " steps, depth " + depth + ", "
                + (System.nanoTime() - begin) / 1_000_000 + " ms");
        assertThat(seen).hasSizeGreaterThan(100);
    }

    private static long hash(String text) {
        long h = 1125899906842597L;
        for (int i = 0; i < text.length(); i++) {
            h = (h ^ text.charAt(i)) * 0x9E3779B97F4A7C15L;
            h ^= h >>> 29;
        }
        return h;
    }
}
