package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An agent that takes a line, rests, and tells no result: the turn ends at once, and only that turn (TN-03, TN-15). */
@Tag("TN-03")
class SilenceTest extends CoreScenario {
    private static final DeliveryId STRANGE = new DeliveryId(new UUID(5, 5));

    @Test
    void rest_withoutAResult_failsTheTurnAtOnceAndTheNextRuns() {
        long lost = session.message();
        long next = session.message();
        session.up();
        session.landed();
        session.busy();
        session.idle();
        assertThat(session.outcome(lost)).contains(Outcome.FAILED);
        assertThat(session.journal(Event.TurnSettled.class).getFirst().detail()).startsWith("no result");
        assertThat(session.journal(Event.TurnSettled.class).getFirst().evidence())
                .isEqualTo(Event.Evidence.NONE);
        assertThat(session.live().stage()).as("the process is well").isEqualTo(AgentStage.READY);
        assertThat(session.inTurn()).containsExactly(next);
        session.answered("2");
        assertThat(session.outcome(next)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-15")
    void rest_beforeTheLanding_endsNothing() {
        session.message();
        session.up();
        session.idle();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.landed();
        session.result("1");
        assertThat(session.durable().turn()).isEmpty();
    }

    /** What the agent began by itself ends with a result that is not ours, and a rest; ours runs next. */
    @Test
    void rest_behindAResultOfOthers_endsNothing() {
        session.message();
        session.up();
        session.busy();
        session.landed();
        session.result(CoreDriver.result(TurnResult.Ending.ANSWERED, "own", List.of(STRANGE)));
        session.idle();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.busy();
        session.result("1");
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    void rest_behindAResultThatTheHarnessKnowsToBeOfOthers_endsNothing_andTheSecondDoes() {
        long lost = session.message();
        session.up();
        session.busy();
        session.landed();
        session.report(new Report.Noticed("agent_started_turn", "done in the background"));
        session.idle();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.busy();
        session.idle();
        assertThat(session.outcome(lost)).contains(Outcome.FAILED);
    }

    /** An interrupt has a deadline of its own. */
    @Test
    void rest_ofATurnThatIsToEnd_waitsForTheAnswerToTheInterrupt() {
        long cancelled = session.message();
        session.up();
        session.landed();
        session.cancel();
        session.idle();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        session.interruptAnswered();
        assertThat(session.outcome(cancelled)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("TN-09")
    void rest_withASteerLanded_endsItWithItsTurn() {
        session.message();
        session.up();
        session.landed();
        long steer = session.steer();
        session.landed();
        session.idle();
        assertThat(session.outcome(steer)).contains(Outcome.FAILED);
        assertThat(session.durable().turn()).isEmpty();
    }

    /** The agent had the line from before: it is asked to go on, which is another line. */
    @Test
    void rest_behindALineThatTheAgentHad_endsNothing() {
        session.message();
        session.up();
        var line = session.line();
        session.landed();
        session.report(new Report.Noticed("deduplicated", line.toString()));
        session.idle();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.CONTINUED);
        session.answered("1");
        assertThat(session.durable().turn()).isEmpty();
    }
}
