package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Outcome;
import dev.holdfast.TurnResult;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Turns when nothing goes wrong: from a message to its terminal record. */
class TurnTest extends CoreScenario {
    @Test
    void awake_first_recordsTheSession() {
        assertThat(session.journal())
                .containsExactly(new Event.SessionOpened(CoreDriver.SEED, "scripted", session.now()));
        assertThat(session.effects()).isEmpty();
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    @Tag("TN-12")
    void message_alone_opensATurnBeforeAnythingIsTold() {
        session.message();

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.TurnOpened.class, Event.IncarnationPlanned.class);
        var id = session.line();
        assertThat(session.effects()).hasExactlyElementsOfTypes(Effect.HoldSlot.class);
        session.slotGranted();
        assertThat(session.effect(Effect.AskKnowledge.class).orElseThrow().open())
                .containsExactly(id);
        session.known(dev.holdfast.Knowledge.nothing());
        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().resume()).isFalse();
        assertThat(session.told()).isEmpty();
        session.verified();
        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
    }

    @Test
    @Tag("TN-15")
    void message_answered_settlesWithTheResult() {
        long m = session.message();
        session.up();
        session.landed();
        session.busy();
        session.result("hello");

        var settled = session.newest(Event.TurnSettled.class);
        assertThat(settled.outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(settled.evidence()).isEqualTo(Event.Evidence.RESULT);
        assertThat(settled.text()).isEqualTo("hello");
        assertThat(settled.messages()).extracting(Taken::number).containsExactly(m);
        assertThat(settled.mark().asked()).hasSize(1);
        assertThat(settled.mark().answered()).isEqualTo("a-hello");
        assertThat(session.durable().lastWords()).isEqualTo("hello");
        assertThat(session.durable().costMicros()).hasValue(1_000);
        assertThat(session.durable().turn()).isEmpty();
    }

    @Test
    @Tag("MB-01")
    void messages_queued_runInOrder() {
        var numbers = List.of(session.message(), session.message(), session.message());
        session.up();
        session.answered("1");
        session.answered("2");
        session.answered("3");

        assertThat(session.journal(Event.TurnSettled.class))
                .extracting(e -> e.messages().getFirst().number())
                .containsExactlyElementsOf(numbers);
        assertThat(session.journal(Event.IncarnationPlanned.class)).hasSize(1);
    }

    @Test
    void result_withAQueue_settlesAndOpensInOneBatch() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.result("1");

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.TurnSettled.class, Event.TurnOpened.class);
    }

    @Test
    @Tag("TN-03")
    void result_beforeIdle_holdsTheNextLineBack() {
        session.message();
        session.message();
        session.up();
        session.landed();
        session.result("1");

        assertThat(session.told()).isEmpty();
        session.idle();
        assertThat(session.told().orElseThrow().id()).isEqualTo(session.line());
    }

    @Test
    @Tag("TN-15")
    void result_withoutALanding_settlesNothing() {
        session.message();
        session.up();
        session.result("of its own");

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.AgentTurnSeen.class);
        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        assertThat(session.durable().costMicros()).hasValue(1_000);
        session.idle();
        session.landed();
        session.result("hello");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-03")
    void result_namingOtherLines_settlesNothing() {
        session.message();
        session.up();
        session.landed();
        session.result(
                CoreDriver.result(TurnResult.Ending.ANSWERED, "other", List.of(DeliveryIds.of("somebody else", 1))));

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.AgentTurnSeen.class);
        assertThat(session.durable().turn()).isPresent();
    }

    @Test
    @Tag("TN-15")
    void result_withNoTurnOpen_isRecordedAsTheAgentsOwn() {
        session.exchange("1");
        session.busy();
        session.result("background");

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.AgentTurnSeen.class);
        session.message();
        assertThat(session.told()).as("a line before the agent rests").isEmpty();
        session.idle();
        assertThat(session.told()).isPresent();
    }

    @Test
    @Tag("TN-11")
    void result_ofEachEnding_givesItsOutcome() {
        endsAs(TurnResult.Ending.ANSWERED, Outcome.ANSWERED);
        endsAs(TurnResult.Ending.FAILED, Outcome.FAILED);
        endsAs(TurnResult.Ending.INTERRUPTED, Outcome.CANCELLED);
        endsAs(TurnResult.Ending.TURN_LIMIT, Outcome.TURN_LIMIT);
        assertThat(session.newest(Event.TurnSettled.class).detail()).isEqualTo("TURN_LIMIT");
        assertThat(session.turn().original().kind()).isEqualTo(Told.Kind.AFTER_LIMIT);
    }

    private void endsAs(TurnResult.Ending ending, Outcome outcome) {
        long m = session.message();
        if (session.live().stage() == AgentStage.PLANNED) {
            session.up();
        }
        session.landed();
        session.result(CoreDriver.result(ending, "x", List.of(session.line())));
        session.idle();
        assertThat(session.outcome(m)).contains(outcome);
    }

    @Test
    @Tag("MB-02")
    @Tag("MB-19")
    void message_takenAndNotSettled_staysInFlight() {
        session.message();
        session.up();
        session.landed();

        assertThat(session.turn().inFlight()).isTrue();
        assertThat(session.durable().consumed()).isEqualTo(1);
        session.result("1");
        assertThat(session.durable().consumed()).isEqualTo(1);
    }

    @Test
    @Tag("MB-06")
    @Tag("TN-16")
    void death_afterTheSettlement_doesNotTellAgain() {
        session.exchange("1");
        session.died();
        long second = session.message();
        session.up(session.remembers(1));

        assertThat(session.told().orElseThrow().messages())
                .extracting(Taken::number)
                .containsExactly(second);
        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().catchUp())
                .isEmpty();
        assertThat(session.effect(Effect.RunAgent.class).orElseThrow().resume()).isTrue();
    }

    @Test
    void arrival_readTwice_isTakenOnce() {
        session.message();
        session.readAgain(1);
        session.up();
        session.answered("1");
        session.readAgain(1);

        assertThat(session.journal(Event.TurnOpened.class)).hasSize(1);
        assertThat(session.last()).isEmpty();
    }

    @Test
    void incarnation_longLived_forgetsLinesOfSettledTurns() {
        for (int i = 0; i < 20; i++) {
            session.exchange("answer " + i);
        }
        assertThat(session.live().landed())
                .as("a live state that grows with the conversation")
                .hasSizeLessThan(3);
    }
}
