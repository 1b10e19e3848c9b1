package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo, as a visitor runs it: with a real agent that is really killed. */
final class DemoTest {
    @Test
    void demo_keepsEveryPromise_alsoASecondTimeInTheSamePlace(@TempDir Path data) {
        var demo = Ran.command(data, "demo", "--data", data.toString());
        assertThat(demo.exit()).as(demo.out() + demo.err()).isZero();
        assertThat(demo.out())
                .contains("find_order {\"id\": 7}", "agent killed: kill -9", "All promises held.", "holdfast show demo")
                .doesNotContain("\u001b", "BROKEN");
        assertThat(demo.out().lines().filter(line -> line.startsWith("  ✓"))).hasSize(7);

        var second = Ran.command(data, "--json", "demo", "--data", data.toString());
        assertThat(second.exit()).as(second.out() + second.err()).isZero();
        var steps = second.objects();
        assertThat(steps.getFirst().path("session").asString()).isEqualTo("demo-2");
        assertThat(steps.getLast().path("kept").asBoolean()).isTrue();
        assertThat(Ran.command(data, "show", "demo").out()).contains("you    Where is order 7?");
    }
}
