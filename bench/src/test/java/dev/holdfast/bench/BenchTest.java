package dev.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each benchmark runs to its end and finds something to say. What it measures here means nothing. */
class BenchTest {
    private static final PrintStream NOWHERE =
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);

    @TempDir
    Path figures;

    @Test
    void turn_quick_measuresEveryVariantAndCountsCommits() throws Exception {
        var found = Bench.run("turn", true, figures, NOWHERE);
        assertThat(found.rows())
                .hasSize(5)
                .allSatisfy((variant, row) ->
                        assertThat(found.number(variant, "per_s")).as(variant).isPositive());
        assertThat(found.number("held, lone asks", "commits/turn")).isBetween(3.0, 3.2);
        assertThat(found.number("held, queue", "commits/turn")).isBetween(1.0, 3.0);
        assertThat(figures.resolve("turn.json")).isNotEmptyFile();
    }

    @Test
    void held_quick_measuresTurnsLinesAndMemory() throws Exception {
        var found = Bench.run("held", true, figures, NOWHERE);
        assertThat(found.rows())
                .satisfiesAnyOf( // without a C compiler there is no agent to measure with
                        rows -> assertThat(rows).isEmpty(),
                        rows -> assertThat(rows).hasSize(9))
                .allSatisfy((variant, row) ->
                        assertThat(found.number(variant, "count")).as(variant).isPositive());
        assertThat(figures.resolve("held.json")).isNotEmptyFile();
    }

    @Test
    void journal_quick_measuresEveryShapeBesidePlainSql() throws Exception {
        var found = Bench.run("journal", true, figures, NOWHERE);
        assertThat(found.rows())
                .hasSize(10)
                .allSatisfy((variant, row) ->
                        assertThat(found.number(variant, "per_s")).as(variant).isPositive());
        assertThat(found.number("64 senders, hot session", "per_commit")).isGreaterThan(1);
        assertThat(figures.resolve("journal.json")).isNotEmptyFile();
    }

    @Test
    @Tag("TL-07")
    @Tag("TL-09")
    void tools_quick_countsEventsAndAnswersTheRightCallers() throws Exception {
        var found = Bench.run("tools", true, figures, NOWHERE);
        assertThat(found.rows()).hasSize(6);
        assertThat(found.number("read-only call", "events")).isZero();
        assertThat(found.number("call with side effects", "events")).isBetween(1.9, 2.1);
        assertThat(found.number("1000 calls at once over 50 sessions", "right")).isEqualTo(1_000);
        assertThat(figures.resolve("tools.json")).isNotEmptyFile();
    }
}
