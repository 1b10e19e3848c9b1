package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.Knowledge;
import dev.holdfast.Report;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls before they run: judged, asked about, refused, each with one row (TL-03, TL-04, TL-08). */
class CallDoorTest extends CoreScenario {
    private static final Duration ASK = Duration.ofSeconds(90);

    @BeforeEach
    void running() {
        session.message();
        session.up();
        session.landed();
        session.busy();
    }

    private static Ruling admitted() {
        return new Ruling.Admitted("rule", CallRuling.ALLOWED);
    }

    private static Ruling refused() {
        return new Ruling.Refused("rule", CallRuling.DENIED, "not here");
    }

    private static Ruling asks() {
        return new Ruling.Questioned("rule", "May it?", ASK);
    }

    private void wanted(String callId) {
        session.callWanted(callId, "pay", "{}", true, false);
    }

    /** A person is asked about it; the question's id. */
    private String asked(String callId) {
        wanted(callId);
        session.judged(callId, asks());
        return session.durable().questions().getLast().id();
    }

    private Optional<Effect.AdmitCall> toJudge() {
        return session.effect(Effect.AdmitCall.class);
    }

    private List<Event.CallEnded> rows() {
        return session.journal(Event.CallEnded.class);
    }

    /** The host dies with the message in the agent's record, and the agent goes on. */
    private void cutOff(String... begun) {
        var id = session.turn().original().id();
        session.hostCrash();
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT,
                0,
                List.of(),
                List.of(id),
                new Knowledge.Tail.Open(List.of(begun), List.of())));
        session.landed();
        session.busy();
    }

    private Event.ContinuationOpened continuation() {
        return session.newest(Event.ContinuationOpened.class);
    }

    @Test
    @Tag("TL-03")
    void call_thatWasNotJudged_doesNotRun() {
        wanted("c1");
        assertThat(session.last()).isEmpty();
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        assertThat(toJudge().orElseThrow().attended()).isTrue();
        session.judged("c1", admitted());
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.CallStarted.class);
        assertThat(session.effect(Effect.RunCall.class)).isPresent();
        assertThat(toJudge()).isEmpty();
    }

    @Test
    @Tag("TL-03")
    void call_thatIsRefused_isAnsweredAndHasItsRow() {
        wanted("c1");
        session.judged("c1", refused());

        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        assertThat(session.effect(Effect.AnswerCall.class).orElseThrow().refusal())
                .contains("not here");
        assertThat(session.journal(Event.CallStarted.class)).isEmpty();
        assertThat(rows()).singleElement().satisfies(e -> {
            assertThat(e.outcome()).isEqualTo(CallOutcome.DENIED);
            assertThat(e.error()).isTrue();
            assertThat(e.answer()).isEqualTo("not here");
            assertThat(e.facts()).isEqualTo(new CallFacts(1, "ann", CallRuling.DENIED, "rule"));
        });
        session.result("1");
        assertThat(rows()).hasSize(1);
    }

    @Test
    @Tag("TL-04")
    void verdict_olderThanFiveSeconds_isAskedForAgain() {
        wanted("c1");
        var judgedAt = session.now();
        session.tick(Duration.ofSeconds(6));
        session.judged("c1", 1, admitted(), judgedAt);
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        assertThat(toJudge().orElseThrow().round()).isEqualTo(2);
        session.judged("c1", admitted());
        assertThat(session.effect(Effect.RunCall.class)).isPresent();
    }

    @Test
    @Tag("TL-04")
    void verdict_isUsedOnce() {
        wanted("c1");
        session.judged("c1", admitted());
        session.take(new Input.CallHeldBack(1, session.durable().incarnation(), "c1", 1));
        assertThat(session.effect(Effect.RunCall.class)).as("held back").isEmpty();
        session.judged("c1", 1, admitted(), session.now());
        assertThat(session.effect(Effect.RunCall.class)).as("the old verdict").isEmpty();
        session.judged("c1", refused());
        assertThat(session.journal(Event.CallStarted.class)).hasSize(1);
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.DENIED));
        assertThat(session.durable().started()).isEmpty();
    }

    @Test
    @Tag("TL-07")
    void call_thatWasOnlyAskedFor_didNotHappen() {
        wanted("c1");
        session.hostCrash();
        session.up();
        assertThat(session.journal(Event.CallStarted.class)).isEmpty();
        assertThat(session.turn().calls()).isEmpty();
    }

    @Test
    @Tag("TL-04")
    void question_isAnswered_andTheCallJudgedAgainWithTheAnswer() {
        var question = asked("c1");
        assertThat(toJudge()).isEmpty();
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        long answer = session.answerTo(question);
        assertThat(toJudge().orElseThrow().decided().orElseThrow().number()).isEqualTo(answer);
        session.judged("c1", new Ruling.Admitted("rule", CallRuling.APPROVED));
        assertThat(session.effect(Effect.RunCall.class)).isPresent();
        session.callFinished("c1", "paid");
        assertThat(rows()).singleElement().satisfies(e -> {
            assertThat(e.outcome()).isEqualTo(CallOutcome.OK);
            assertThat(e.facts().ruling()).isEqualTo(CallRuling.APPROVED);
        });
    }

    @Test
    @Tag("TL-04")
    void question_nobodyAnswers_isGivenUp_andTheCallJudgedWithThat() {
        asked("c1");
        session.tick(ASK);
        assertThat(session.durable().questions()).isEmpty();
        assertThat(toJudge().orElseThrow().decided().orElseThrow().state()).isEqualTo(Approval.State.LAPSED);
    }

    @Test
    @Tag("TL-04")
    void question_isNotAnsweredByAnOlderMessage() {
        wanted("c1");
        var id = "call-" + session.live().calls().get("c1").key().substring(0, 32) + "-1";
        long early = session.accept(ArrivalKind.ANSWER, CoreDriver.to(id));
        long message = session.accept(ArrivalKind.MESSAGE);
        session.readOnly(message);
        session.judged("c1", asks());
        assertThat(session.durable().questions().getFirst().id()).isEqualTo(id);
        session.readAgain(early);
        assertThat(session.done(early)).isEqualTo("accepted before the question was shown");
        assertThat(session.durable().questions()).hasSize(1);
    }

    @Test
    @Tag("TL-04")
    void question_answeredAfterACrashOfTheHost_isUsedByTheSameCall_once() {
        var question = asked("c1");
        var key = session.live().calls().get("c1").key();
        session.newOwner();
        long answer = session.answerTo(question);
        session.up(new Knowledge(
                Knowledge.RecordState.PRESENT,
                0,
                List.of(),
                List.of(session.turn().original().id()),
                new Knowledge.Tail.Open(List.of("c1"), List.of())));
        session.landed();
        session.busy();

        assertThat(continuation().asked()).singleElement().satisfies(a -> {
            assertThat(a.state()).isEqualTo(Approval.State.ANSWERED);
            assertThat(a.number()).isEqualTo(answer);
        });
        assertThat(continuation().unended()).as("it was not begun").isEmpty();
        wanted("d1");
        assertThat(session.live().calls().get("d1").key()).isEqualTo(key);
        assertThat(toJudge().orElseThrow().decided()).isPresent();
        session.judged("d1", new Ruling.Admitted("rule", CallRuling.APPROVED));
        session.callFinished("d1", "paid");
        wanted("d2");
        assertThat(toJudge().orElseThrow().decided()).as("another call").isEmpty();
        assertThat(rows()).singleElement().satisfies(e -> assertThat(e.callId()).isEqualTo("d1"));
    }

    @Test
    @Tag("TL-04")
    void question_openOverACrash_isTheSameQuestionForTheSameCall() {
        var question = asked("c1");
        cutOff("c1");
        assertThat(continuation().asked()).extracting(Approval::state).containsExactly(Approval.State.OPEN);
        assertThat(asked("d1")).isEqualTo(question);
        assertThat(session.journal(Event.QuestionAsked.class)).hasSize(1);
        session.answerTo(question);
        assertThat(toJudge().orElseThrow().callId()).isEqualTo("d1");
    }

    @Test
    @Tag("TL-04")
    void question_whoseAnswerWasAcceptedWhileNobodyOwnedTheSession_isAnsweredThoughItsTimeIsOver() {
        var question = asked("c1");
        long answer = session.accept(ArrivalKind.ANSWER, CoreDriver.to(question));
        session.sleep(ASK.plusSeconds(1));
        session.hostCrash();
        assertThat(session.newest(Event.QuestionAnswered.class))
                .isEqualTo(new Event.QuestionAnswered(question, answer));
        assertThat(session.journal(Event.QuestionWithdrawn.class)).isEmpty();
    }

    @Test
    @Tag("TL-04")
    void approvalThatWasUsed_isNotUsedAgainAfterACrash() {
        var question = asked("c1");
        session.answerTo(question);
        session.judged("c1", new Ruling.Admitted("rule", CallRuling.APPROVED));
        cutOff("c1");
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.LOST));
        assertThat(continuation().asked()).isEmpty();
        wanted("d1");
        assertThat(toJudge().orElseThrow().decided()).isEmpty();
        session.judged("d1", asks());
        assertThat(session.newest(Event.QuestionAsked.class).id()).isNotEqualTo(question);
    }

    @Test
    @Tag("TL-04")
    void questions_ofATurn_endWithIt() {
        asked("c1");
        session.result("1");
        assertThat(session.journal(Event.QuestionWithdrawn.class)).hasSize(1);
        assertThat(session.durable().questions()).isEmpty();
        assertThat(session.durable().approvals()).isEmpty();
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.ABANDONED));
    }

    @Test
    @Tag("TL-08")
    void question_ofACallThatIsNeverMadeAgain_hasItsRowWhenTheTurnEnds() {
        asked("c1");
        cutOff("c1");
        session.result("1");
        assertThat(rows()).singleElement().satisfies(e -> {
            assertThat(e.callId()).isEqualTo("c1");
            assertThat(e.outcome()).isEqualTo(CallOutcome.ABANDONED);
        });
    }

    @Test
    @Tag("TN-04")
    void turn_waitsForTheAnswer_andHasItsWholeTimeThen() {
        var question = asked("c1");
        session.answerTo(question);
        assertThat(session.last()).hasAtLeastOneElementOfType(Event.DeadlineMoved.class);
    }

    @Test
    @Tag("TL-08")
    void crash_inARunningCall_leavesOneRow() {
        session.callAsked("c1", "pay", "{}", true);
        session.hostCrash();
        session.up();
        session.landed();
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.LOST));
        assertThat(session.durable().started()).isEmpty();
        assertThat(session.turn().calls())
                .singleElement()
                .satisfies(c -> assertThat(c.ended()).isFalse());
    }

    @Test
    @Tag("TL-08")
    void crashOfTheAgent_inACallThatOnlyReads_leavesOneRow() {
        session.callAsked("c1", "look", "{}", false);
        session.died();
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.LOST));
    }

    @Test
    @Tag("TL-03")
    void toolOfTheAgentsOwn_isPermitted_andAuditedFromItsEvents() {
        session.callWanted("b1", "Bash", "{}", true, true);
        session.judged("b1", admitted());
        assertThat(session.last()).as("no commit of its own").isEmpty();
        assertThat(session.effect(Effect.PermitCall.class).orElseThrow().refusal())
                .isEmpty();
        assertThat(session.effect(Effect.RunCall.class)).isEmpty();
        session.take(new Input.ToolUsed(1, session.durable().incarnation(), "b1", "Bash", "d", false, "done"));
        assertThat(session.last()).isEmpty();
        session.result("1");
        assertThat(rows()).singleElement().satisfies(e -> {
            assertThat(e.builtIn()).isTrue();
            assertThat(e.outcome()).isEqualTo(CallOutcome.OK);
            assertThat(e.facts().rule()).isEqualTo("rule");
        });
    }

    @Test
    @Tag("TL-03")
    void toolOfTheAgentsOwn_thatIsRefused_hasOneRow() {
        session.callWanted("b1", "Bash", "{}", true, true);
        session.judged("b1", refused());
        assertThat(session.effect(Effect.PermitCall.class).orElseThrow().refusal())
                .contains("not here");
        session.take(new Input.ToolUsed(1, session.durable().incarnation(), "b1", "Bash", "d", true, "not here"));
        session.result("1");
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.DENIED));
    }

    @Test
    @Tag("TL-05")
    void call_inATurnOfTheAgentsOwn_isUnattended() {
        session.result("1");
        session.idle();
        session.busy();
        wanted("c1");
        assertThat(toJudge().orElseThrow().attended()).isFalse();
    }

    @Test
    @Tag("TL-04")
    void call_theAgentDoesNotWantAnyMore_isNotAskedAboutAnyMore() {
        asked("c1");
        session.report(new Report.CallWithdrawn("c1"));
        assertThat(session.durable().questions()).isEmpty();
        assertThat(rows())
                .singleElement()
                .satisfies(e -> assertThat(e.outcome()).isEqualTo(CallOutcome.ABANDONED));
    }
}
