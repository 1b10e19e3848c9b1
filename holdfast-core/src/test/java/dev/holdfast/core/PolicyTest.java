package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.SessionPolicy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When a message reaches the agent, and with whom it shares a turn (TN-09, IN-15). */
class PolicyTest extends CoreScenario {
    private final CoreDriver combining =
            new CoreDriver(Limits.standard(), new Settings(false, true, false, Settings.Taker.AGENT));

    private void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    // ---- replace --------------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-09")
    void replace_inATurn_cancelsItAndRunsBeforeWhatWaits() {
        running();
        long waiting = session.message();
        long replace = session.replace();

        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        assertThat(session.effect(Effect.Interrupt.class)).isPresent();
        session.interruptAnswered();
        session.idle();
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.inTurn()).containsExactly(replace);
        session.answered("2");
        assertThat(session.outcome(replace)).contains(Outcome.ANSWERED);
        assertThat(session.inTurn()).containsExactly(waiting);
    }

    @Test
    @Tag("TN-09")
    void replace_withNoTurnOpen_runsBeforeWhatWaits() {
        long waiting = session.accept(ArrivalKind.MESSAGE);
        long replace = session.accept(ArrivalKind.REPLACE);
        session.read();
        assertThat(session.inTurn()).containsExactly(replace);
        session.up();
        session.answered("1");
        assertThat(session.inTurn()).containsExactly(waiting);
    }

    @Test
    @Tag("TN-09")
    void replace_boundToATurnThatIsOver_cancelsNothing() {
        running();
        session.message();
        long replace = session.accept(ArrivalKind.REPLACE);
        session.result("1");
        session.idle();
        session.landed();
        session.read();

        assertThat(session.turn().number()).isEqualTo(2);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("2");
        assertThat(session.inTurn()).containsExactly(replace);
    }

    @Test
    @Tag("TN-09")
    void replace_whileItsOwnTurnRuns_isNotCancelledByLaterMail() {
        running();
        long replace = session.replace();
        session.interruptAnswered();
        session.idle();
        session.landed();
        session.message();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        session.result("2");
        assertThat(session.outcome(replace)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-09")
    @Tag("IN-05")
    void replace_readAheadOfTheQueueByTheNextOwner_cancelsItsTurnAndRunsFirst() {
        running();
        var id = session.line();
        session.accept(ArrivalKind.MESSAGE);
        long replace = session.accept(ArrivalKind.REPLACE);
        session.newOwner();
        session.readUrgent();
        session.up(session.hasOpen(id));
        session.read();

        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.inTurn()).containsExactly(replace);
    }

    @Test
    @Tag("TN-09")
    void replace_twice_runInTheirOrder() {
        running();
        long first = session.replace();
        long second = session.replace();
        session.interruptAnswered();
        session.idle();
        assertThat(session.inTurn()).containsExactly(first);
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(second);
    }

    @Test
    @Tag("MB-08")
    @Tag("TN-09")
    void replace_ofAPausedSession_endsTheTurnAndWaits() {
        running();
        session.pause("");
        long replace = session.replace();
        session.interruptAnswered();
        session.idle();
        assertThat(session.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(session.durable().turn()).isEmpty();
        session.ended("asked to", "");
        session.resume();
        assertThat(session.inTurn()).containsExactly(replace);
    }

    // ---- after idle -----------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-09")
    void afterIdle_letsOtherMailGoFirst() {
        running();
        long patient = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        long other = session.message();
        session.result("1");
        assertThat(session.inTurn()).containsExactly(other);
        session.idle();
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(patient);
    }

    @Test
    @Tag("TN-09")
    void afterIdle_waitsForTheAgentToRest() {
        running();
        long patient = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        session.result("1");
        assertThat(session.durable().turn()).as("the agent has not said idle").isEmpty();
        long later = session.message();
        assertThat(session.inTurn()).as("later mail goes before it").containsExactly(later);
        session.idle();
        session.landed();
        session.result("2");
        session.busy();
        assertThat(session.durable().turn()).as("the agent works by itself").isEmpty();
        session.idle();
        assertThat(session.inTurn()).containsExactly(patient);
    }

    @Test
    @Tag("TN-09")
    void afterIdle_amongItsLike_isInOrder() {
        running();
        long first = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        long second = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        session.result("1");
        session.idle();
        assertThat(session.inTurn()).containsExactly(first);
        session.answered("2");
        assertThat(session.inTurn()).containsExactly(second);
    }

    @Test
    @Tag("TN-09")
    void afterIdle_withNothingElse_runsAtOnce() {
        long patient = session.arrive(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        assertThat(session.inTurn()).containsExactly(patient);
    }

    // ---- combine --------------------------------------------------------------------------------------------------

    /** Accepted while nobody is awake, and read at once. */
    private void waiting(String... senders) {
        for (String sender : senders) {
            combining.accept(ArrivalKind.MESSAGE, CoreDriver.by(sender));
        }
        combining.read();
    }

    @Test
    @Tag("IN-15")
    @Tag("TN-12")
    void combine_messagesOfOneSender_shareATurnAndEndEachByItself() {
        waiting("a", "a", "a");
        assertThat(combining.inTurn()).containsExactly(1L, 2L, 3L);
        assertThat(combining.durable().consumed()).isEqualTo(3);
        combining.up();
        assertThat(combining.told().orElseThrow().messages()).hasSize(3);
        combining.answered("all");

        assertThat(combining.newest(Event.TurnSettled.class).messages())
                .extracting(Taken::id)
                .doesNotHaveDuplicates()
                .hasSize(3);
        assertThat(combining.newest(Event.TurnSettled.class).mark().asked()).hasSize(1);
        for (long m = 1; m <= 3; m++) {
            assertThat(combining.outcome(m)).contains(Outcome.ANSWERED);
        }
        assertThat(combining.sleepable()).isFalse();
    }

    @Test
    @Tag("IN-15")
    void combine_endsBeforeAnotherSender() {
        waiting("a", "a", "b", "a");
        assertThat(combining.inTurn()).containsExactly(1L, 2L);
        combining.up();
        combining.answered("1");
        assertThat(combining.inTurn()).containsExactly(3L);
        combining.answered("2");
        assertThat(combining.inTurn()).containsExactly(4L);
    }

    @Test
    @Tag("IN-15")
    void combine_isOffByDefault() {
        session.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        session.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        session.read();
        assertThat(session.inTurn()).containsExactly(1L);
    }

    @Test
    @Tag("IN-15")
    void combine_takesNothingBehindWhatIsDoneInItsPlace() {
        combining.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        combining.accept(ArrivalKind.CLEAR);
        combining.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        combining.read();
        assertThat(combining.inTurn()).containsExactly(1L);
    }

    @Test
    @Tag("IN-15")
    @Tag("IN-20")
    void combine_takesNoOtherKindOfWords() {
        combining.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        combining.accept(ArrivalKind.TOOL_RUN, CoreDriver.by("a"));
        combining.accept(ArrivalKind.AUTHORIZATION, CoreDriver.by("a"));
        combining.read();
        assertThat(combining.inTurn()).containsExactly(1L);
        combining.up();
        combining.answered("1");
        assertThat(combining.inTurn()).containsExactly(2L);
        combining.answered("2");
        assertThat(combining.inTurn()).containsExactly(3L);
    }

    @Test
    @Tag("IN-15")
    void combine_takesNoMessageThatWaitsForRest() {
        combining.accept(ArrivalKind.MESSAGE);
        combining.accept(ArrivalKind.MESSAGE, CoreDriver.afterIdle());
        combining.read();
        assertThat(combining.inTurn()).containsExactly(1L);
    }

    @Test
    @Tag("IN-15")
    void combine_hasALimit() {
        for (int i = 0; i <= SessionPolicy.COMBINED_MAX; i++) {
            combining.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        }
        combining.read();
        assertThat(combining.inTurn()).hasSize(SessionPolicy.COMBINED_MAX);
    }

    @Test
    @Tag("IN-15")
    @Tag("MB-05")
    void combine_overAHostDeath_goesBackAsAUnit() {
        waiting("a", "a");
        combining.up();
        var id = combining.line();
        combining.landed();
        combining.hostCrash();
        assertThat(combining.durable().consumed()).isEqualTo(2);
        combining.up(combining.hasOpen());
        assertThat(combining.line()).isEqualTo(id);
        assertThat(combining.told().orElseThrow().messages()).hasSize(2);
        combining.answered("both");
        assertThat(combining.outcome(2)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("IN-06")
    @Tag("IN-15")
    void cancel_ofOneOfSeveralInATurn_endsTheTurn() {
        waiting("a", "a");
        combining.up();
        combining.landed();
        combining.cancelMessage(2);
        combining.interruptAnswered();
        combining.idle();
        assertThat(combining.outcome(1)).contains(Outcome.CANCELLED);
        assertThat(combining.outcome(2)).contains(Outcome.CANCELLED);
    }

    @Test
    @Tag("IN-15")
    @Tag("MB-20")
    void combine_thatKillsTheAgent_isSetAsideMessageByMessage() {
        waiting("a", "a");
        combining.up();
        var id = combining.line();
        for (int death = 1; death <= 3; death++) {
            combining.landed();
            combining.died();
            if (death < 3) {
                combining.tickDue();
                combining.up(combining.hasOpen(id));
            }
        }
        assertThat(combining.outcome(1)).contains(Outcome.DEAD_LETTER);
        assertThat(combining.outcome(2)).contains(Outcome.DEAD_LETTER);
    }
}
