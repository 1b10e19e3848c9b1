package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Starts that fail, restart delays, parking, and messages that kill (HS-13, MB-20). */
class RestartTest extends CoreScenario {
    private void fails() {
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.died();
    }

    @Test
    @Tag("HS-13")
    void starts_thatFail_waitLongerEachTimeThenPark() {
        session.message();
        for (long seconds : List.of(1, 5, 15)) {
            fails();
            assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.START_FAILED);
            assertThat(session.dueAt()).contains(session.now().plusSeconds(seconds));
            session.tick(Duration.ofSeconds(seconds).minusMillis(1));
            assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
            session.tickDue();
            assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
        }
        fails();

        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.durable().phaseReason()).contains("4 times in a row").contains("exit code 137");
        assertThat(session.dueAt()).isEmpty();
        assertThat(session.sleepable()).isTrue();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        assertThat(session.outcome(1)).isEmpty();
    }

    @Test
    @Tag("HS-13")
    void question_thatCannotBeAnswered_isAskedAgainAfterADelay() {
        session.message();
        session.slotGranted();
        session.ended("an older process could not be ended", "");

        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.START_FAILED);
        assertThat(session.turn().agentDeaths()).isZero();
        session.tickDue();
        session.slotGranted();
        assertThat(session.effect(Effect.AskKnowledge.class)).isPresent();
    }

    @Test
    @Tag("HS-13")
    void settledTurn_resetsTheDelays() {
        session.message();
        fails();
        session.tickDue();
        fails();
        session.tickDue();
        session.up();
        session.answered("1");
        assertThat(session.durable().failures()).isZero();
        session.message();
        session.died();

        assertThat(session.dueAt()).contains(session.now().plusSeconds(1));
    }

    @Test
    @Tag("HS-13")
    @Tag("IN-17")
    void delay_survivesAHostDeath() {
        session.message();
        fails();
        session.tickDue();
        fails();
        var at = session.dueAt().orElseThrow();
        session.hostCrash();

        assertThat(session.dueAt()).contains(at);
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
    }

    @Test
    @Tag("HS-13")
    void fatalEnd_parksAtOnce() {
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.ended("claude is not installed", "not_found");

        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.durable().phaseReason()).isEqualTo("not_found: claude is not installed");
        assertThat(session.journal(Event.RestartScheduled.class)).isEmpty();
    }

    @Test
    @Tag("TL-01")
    void mismatch_ofTools_parksWithTheDifference() {
        session.message();
        session.slotGranted();
        session.known(dev.holdfast.Knowledge.nothing());
        session.report(new Report.Mismatch(List.of("ask"), List.of("Bash")));
        session.ended("the agent's tools are not the bound ones", "tools_mismatch");

        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.newest(Event.Noticed.class).detail()).contains("ask").contains("Bash");
        assertThat(session.turn().agentDeaths()).isZero();
    }

    @Test
    @Tag("HS-13")
    void fatalResult_settlesAndParks() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.result(new TurnResult(
                TurnResult.Ending.FAILED, "", "not logged in", Usage.unknown(), List.of(), "", "r", true));

        assertThat(session.outcome(1)).contains(Outcome.FAILED);
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        assertThat(session.durable().turn()).as("nothing new is begun").isEmpty();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.ended("asked to", "");
        assertThat(session.sleepable()).isTrue();
        assertThat(session.outcome(2)).isEmpty();
    }

    @Test
    void resume_ofAParkedSession_goesOnWithTheOpenTurn() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.ended("logged out", "not_logged_in");
        session.tick(Duration.ofHours(5));
        long resume = session.resume();

        assertThat(session.done(resume)).isEqualTo("resumed");
        assertThat(session.turn().deadline())
                .isEqualTo(session.now().plus(Limits.standard().turn()));
        session.up(session.hasOpen(id));
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("HS-13")
    void resume_afterTheDelaysAreUsedUp_beginsThemAnew() {
        session.message();
        for (int start = 1; start <= 3; start++) {
            fails();
            session.tickDue();
        }
        fails();
        assertThat(session.durable().phase()).isEqualTo(Phase.PARKED);
        session.resume();
        fails();

        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.dueAt()).contains(session.now().plusSeconds(1));
    }

    @Test
    void resume_ofASessionThatIsNotParked_onlySaysSo() {
        long resume = session.resume();
        assertThat(session.done(resume)).isEqualTo("nothing to resume");
        assertThat(session.journal(Event.PhaseChanged.class)).isEmpty();
    }

    @Test
    void resume_whileTheProcessIsStillBeingEnded_startsItAgainAfterwards() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.result(
                new TurnResult(TurnResult.Ending.FAILED, "", "quota", Usage.unknown(), List.of(), "", "r", true));
        session.resume();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("asked to", "");

        assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
        assertThat(session.durable().failures()).isZero();
    }

    @Test
    void message_whileParked_waits() {
        session.message();
        session.up();
        session.ended("not installed", "not_found");
        long waiting = session.message();

        assertThat(session.outcome(waiting)).isEmpty();
        assertThat(session.effects()).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-20")
    void agentDeaths_three_makeADeadLetterAndTheQueueMovesOn() {
        session.message();
        long next = session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.died();
        for (int death = 2; death <= 3; death++) {
            assertThat(session.turn().agentDeaths()).isEqualTo(death - 1);
            session.tickDue();
            session.up(session.hasOpen(id));
            session.landed();
            session.died();
        }

        assertThat(session.outcome(1)).contains(Outcome.DEAD_LETTER);
        assertThat(session.newest(Event.TurnSettled.class).detail()).contains("3 times");
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(next);
    }

    @Test
    @Tag("MB-20")
    void agentDeaths_atWorkOnALineItHadNotAcknowledged_makeADeadLetterTooAndParkNothing() {
        session.message();
        long next = session.message();
        session.up();
        session.busy();
        session.died();
        for (int death = 2; death <= 3; death++) {
            assertThat(session.turn().agentDeaths()).isEqualTo(death - 1);
            session.tickDue();
            session.up(session.remembers(0));
            session.busy();
            session.died();
        }

        assertThat(session.outcome(1)).contains(Outcome.DEAD_LETTER);
        assertThat(session.durable().phase()).isEqualTo(Phase.OPEN);
        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(next);
    }

    @Test
    @Tag("MB-20")
    void agentDeaths_atRestBehindALineThatWasWritten_areNotItsMessages() {
        session.message();
        session.up();
        session.died();

        assertThat(session.newest(Event.IncarnationEnded.class).landed()).isFalse();
        assertThat(session.turn().agentDeaths()).isZero();
    }

    @Test
    @Tag("MB-20")
    void agentDeath_thatWasAskedFor_isNoAttempt() {
        session.message();
        session.up();
        session.landed();
        session.leave();
        session.ended("asked to", "");

        assertThat(session.newest(Event.IncarnationEnded.class).landed()).isFalse();
        assertThat(session.turn().agentDeaths()).isZero();
    }

    @Test
    @Tag("MB-20")
    void hostDeaths_ten_makeADeadLetter() {
        session.message();
        for (int death = 1; death <= 9; death++) {
            session.up();
            session.hostCrash();
            assertThat(session.turn().hostDeaths()).isEqualTo(death);
        }
        session.up();
        session.hostCrash();

        assertThat(session.outcome(1)).contains(Outcome.DEAD_LETTER);
        assertThat(session.newest(Event.TurnSettled.class).detail()).contains("host died 10 times");
    }

    @Test
    @Tag("MB-20")
    void hostDeaths_areCountedApartAndForgottenAtALanding() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        for (int death = 0; death < 12; death++) {
            session.hostCrash();
            assertThat(session.turn().hostDeaths()).isEqualTo(1);
            assertThat(session.turn().agentDeaths()).isZero();
            session.up(session.hasOpen(id, session.line()));
        }
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    void process_thatDiesWithNothingOpen_isStartedOnlyWhenNeeded() {
        session.exchange("1");
        session.died();

        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        assertThat(session.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.CRASHED);
        assertThat(session.sleepable()).isTrue();
        session.message();
        assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
    }
}
