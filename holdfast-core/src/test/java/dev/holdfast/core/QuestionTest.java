package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Questions of the host, and what answers them (IN-14). */
class QuestionTest extends CoreScenario {
    private static final Duration TIME = Duration.ofHours(1);
    private static final Limits LIMITS = Limits.standard();

    @Test
    @Tag("IN-14")
    void answer_thatNamesTheOpenQuestion_answersItOnce() {
        session.question("q", TIME);
        assertThat(session.durable().questions()).hasSize(1);
        long answer = session.answerTo("q");
        assertThat(session.newest(Event.QuestionAnswered.class)).isEqualTo(new Event.QuestionAnswered("q", answer));
        assertThat(session.durable().questions()).isEmpty();
        long second = session.answerTo("q");
        assertThat(session.done(second)).isEqualTo("no such question is open");
    }

    @Test
    @Tag("IN-14")
    void answer_acceptedBeforeTheQuestionWasShown_isNotItsAnswer() {
        long early = session.accept(ArrivalKind.ANSWER, CoreDriver.to("q"));
        long message = session.accept(ArrivalKind.MESSAGE);
        session.readOnly(message);
        session.question("q", TIME);
        session.readAgain(early);
        assertThat(session.done(early)).isEqualTo("accepted before the question was shown");
        assertThat(session.durable().questions()).hasSize(1);
    }

    @Test
    @Tag("IN-14")
    void message_isNeverAnAnswer_andAnAnswerNeverMail() {
        session.exchange("1");
        session.question("q", TIME);
        long message = session.message();
        assertThat(session.durable().questions()).hasSize(1);
        session.answerTo("q");
        assertThat(session.inTurn()).containsExactly(message);
        session.answered("2");
        assertThat(session.durable().turn()).isEmpty();
        assertThat(session.durable().consumed()).isEqualTo(2);
    }

    @Test
    @Tag("IN-14")
    void answer_toAnotherQuestion_leavesThisOneOpen() {
        session.question("q", TIME);
        session.question("r", TIME);
        session.answerTo("r");
        assertThat(session.durable().questions()).extracting(Question::id).containsExactly("q");
    }

    @Test
    @Tag("IN-14")
    void question_askedAgainUnderItsId_isTheSame() {
        session.question("q", TIME);
        var deadline = session.durable().questions().getFirst().deadline();
        session.tick(Duration.ofMinutes(5));
        session.question("q", TIME);
        assertThat(session.journal(Event.QuestionAsked.class)).hasSize(1);
        assertThat(session.durable().questions().getFirst().deadline()).isEqualTo(deadline);
    }

    @Test
    @Tag("IN-17")
    void question_atItsDeadline_isWithdrawn_andARestartDoesNotPushItOut() {
        session.question("q", TIME);
        var deadline = session.now().plus(TIME);
        session.sleep(Duration.ofMinutes(59));
        session.hostCrash();
        assertThat(session.wakeAt()).contains(deadline);
        session.tick(Duration.ofSeconds(59));
        assertThat(session.durable().questions()).hasSize(1);
        assertThat(session.sleepable()).as("it is due within a minute").isFalse();
        session.tick(Duration.ofSeconds(1));
        assertThat(session.newest(Event.QuestionWithdrawn.class).why()).isEqualTo("deadline passed");
        long late = session.answerTo("q");
        assertThat(session.done(late)).isEqualTo("no such question is open");
    }

    @Test
    @Tag("IN-14")
    @Tag("MB-17")
    void answer_afterAHostDeath_answersTheQuestionAskedBefore() {
        session.question("q", TIME);
        session.accept(ArrivalKind.ANSWER, CoreDriver.to("q"));
        session.hostCrash();
        assertThat(session.journal(Event.QuestionAnswered.class)).hasSize(1);
    }

    @Test
    @Tag("P4")
    void close_withAQuestionOpen_withdrawsIt_andALaterOneAsWell() {
        session.question("q", TIME);
        session.close("done");
        assertThat(session.durable().questions()).isEmpty();
        assertThat(session.newest(Event.QuestionWithdrawn.class).id()).isEqualTo("q");
        session.question("r", TIME);
        assertThat(session.newest(Event.QuestionWithdrawn.class).id())
                .as("who asks is told")
                .isEqualTo("r");
        assertThat(session.durable().questions()).isEmpty();
    }

    @Test
    void question_holdsNeitherTheQueueNorTheOwner() {
        session.question("q", TIME);
        assertThat(session.sleepable()).isTrue();
        session.message();
        session.up();
        session.answered("1");
        assertThat(session.outcome(1)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("TN-04")
    void turn_whileAQuestionIsOpen_hasNoDeadlineAndThenItsWholeTimeAgain() {
        session.message();
        session.up();
        session.landed();
        session.busy();
        session.question("q", LIMITS.turn().multipliedBy(3));
        session.tick(LIMITS.turn().multipliedBy(2));
        assertThat(session.outcome(1)).isEmpty();
        assertThat(session.turn().stage()).isNotEqualTo(TurnStage.ENDING);
        session.answerTo("q");
        assertThat(session.turn().deadline()).isEqualTo(session.now().plus(LIMITS.turn()));
        assertThat(session.fold()).isEqualTo(session.durable());
        session.tickDue();
        assertThat(session.turn().stage()).isEqualTo(TurnStage.ENDING);
        assertThat(session.turn().ending()).isEqualTo("deadline passed: turn");
    }

    @Test
    @Tag("TN-04")
    void turn_withTwoQuestionsOpen_goesOnWhenTheLastIsOver() {
        session.message();
        session.up();
        session.landed();
        session.busy();
        session.question("q", LIMITS.turn().multipliedBy(2));
        session.question("r", LIMITS.turn().multipliedBy(3));
        session.tick(LIMITS.turn().multipliedBy(2));
        assertThat(session.newest(Event.QuestionWithdrawn.class).id()).isEqualTo("q");
        assertThat(session.journal(Event.DeadlineMoved.class)).isEmpty();
        session.hostCrash();
        session.tick(LIMITS.turn());
        assertThat(session.newest(Event.QuestionWithdrawn.class).id()).isEqualTo("r");
        assertThat(session.turn().deadline()).isEqualTo(session.now().plus(LIMITS.turn()));
    }
}
