package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CallOutcome;
import dev.holdfast.Knowledge;
import dev.holdfast.Report;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of host tools (TL-07). */
class CallTest extends CoreScenario {
    @BeforeEach
    void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    private Effect.RunCall run(String callId) {
        return session.effects().stream()
                .filter(Effect.RunCall.class::isInstance)
                .map(Effect.RunCall.class::cast)
                .filter(c -> c.callId().equals(callId))
                .findFirst()
                .orElseThrow();
    }

    private String key(String callId) {
        return run(callId).idempotencyKey();
    }

    /** The agent is cut off with its line in the record, and starts again. */
    private void cutOff(List<String> begun, List<String> ended) {
        var id = session.turn().original().id();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT, 0, List.of(), List.of(id), new Knowledge.Tail.Open(begun, ended)));
        session.landed();
        session.busy();
    }

    @Test
    @Tag("TL-07")
    void call_withSideEffects_isRecordedBeforeItRuns() {
        session.callAsked("c1", "pay", "{}", true);

        assertThat(session.last()).hasExactlyElementsOfTypes(Event.CallStarted.class);
        assertThat(session.newest(Event.CallStarted.class).key()).isEqualTo(key("c1"));
        session.callFinished("c1", "paid");
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.CallEnded.class);
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        assertThat(session.effect(Effect.AnswerCall.class).orElseThrow().callId())
                .isEqualTo("c1");
    }

    @Test
    @Tag("TL-07")
    void call_thatOnlyReads_costsNoCommit() {
        session.callAsked("c1", "look", "{}", false);
        assertThat(session.last()).isEmpty();
        assertThat(session.effect(Effect.RunCall.class)).isPresent();
        session.callFinished("c1", "seen");
        assertThat(session.last()).isEmpty();
        assertThat(session.effect(Effect.AnswerCall.class)).isPresent();
        session.result("1");
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.CallEnded.class, Event.TurnSettled.class);
    }

    @Test
    void call_askedTwice_runsOnce() {
        session.callAsked("c1", "pay", "{}", true);
        session.callAsked("c1", "pay", "{}", true);
        assertThat(session.journal(Event.CallStarted.class)).hasSize(1);
        session.callFinished("c1", "paid");
        session.callFinished("c1", "paid again");
        assertThat(session.journal(Event.CallEnded.class)).hasSize(1);
    }

    @Test
    @Tag("TL-07")
    void calls_alike_haveKeysOfTheirOwn() {
        session.callAsked("c1", "pay", "{}", true);
        session.callAsked("c2", "pay", "{}", true);
        session.callAsked("c3", "pay", "{\"to\":1}", true);
        assertThat(List.of(key("c1"), key("c2"), key("c3"))).doesNotHaveDuplicates();
    }

    @Test
    @Tag("TL-07")
    void call_inARerunOfTheTurn_repeatsItsKey() {
        session.callAsked("c1", "pay", "{}", true);
        session.callAsked("c2", "pay", "{}", true);
        var keys = List.of(key("c1"), key("c2"));
        session.callFinished("c1", "paid");
        session.hostCrash();
        session.up();
        session.landed();
        session.callAsked("d1", "pay", "{}", true);
        session.callAsked("d2", "pay", "{}", true);

        assertThat(List.of(key("d1"), key("d2"))).isEqualTo(keys);
    }

    @Test
    @Tag("TL-07")
    void call_inARerunOfTheTurn_isTiedToTheOneTheAgentForgot() {
        session.callAsked("c1", "pay", "{}", true);
        session.callFinished("c1", "paid");
        session.callAsked("c2", "pay", "{}", true);
        assertThat(run("c2").before()).isEmpty();
        session.hostCrash();
        session.up();
        session.landed();
        session.callAsked("d1", "pay", "{}", true);
        session.callAsked("d2", "pay", "{}", true);
        session.callAsked("d3", "pay", "{}", true);

        assertThat(run("d1").before().orElseThrow().answer()).isEqualTo("paid");
        assertThat(run("d2").before().orElseThrow().ended())
                .as("it may have happened")
                .isFalse();
        assertThat(run("d3").before()).isEmpty();
    }

    @Test
    @Tag("TL-07")
    void call_afterAnOrderlyStopThatTheRecordDoesNotShow_isTiedToTheOneTheAgentForgot() {
        session.callAsked("c1", "pay", "{}", true);
        session.leave();
        session.ended("asked to", "");
        session.hostCrash();
        session.up();
        session.landed();
        session.callAsked("d1", "pay", "{}", true);

        assertThat(run("d1").before()).isPresent();
    }

    @Test
    @Tag("TL-07")
    void call_repeatedInAContinuationThatToldOfIt_isTheAgentsOwnDecision() {
        session.callAsked("c1", "pay", "{}", true);
        cutOff(List.of("c1"), List.of());
        session.callAsked("d1", "pay", "{}", true);

        assertThat(run("d1").before()).isEmpty();
    }

    @Test
    @Tag("TL-07")
    void call_repeatedInAContinuation_repeatsTheKeyOfTheOneWithoutAnEnd() {
        session.callAsked("c1", "pay", "{}", true);
        var first = key("c1");
        session.callFinished("c1", "paid");
        session.callAsked("c2", "pay", "{}", true);
        var second = key("c2");
        cutOff(List.of("c1", "c2"), List.of("c1"));
        session.callAsked("d1", "pay", "{}", true);

        assertThat(key("d1"))
                .as("the model was told that c1 ended: this is the second payment")
                .isNotEqualTo(first);
        assertThat(key("d1")).as("it may have happened").isEqualTo(second);
    }

    @Test
    @Tag("TL-07")
    void continuation_tellsWhichCallsEndedAndWhichMayHave() {
        session.callAsked("c1", "pay", "{}", true);
        session.callFinished("c1", "paid");
        session.callAsked("c2", "pay", "{\"to\":1}", true);
        cutOff(List.of("c1", "c2", "c3"), List.of("c1"));

        var continuation = session.newest(Event.ContinuationOpened.class);
        assertThat(continuation.calls()).extracting(OpenCall::callId).containsExactly("c1", "c2");
        assertThat(continuation.calls()).extracting(OpenCall::ended).containsExactly(true, false);
        assertThat(continuation.calls().getFirst().answer()).isEqualTo("paid");
        assertThat(continuation.asked()).isEmpty();
        assertThat(continuation.unended()).containsExactly("c2", "c3");
    }

    @Test
    @Tag("TL-07")
    void continuation_doesNotTellOfACallWhoseAnswerIsInTheAgentsRecord() {
        session.callAsked("c1", "pay", "{}", true);
        var first = key("c1");
        cutOff(List.of("c1"), List.of("c1"));

        assertThat(session.newest(Event.ContinuationOpened.class).calls()).isEmpty();
        session.callAsked("d1", "pay", "{}", true);
        assertThat(key("d1")).as("a second payment").isNotEqualTo(first);
    }

    @Test
    @Tag("TL-06")
    void cancel_ofTheTurn_cancelsItsCalls() {
        session.callAsked("c1", "pay", "{}", true);
        session.cancel();
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        session.interruptAnswered();
        session.idle();
        session.callFinished("c1", "paid");

        assertThat(session.journal(Event.CallEnded.class))
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.CANCELLED));
        session.message();
        assertThat(session.journal(Event.Noticed.class))
                .extracting(Event.Noticed::what)
                .contains("late_answer");
    }

    @Test
    void call_withdrawnByTheAgent_isCancelled() {
        session.callAsked("c1", "look", "{}", false);
        session.report(new Report.CallWithdrawn("c1"));
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        session.callFinished("c1", "seen");
        assertThat(session.effect(Effect.AnswerCall.class)).isEmpty();
    }

    @Test
    @Tag("TL-05")
    void call_inATurnOfTheAgentsOwn_belongsToNoTurn() {
        session.result("1");
        session.idle();
        session.busy();
        session.callAsked("c1", "pay", "{}", true);

        assertThat(session.newest(Event.CallStarted.class).turn()).isZero();
        assertThat(session.effect(Effect.RunCall.class).orElseThrow().turn()).isZero();
        session.callFinished("c1", "paid");
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.CallEnded.class);
    }

    @Test
    void call_ofASettledTurn_isForgotten() {
        session.callAsked("c1", "look", "{}", false);
        session.result("1");
        session.idle();
        session.message();
        session.landed();
        session.callFinished("c1", "seen");
        assertThat(session.effect(Effect.AnswerCall.class)).isEmpty();
    }

    @Test
    @Tag("TL-07")
    void key_ofAnotherMessage_differs() {
        session.callAsked("c1", "pay", "{}", true);
        var first = key("c1");
        session.callFinished("c1", "paid");
        session.result("1");
        session.idle();
        session.message();
        session.landed();
        session.callAsked("c2", "pay", "{}", true);
        assertThat(key("c2")).isNotEqualTo(first);
    }
}
