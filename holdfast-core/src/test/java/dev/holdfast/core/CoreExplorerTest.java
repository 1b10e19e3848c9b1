package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * Every interleaving of a handful of things, breadth first, so that what fails is shown by a shortest path. What must hold
 * in each state is in {@link World}; a state met before is not entered again. No randomness: a failure repeats.
 */
@Tag("P2")
@Tag("P4")
@Tag("TN-13")
@Tag("TN-14")
class CoreExplorerTest {
    /** One state in this many is played on to its end, by a willing agent and by one that falls silent. */
    private static final int DRAINED = 32;

    private TestReporter reporter;

    @BeforeEach
    void reportTo(TestReporter to) {
        reporter = to;
    }

    @Test
    void twoMessages_overDeathsOfBothSides_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.AGENT_DEATH, 1, Happening.HOST_DEATH, 1, Happening.TICK, 1));
    }

    @Test
    void messageAndSteer_overDeathsOfBothSides_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.STEER, 1, Happening.AGENT_DEATH, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    void messageAndCancel_overHostDeathAndDeadlines_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.CANCEL, 1, Happening.HOST_DEATH, 1, Happening.TICK, 2));
    }

    @Test
    void messagesAndCancel_besideATurnOfTheAgentsOwn_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.CANCEL, 1, Happening.OWN_TURN, 1));
    }

    @Test
    void messageAndSteer_overAnOrderlyStop_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.STEER, 1, Happening.LEAVING, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    void messageAndCancel_overDeathDeadlineAndOwnTurn_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 1,
                Happening.CANCEL, 1,
                Happening.AGENT_DEATH, 1,
                Happening.TICK, 1,
                Happening.OWN_TURN, 1));
    }

    @Test
    void twoSteers_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.STEER, 2, Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("slow")
    void oneOfEachKind_overDeathsOfBothSides_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 1,
                Happening.STEER, 1,
                Happening.CANCEL, 1,
                Happening.AGENT_DEATH, 1,
                Happening.HOST_DEATH, 1,
                Happening.TICK, 1));
    }

    @Test
    @Tag("slow")
    void twoMessagesSteerAndCancel_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.STEER, 1, Happening.CANCEL, 1, Happening.HOST_DEATH, 1));
    }

    private void explore(Map<Happening, Integer> budget) {
        explore(World.Shape.whole(Settings.standard()), budget);
    }

    private void explore(World.Shape shape, Map<Happening, Integer> budget) {
        Set<Long> seen = new HashSet<>();
        List<World> level = List.of(World.begin(shape, budget));
        long steps = 0;
        while (!level.isEmpty()) {
            var next = new ArrayList<World>();
            for (World world : level) {
                for (var step : WorldSteps.of(world).entrySet()) {
                    var after = world.after(step.getKey(), step.getValue());
                    long key = after.key();
                    steps++;
                    if (seen.add(key)) {
                        next.add(after);
                        playOn(after, key);
                    }
                }
            }
            level = next;
        }
        reporter.publishEntry(budget.toString(), seen.size() + " states, " + steps + " steps");
        assertThat(seen).hasSizeGreaterThan(1_000);
    }

    private static void playOn(World world, long key) {
        if (Math.floorMod(key, DRAINED) == 0) {
            world.drain(true);
            world.drain(false);
        }
    }
}
