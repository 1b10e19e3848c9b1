package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.holdfast.Journal;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.testkit.HarnessConformance;
import dev.holdfast.testkit.HarnessStage;
import dev.holdfast.testkit.ScriptedThinker;
import dev.holdfast.testkit.ThinkerFault;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a harness can do wrong is found by the conformance suite, each by the clause that is about it. */
@Tag("HN-11")
final class BrokenHarnessTest {
    @TempDir
    Path directory;

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments(ThinkerFault.LOSES_TEXT, "text_ofTheAnswer_reachesWatchersInOrderAndTheReplyWhole"),
                arguments(ThinkerFault.WRITES_TO_THE_OLD_SINK, "text_ofTwoTurns_goesToItsOwnTurn"),
                arguments(ThinkerFault.NO_USAGE, "usage_ofATurn_isReported"),
                arguments(ThinkerFault.HIDES_ERRORS, "error_ofTheModel_failsItsTurnAndDoesNotWedgeTheNext"),
                arguments(ThinkerFault.STAYS_BROKEN, "error_ofTheModel_failsItsTurnAndDoesNotWedgeTheNext"),
                arguments(ThinkerFault.NO_BEATS, "beats_comeOncePerTurn_understandingOncePerSession"),
                arguments(ThinkerFault.FINISHES_BEFORE_FAILING, "beats_ofATurnThatFails_doNotSayThatItFinishes"),
                arguments(ThinkerFault.LIES_ABOUT_STEERS, "steer_inARunningTurn_isAnsweredTruthfully"),
                arguments(ThinkerFault.LANDS_NO_STEER, "steer_inARunningTurn_isAnsweredTruthfully"),
                arguments(ThinkerFault.IGNORES_CANCEL, "interrupt_endsTheTurnAsCancelled_andTheNextIsAnswered"),
                arguments(ThinkerFault.HIDES_A_TOOL, "tools_shownToTheThinker_areExactlyThoseBound"),
                arguments(ThinkerFault.MIXES_UP_CALLS, "calls_inParallel_eachGetsItsOwnAnswer"),
                arguments(ThinkerFault.INVENTS_TOOLS, "call_ofAToolThatIsNotThere_isAnErrorToTheModelAndRunsNothing"),
                arguments(ThinkerFault.FORGETS, "conversation_isKnownInTheNextTurn_andAfterARestart"),
                arguments(ThinkerFault.REMEMBERS_BY_ITSELF, "regenerate_throwsTheAnswerAwayForEverybody"),
                arguments(ThinkerFault.REMEMBERS_BY_ITSELF, "deleteFrom_isForgottenByTheThinkerAndTheTranscript"),
                arguments(ThinkerFault.REMEMBERS_BY_ITSELF, "host_closedInMidTurn_theTurnIsAnsweredOnce"),
                arguments(ThinkerFault.REMEMBERS_BY_ITSELF, "retelling_isBounded_theNewestKeptAndTheCutSaid"),
                arguments(
                        ThinkerFault.MERGES_AUTHORS, "fork_knowsTheConversationUpToItsPoint_andLeavesTheOriginalAlone"),
                arguments(ThinkerFault.FORGETS, "swap_toAnotherThinkerAndBack_goesOnWithTheConversation"),
                arguments(
                        ThinkerFault.TAKES_EVERY_OPTION,
                        "option_thatTheHarnessDoesNotKnow_isRefusedByNameBeforeAnythingIsStarted"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void harness_withAFault_failsTheClauseThatIsAboutIt(ThinkerFault fault, String clause) {
        var suite = new Suite(ScriptedThinker.wrong(fault), directory);
        assertThatThrownBy(() -> suite.run(clause)).isInstanceOf(AssertionError.class);
    }

    /** But the one clause that needs a process to kill. */
    @Test
    void table_hasEveryFaultAndEveryClause() {
        Assertions.assertThat(faults().map(a -> a.get()[0]))
                .containsAll(Arrays.asList((Object[]) ThinkerFault.values()));
        Assertions.assertThat(faults().map(a -> a.get()[1]))
                .containsAll(Arrays.stream(HarnessConformance.class.getMethods())
                        .filter(m -> m.isAnnotationPresent(Test.class))
                        .filter(m -> !m.getName().startsWith("agent_killed"))
                        .map(m -> (Object) m.getName())
                        .toList());
    }

    /** The suite, one clause at a time. */
    private static final class Suite extends HarnessConformance {
        private final ScriptedThinker thinker;

        Suite(ScriptedThinker thinker, Path directory) {
            this.thinker = thinker;
            this.directory = directory;
        }

        @Override
        protected HarnessStage stage(Path data) {
            return new ThinkerConformanceTest.ThinkerStage(thinker);
        }

        @Override
        protected Journal journal(Path data) {
            return SqliteJournal.at(data);
        }

        void run(String clause) throws Throwable {
            openTheStage();
            try {
                HarnessConformance.class.getMethod(clause).invoke(this);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            } finally {
                closeTheStage();
            }
        }
    }
}
