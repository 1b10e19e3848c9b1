package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.it.KillLoop.Plan;
import dev.holdfast.it.KillLoop.Store;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 200 kills of a real process on real stores, and mistakes that a few kills must bring to light. */
@Execution(ExecutionMode.CONCURRENT)
final class KillLoopIT {
    @TempDir
    static Path trained;

    private static KillCommand command;

    @TempDir
    Path work;

    @BeforeAll
    static void train() throws IOException {
        command = KillCommand.trained(trained);
    }

    private static long seed() {
        return Long.getLong("holdfast.seed", new Random().nextLong());
    }

    @Tag("P1")
    @Tag("P2")
    @Tag("MB-01")
    @Tag("MB-05")
    @Tag("MB-06")
    @Tag("MB-17")
    @Tag("IN-12")
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"SQLITE, 150", "POSTGRESQL, 50"})
    void kill_manyTimes_losesNothingAcknowledgedAndSettlesNothingTwice(Store store, int kills) throws IOException {
        var outcome = KillLoop.run(new Plan(store, kills, seed(), KillMistake.NONE, work), command);
        System.err.println("KillLoopIT: " + outcome.summary());
        assertThat(outcome.breaches())
                .as("-Dholdfast.seed=" + outcome.plan().seed())
                .isEmpty();
        assertThat(outcome.kills()).isEqualTo(kills);
        assertThat(outcome.sent()).isGreaterThan(kills * 5L);
        assertThat(outcome.settled()).isGreaterThan(kills * 5L);
        assertThat(outcome.inStart()).isPositive();
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"ACKNOWLEDGED_EARLY, LOST", "ENDED_EARLY, LOST", "KEY_FORGOTTEN, TWICE", "GIVEN_AGAIN, TWICE"})
    void kill_withAMistakeInTheHouse_isReported(KillMistake mistake, KillLedger.Promise broken) throws IOException {
        var outcome = KillLoop.run(new Plan(Store.SQLITE, 12, seed(), mistake, work), command);
        System.err.println("KillLoopIT: " + mistake + ": " + outcome.summary());
        assertThat(outcome.breaches())
                .as("-Dholdfast.seed=" + outcome.plan().seed())
                .anyMatch(b -> b.startsWith(broken.name()));
    }
}
