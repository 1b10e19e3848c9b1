package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.World.Shape;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * Every interleaving of a handful of things. What must hold in each state is in {@link WorldRules}. How many states and
 * steps there are is reported by each test. Those tagged "large" take an hour and more and 12 GB of heap each; they run
 * with {@code dev/mvn -pl holdfast-core -am test -Dtest=CoreExplorerTest -Dtest.excluded.groups=}.
 */
@Tag("P2")
@Tag("P4")
@Tag("TN-13")
@Tag("TN-14")
class CoreExplorerTest {
    private static final Settings AGENT = Settings.standard();
    private static final Settings READER = Settings.of(Settings.Taker.READER);
    private static final Settings COMBINING = new Settings(false, true, false, Settings.Taker.AGENT);
    private static final Settings BOUNDED = new Settings(false, false, true, Settings.Taker.AGENT);

    private TestReporter reporter;

    @BeforeEach
    void reportTo(TestReporter to) {
        reporter = to;
    }

    // ---- deaths, deadlines, cancels and steers --------------------------------------------------------------------

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
    void twoMessagesSteerAndCancel_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.STEER, 1, Happening.CANCEL, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("MB-05")
    @Tag("MB-09")
    @Tag("slow")
    void threeMessagesCancelAndDrain_overTwoDeathsOfEachSide_areRight() {
        explore(
                Shape.plain(AGENT),
                Map.of(
                        Happening.MESSAGE, 3,
                        Happening.CANCEL, 1,
                        Happening.DRAIN, 1,
                        Happening.AGENT_DEATH, 2,
                        Happening.HOST_DEATH, 2),
                512);
    }

    @Test
    @Tag("HS-14")
    @Tag("MB-12")
    void messagesAndSteer_besideAProcessThatGrows_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 2,
                Happening.STEER, 1,
                Happening.GROWTH, 1,
                Happening.OWN_TURN, 1,
                Happening.TICK, 1));
    }

    @Test
    @Tag("HS-14")
    void messagesCancelAndRequest_besideAProcessThatGrows_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 2,
                Happening.CANCEL, 1,
                Happening.INTERNAL, 1,
                Happening.GROWTH, 1,
                Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("TN-03")
    void messagesAndSteer_withAnAgentThatFallsSilent_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 2,
                Happening.STEER, 1,
                Happening.SILENCE, 1,
                Happening.OWN_TURN, 1,
                Happening.AGENT_DEATH, 1));
    }

    @Test
    @Tag("TN-03")
    void messageAndCancel_withAnAgentThatFallsSilent_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.CANCEL, 1, Happening.SILENCE, 2, Happening.TICK, 1));
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

    @Test
    @Tag("MB-08")
    @Tag("MB-12")
    void messagesPausedAndResumed_overAHostDeathAndOwnTurn_areRight() {
        explore(
                Shape.plain(AGENT),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.PAUSE, 1,
                        Happening.RESUME, 1,
                        Happening.OWN_TURN, 1,
                        Happening.HOST_DEATH, 1),
                32);
    }

    @Test
    @Tag("MB-08")
    void messageAndSteer_pausedAndResumed_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.STEER, 1, Happening.PAUSE, 1, Happening.RESUME, 1));
    }

    @Test
    @Tag("MB-09")
    void messageDrained_overItsDeadlineAndAHostDeath_isRight() {
        explore(Map.of(
                Happening.MESSAGE, 1,
                Happening.DRAIN, 1,
                Happening.RESUME, 1,
                Happening.TICK, 2,
                Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("MB-07")
    @Tag("MB-21")
    void messagesWithdrawnAndFinished_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.WITHDRAW, 1, Happening.FINISH, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    void messagesAndSteer_closed_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.STEER, 1, Happening.CLOSE, 1));
    }

    @Test
    @Tag("MB-15")
    @Tag("MB-07")
    void turnLimits_withAFinishAndADeadline_areRight() {
        explore(Map.of(Happening.MESSAGE, 1, Happening.LIMIT, 4, Happening.FINISH, 1, Happening.TICK, 1));
    }

    // ---- order ----------------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-09")
    void messagesReplaced_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.REPLACE, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("MB-15")
    @Tag("TN-09")
    void messagesPatientAndContinued_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.PATIENT, 1, Happening.LIMIT, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("IN-15")
    void messagesCombined_overDeathsOfBothSides_areRight() {
        explore(
                Shape.whole(COMBINING),
                Map.of(Happening.MESSAGE, 3, Happening.AGENT_DEATH, 1, Happening.HOST_DEATH, 1),
                32);
    }

    @Test
    @Tag("IN-15")
    void messagesCombined_besideACancelAndASteer_areRight() {
        explore(Shape.whole(COMBINING), Map.of(Happening.MESSAGE, 3, Happening.CANCEL, 1, Happening.STEER, 1), 32);
    }

    @Test
    @Tag("MB-10")
    @Tag("MB-12")
    void messagesRejectedAndWithdrawn_besideARequestAndAnOwnTurn_areRight() {
        explore(
                Shape.plain(BOUNDED),
                Map.of(
                        Happening.MESSAGE, 3,
                        Happening.REJECTION, 2,
                        Happening.WITHDRAW, 1,
                        Happening.INTERNAL, 1,
                        Happening.OWN_TURN, 1),
                32);
    }

    @Test
    @Tag("IN-10")
    @Tag("IN-11")
    void messagesReleasedAndRestored_overDeathsOfBothSides_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 2,
                Happening.RELEASE, 1,
                Happening.RESTORE, 1,
                Happening.AGENT_DEATH, 1,
                Happening.HOST_DEATH, 1));
    }

    // ---- memory and requests of the host ----------------------------------------------------------------------------

    @Test
    @Tag("IN-20")
    void messagesReset_overAHostDeath_areRight() {
        explore(Map.of(Happening.MESSAGE, 2, Happening.RESET, 1, Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("IN-20")
    void messagesClearedAfterALimit_overDeathsOfBothSides_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 2,
                Happening.CLEAR, 1,
                Happening.LIMIT, 1,
                Happening.AGENT_DEATH, 1,
                Happening.OWN_TURN, 1));
    }

    @Test
    @Tag("HN-04")
    void messagesThrownAway_overDeathsOfBothSides_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 3,
                Happening.CUT, 1,
                Happening.AGENT_DEATH, 1,
                Happening.HOST_DEATH, 1));
    }

    @Test
    @Tag("MB-16")
    void requestsOfTheHost_besideASteerAndADrain_areRight() {
        explore(
                Shape.plain(AGENT),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.STEER, 1,
                        Happening.INTERNAL, 2,
                        Happening.DRAIN, 1,
                        Happening.AGENT_DEATH, 1),
                128);
    }

    // ---- readers --------------------------------------------------------------------------------------------------

    @Test
    @Tag("CH-08")
    @Tag("IN-04")
    @Tag("MB-01")
    @Tag("MB-03")
    @Tag("MB-05")
    void reader_overHostDeaths_isServedInOrder() {
        explore(
                Shape.whole(READER),
                Map.of(
                        Happening.MESSAGE, 3,
                        Happening.FEED, 2,
                        Happening.TAKE, 3,
                        Happening.RETURN, 2,
                        Happening.STALE, 1,
                        Happening.HOST_DEATH, 2),
                32);
    }

    @Test
    @Tag("MB-09")
    void reader_drainedAndResumed_isServedInOrder() {
        explore(
                Shape.whole(READER),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.FEED, 2,
                        Happening.TAKE, 2,
                        Happening.DRAIN, 1,
                        Happening.RESUME, 1,
                        Happening.OVER, 1,
                        Happening.TICK, 1,
                        Happening.HOST_DEATH, 1),
                32);
    }

    @Test
    @Tag("MB-07")
    void reader_ofASessionBeingFinished_getsAllOfIt() {
        explore(
                Shape.whole(READER),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.FEED, 1,
                        Happening.TAKE, 2,
                        Happening.WITHDRAW, 1,
                        Happening.FINISH, 1,
                        Happening.RETURN, 1,
                        Happening.OVER, 1,
                        Happening.HOST_DEATH, 1),
                32);
    }

    @Test
    @Tag("IN-10")
    @Tag("IN-11")
    void reader_thatReleasesAndRestores_isServedInOrder() {
        explore(
                Shape.whole(READER),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.CANCEL, 1,
                        Happening.FEED, 1,
                        Happening.TAKE, 2,
                        Happening.RELEASE, 1,
                        Happening.RESTORE, 1,
                        Happening.CLOSE, 1),
                32);
    }

    // ---- the long ones --------------------------------------------------------------------------------------------

    @Test
    @Tag("large")
    void large_oneOfEachKind_overDeathsOfBothSides_areRight() {
        explore(Map.of(
                Happening.MESSAGE, 1,
                Happening.STEER, 1,
                Happening.CANCEL, 1,
                Happening.AGENT_DEATH, 1,
                Happening.HOST_DEATH, 1,
                Happening.TICK, 1));
    }

    @Test
    @Tag("large")
    void large_threeMessagesCancelAndDrain_inEveryOrder_areRight() {
        explore(
                new Shape(AGENT, false, false, true),
                Map.of(
                        Happening.MESSAGE, 3,
                        Happening.CANCEL, 1,
                        Happening.DRAIN, 1,
                        Happening.AGENT_DEATH, 2,
                        Happening.HOST_DEATH, 2),
                4_096);
    }

    @Test
    @Tag("large")
    void large_everyWayToGoBeforeOthers_overDeathsOfBothSides_isRight() {
        explore(
                Shape.plain(COMBINING),
                Map.of(
                        Happening.MESSAGE, 2,
                        Happening.PATIENT, 1,
                        Happening.STEER, 1,
                        Happening.REPLACE, 1,
                        Happening.LIMIT, 1,
                        Happening.RESET, 1,
                        Happening.HOST_DEATH, 1),
                1_024);
    }

    // ---- exploring ------------------------------------------------------------------------------------------------

    private void explore(Map<Happening, Integer> budget) {
        explore(Shape.whole(AGENT), budget, 32);
    }

    private void explore(Shape shape, Map<Happening, Integer> budget, int playedOn) {
        var explorer = new Explorer(playedOn);
        explorer.explore(shape, budget);
        reporter.publishEntry(
                new TreeMap<>(budget).toString(), explorer.states() + " states, " + explorer.edges() + " steps");
        assertThat(explorer.states()).isGreaterThan(1_000);
    }
}
