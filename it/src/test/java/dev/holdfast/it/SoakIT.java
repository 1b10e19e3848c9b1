package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The soak of {@code dev/soak}, short; and that it sees what is not flat. */
@Isolated
@Tag("slow")
final class SoakIT {
    @TempDir
    Path work;

    @Test
    @Tag("L2")
    @Tag("R1")
    @Tag("HS-08")
    @Tag("HS-16")
    void soak_short_losesNothingAndStaysFlat() throws IOException {
        long seed = Long.getLong("holdfast.seed", new Random().nextLong());
        var outcomes = Soak.run(new Soak.Plan(8, Duration.ofSeconds(12), 3, seed, work));
        System.err.println("SoakIT: " + outcomes.summary());
        assertThat(outcomes.breaches()).as("-Dholdfast.seed=" + seed).isEmpty();
        assertThat(outcomes.answered()).isGreaterThan(50);
        assertThat(outcomes.levels()).hasSize(5);
    }

    @Test
    void levels_thatGrow_areBreaches() {
        var first = new SoakLevel("warm", 0, 100, 9, 200, 50 << 20);
        assertThat(SoakLevel.compare(List.of(first, new SoakLevel("warm", 2, 103, 9, 203, 60 << 20)), 8))
                .isEmpty();
        for (SoakLevel last : List.of(
                new SoakLevel("warm", 2, 110, 9, 200, 50 << 20),
                new SoakLevel("warm", 2, 100, 9, 220, 50 << 20),
                new SoakLevel("warm", 2, 100, 9, 200, 90 << 20),
                new SoakLevel("warm", 2, 100, 12, 200, 50 << 20),
                new SoakLevel("cold", 2, 50, 1, 100, 50 << 20))) {
            assertThat(SoakLevel.compare(List.of(first, last), 8))
                    .as(last.toString())
                    .hasSize(1);
        }
    }
}
