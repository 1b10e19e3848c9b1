package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Knowledge;
import dev.holdfast.Outcome;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deaths of the agent and of the host with a turn open (P2, TN-08). */
class CrashTest extends CoreScenario {
    @Test
    @Tag("P2")
    @Tag("TN-08")
    @Tag("TN-12")
    void hostDeath_beforeTheLanding_tellsAgainUnderTheSameId() {
        session.message();
        session.up();
        var id = session.line();
        session.hostCrash();
        session.up();

        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
        assertThat(session.journal(Event.TurnOpened.class)).hasSize(1);
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-08")
    void agentDeath_beforeTheLanding_tellsAgainUnderTheSameId() {
        session.message();
        session.up();
        var id = session.line();
        session.died();
        session.tickDue();
        session.up();

        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
        assertThat(session.turn().agentDeaths())
                .as("a start that landed nothing is no attempt")
                .isZero();
    }

    @Test
    @Tag("P2")
    @Tag("TN-08")
    @Tag("TN-12")
    void agentDeath_afterTheLanding_asksForOneContinuationUnderANewId() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.died();
        session.tickDue();
        session.up(session.hasOpen(id));

        var told = session.told().orElseThrow();
        assertThat(told.kind()).isEqualTo(Told.Kind.CONTINUATION);
        assertThat(told.id()).isNotEqualTo(id);
        assertThat(told.messages()).isEmpty();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.CONTINUED);
        session.answered("1");
        assertThat(session.newest(Event.TurnSettled.class).mark().asked())
                .as("a continuation carries no words that could be missed")
                .containsExactly(id.toString());
    }

    @Test
    @Tag("TN-08")
    void continuation_lostOnItsWay_isToldAgainUnderItsId() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        var continuation = session.line();
        session.hostCrash();
        session.up(session.hasOpen(id));

        assertThat(session.line()).isEqualTo(continuation);
        assertThat(session.told().orElseThrow().id()).isEqualTo(continuation);
        assertThat(session.journal(Event.ContinuationOpened.class)).hasSize(1);
    }

    @Test
    @Tag("TN-12")
    void continuation_cutOffItself_isFollowedByAnother() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        var first = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id, first));

        assertThat(session.line()).isNotIn(id, first);
        assertThat(session.journal(Event.ContinuationOpened.class)).hasSize(2);
    }

    @Test
    @Tag("P2")
    @Tag("TN-08")
    void hostDeath_afterTheAnswer_settlesFromTheRecord() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.slotGranted();
        session.known(session.hasAnswered("done", id));

        var settled = session.newest(Event.TurnSettled.class);
        assertThat(settled.evidence()).isEqualTo(Event.Evidence.RECORD);
        assertThat(settled.outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(settled.text()).isEqualTo("done");
        assertThat(settled.usage().costMicros()).as("unknown is absent").isEmpty();
        session.verified();
        assertThat(session.told()).isEmpty();
    }

    @Test
    @Tag("TN-08")
    void continuation_whenOnlyTheQuestionIsLost_beginsTheTurnAgain() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(session.hasOpen(id));
        session.hostCrash();
        session.up();

        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        assertThat(session.told().orElseThrow().id()).isEqualTo(id);
        assertThat(session.newest(Event.TurnReturned.class).turn()).isEqualTo(1);
    }

    @Test
    void hostDeath_withATurnOpen_keepsItsPlaceBeforeTheQueue() {
        long first = session.message();
        session.message();
        session.up();
        session.hostCrash();
        session.up();

        assertThat(session.turn().original().messages())
                .extracting(Taken::number)
                .containsExactly(first);
    }

    @Test
    @Tag("MB-05")
    @Tag("MB-17")
    void hostDeath_withATurnOpen_undoesItsCountOnce() {
        session.message();
        session.up();
        assertThat(session.durable().consumed()).isEqualTo(1);
        session.leave();
        session.ended("asked to", "");
        assertThat(session.durable().consumed()).isZero();
        assertThat(session.turn().inFlight()).isFalse();
        session.hostCrash();
        assertThat(session.durable().consumed()).isEqualTo(1);
        assertThat(session.turn().inFlight()).isTrue();
    }

    @Test
    @Tag("MB-05")
    void death_withNothingInFlight_undoesNothing() {
        session.exchange("1");
        session.died();
        assertThat(session.durable().consumed()).isEqualTo(1);
        session.hostCrash();
        assertThat(session.durable().consumed()).isEqualTo(1);
    }

    @Test
    @Tag("MB-04")
    void message_betweenTwoIncarnations_isToldToTheNext() {
        session.exchange("1");
        session.died();
        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        long second = session.message();
        session.up(session.remembers(1));
        assertThat(session.told().orElseThrow().messages())
                .extracting(Taken::number)
                .containsExactly(second);
    }

    @Test
    void deduplicated_line_isContinuedAtOnce() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.report(new dev.holdfast.Report.Noticed("deduplicated", id.toString()));
        session.idle();

        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    void deduplicated_lineWithoutALanding_isContinuedAtOnce() {
        session.message();
        session.up();
        session.report(
                new dev.holdfast.Report.Noticed("deduplicated", session.line().toString()));
        session.idle();

        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
    }

    @Test
    void knowledge_withoutATail_isContinued() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.hostCrash();
        session.up(new Knowledge(Knowledge.RecordState.PRESENT, 0, List.of(), List.of(id), new Knowledge.Tail.None()));

        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
    }

    @Test
    void leaving_withATurnOpen_keepsItForTheNextOwner() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.leave();
        assertThat(session.effect(Effect.StopAgent.class)).isPresent();
        session.message();
        session.ended("asked to", "");

        assertThat(session.sleepable()).isTrue();
        assertThat(session.turn().hostDeaths()).isZero();
        session.hostCrash();
        session.up(session.hasOpen(id));
        assertThat(session.told().orElseThrow().kind()).isEqualTo(Told.Kind.CONTINUATION);
        session.answered("1");
        session.answered("2");
        assertThat(session.outcome(2)).contains(Outcome.ANSWERED);
    }
}
