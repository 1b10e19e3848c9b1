package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.claude.Deadlines;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every way an agent's process misbehaves, seen from its session: how its turn ends, that the next messages are answered,
 * each shown to the model once, and that nothing is left of it. The same ways without a session are in
 * {@code ProcessMatrixIT}.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
final class AgentMatrixIT {
    private static final Duration SHORT = Duration.ofSeconds(3);
    private static final Deadlines IMPATIENT =
            Deadlines.standard().firstOutput(SHORT).silence(SHORT).interrupt(SHORT);
    private static final Limits QUICK = Limits.standard()
            .withRestartDelays(List.of(Duration.ofMillis(20), Duration.ofMillis(20), Duration.ofMillis(20)));

    enum Way {
        IS_STOPPED("[[stop]]", Outcome.FAILED),
        HANGS("[[hang]]", Outcome.FAILED),
        NEVER_READS_AGAIN("[[never-read]]", Outcome.ANSWERED), // it reads one line more

        IGNORES_TERM_AND_ITS_INPUTS_END("[[ignore-term]] [[ignore-eof]]", Outcome.ANSWERED),
        CLOSES_STDOUT_AND_LIVES("[[once k close-stdout]]", Outcome.ANSWERED),
        STOPS_IN_MID_LINE("[[once k half]]", Outcome.ANSWERED),
        EXITS_0_WITHOUT_A_RESULT("[[once k no-result-exit 0]]", Outcome.ANSWERED),
        EXITS_3("[[once k exit 3]]", Outcome.ANSWERED),
        IS_KILLED("[[once k crash KILL]]", Outcome.ANSWERED),
        IS_TERMINATED("[[once k crash TERM]]", Outcome.ANSWERED),
        IS_ABORTED("[[once k crash ABRT]]", Outcome.ANSWERED),
        DIES_OF_IT_ALWAYS("[[crash KILL]]", Outcome.DEAD_LETTER),
        HAS_GRANDCHILDREN_THAT_HOLD_THE_PIPES("[[grandchild 600]]", Outcome.ANSWERED),
        HAS_A_GRANDCHILD_IN_A_SESSION_OF_ITS_OWN("[[escape 600]]", Outcome.ANSWERED),
        FLOODS_STDERR("[[flood stderr 20000000]]", Outcome.ANSWERED),
        FLOODS_STDOUT("[[flood stdout 20000000]]", Outcome.ANSWERED),
        WRITES_A_LONG_LINE("[[line 8000000]]", Outcome.ANSWERED),
        WRITES_INVALID_UTF8("[[bad-utf8]]", Outcome.ANSWERED);

        private final String steps;
        private final Outcome itsTurn;

        Way(String steps, Outcome itsTurn) {
            this.steps = steps;
            this.itsTurn = itsTurn;
        }
    }

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Way.class)
    @Tag("HS-07")
    @Tag("HS-08")
    @Tag("HS-11")
    @Tag("HS-13")
    @Tag("TN-04")
    void agent_misbehaving_harmsNoOtherTurnAndLeavesNothing(Way way) {
        try (var station = new AgentStation(directory, new ModelScript().on("M1", way.steps))
                .also("contains " + (way.itsTurn == Outcome.DEAD_LETTER ? "[holdfast] Your process" : "no such words")
                        + ": " + way.steps)
                .limits(QUICK)
                .deadlines(way == Way.CLOSES_STDOUT_AND_LIVES ? Deadlines.standard() : IMPATIENT)
                .open()) {
            var first = station.ask("M1 misbehave");
            assertThat(first.outcome()).as(first.toString()).isEqualTo(way.itsTurn);
            var second = station.ask("M2 next");
            assertThat(second.outcome()).as(second.toString()).isEqualTo(Outcome.ANSWERED);
            if (way == Way.NEVER_READS_AGAIN) {
                var unheard = station.ask("M into the void");
                assertThat(unheard.outcome()).as(unheard.toString()).isEqualTo(Outcome.FAILED);
                assertThat(unheard.detail()).isEqualTo("deadline passed: first_output");
            }
            assertThat(station.ask("M3 last").outcome()).isEqualTo(Outcome.ANSWERED);
            if (way.itsTurn == Outcome.FAILED) {
                assertThat(first.detail()).startsWith("deadline passed: ");
            }
            for (String words : List.of("M1 misbehave", "M3 last")) {
                assertThat(station.lastShown().count(words)).as(words).isLessThanOrEqualTo(1);
            }
        }
        Awaitility.await("nothing is left").atMost(Station.PATIENCE).until(() -> station(directory) == 0);
    }

    /** Living processes that were started with something of this directory. */
    private static long station(Path directory) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory.toString()))
                .filter(process -> !process.equals(ProcessHandle.current()))
                .count();
    }
}
