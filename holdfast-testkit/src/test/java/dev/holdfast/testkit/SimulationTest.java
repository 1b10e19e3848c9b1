package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The real runtime over a simulated store and simulated agents, with crashes between any two steps. */
class SimulationTest {
    @Test
    @Tag("P1")
    @Tag("P2")
    @Tag("P3")
    @Tag("IN-12")
    @Tag("IN-22")
    @Tag("TN-08")
    @Tag("TN-13")
    @Tag("TN-14")
    @Tag("TN-16")
    void aFewSeeds_keepEveryPromise() {
        assertThat(simulate("--seeds", "200")).contains("0 broke a promise");
    }

    /** Safety after every event, liveness once the faults have stopped: every accepted message comes to an end. */
    @Test
    @Tag("slow")
    @Tag("P1")
    @Tag("P2")
    @Tag("P3")
    @Tag("P4")
    @Tag("MB-05")
    @Tag("MB-06")
    @Tag("MB-17")
    @Tag("IN-12")
    @Tag("IN-21")
    @Tag("IN-22")
    @Tag("TN-08")
    @Tag("TN-12")
    @Tag("TN-13")
    @Tag("TN-14")
    @Tag("TN-15")
    @Tag("TN-16")
    void aThousandSeeds_keepEveryPromise() {
        var said = simulate("--first", "1000", "--seeds", "1000");
        System.out.print(said);
        assertThat(said).contains("0 broke a promise");
    }

    /** Each showed a mistake once; docs/track-record.md says which. */
    @ParameterizedTest
    @ValueSource(
            longs = {
                180, 594, 1022, 1705, 1900, 2172, 2401, 2620, 3101, 3428, 3555, 4220, 4373, 4946, 5310, 5673, 7728,
                9235, 10_032, 11_631
            })
    @Tag("P2")
    @Tag("P4")
    void seedThatFailedOnce_keepsEveryPromise(long seed) {
        assertThat(Simulation.run(seed, Optional.empty()).violation()).isEmpty();
    }

    @Test
    void sameSeed_givesTheSameRun() {
        var first = new ArrayList<String>();
        var second = new ArrayList<String>();
        Simulation.run(7, Optional.empty(), first::add);
        Simulation.run(7, Optional.empty(), second::add);

        assertThat(first).isNotEmpty().isEqualTo(second);
    }

    @ParameterizedTest
    @EnumSource
    void seededBug_isCaught(SeededBug bug) {
        var caught = Simulate.catching(bug);

        assertThat(caught).as("a run that shows " + bug.option()).isPresent();
    }

    private static String simulate(String... args) {
        var bytes = new ByteArrayOutputStream();
        Simulate.run(List.of(args), new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
