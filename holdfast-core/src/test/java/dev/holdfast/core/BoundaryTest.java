package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.StopMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A predicate may keep the next message from this process (MB-10), but never in mid-turn (MB-12). */
class BoundaryTest extends CoreScenario {
    private static final Settings BOUNDED = new Settings(false, false, true, Settings.Taker.AGENT);
    private final CoreDriver bounded = new CoreDriver(Limits.standard(), BOUNDED);

    private boolean asks() {
        return bounded.effect(Effect.Judge.class).isPresent();
    }

    /** A process that was told one message, and a second one that the boundary is asked about. */
    private long asked() {
        bounded.exchange("1");
        return bounded.message();
    }

    @Test
    @Tag("MB-10")
    void first_messageOfAProcess_isNeverAskedAbout() {
        bounded.message();
        assertThat(bounded.durable().turn()).isPresent();
        bounded.up();
        assertThat(asks()).isFalse();
        assertThat(bounded.told()).isPresent();
    }

    @Test
    @Tag("MB-10")
    void message_thatIsLetThrough_getsItsTurn() {
        long second = asked();
        assertThat(bounded.effect(Effect.Judge.class).orElseThrow().number()).isEqualTo(second);
        assertThat(bounded.durable().turn()).isEmpty();
        bounded.judged(second, false);
        assertThat(bounded.inTurn()).containsExactly(second);
        assertThat(bounded.live().stage()).isEqualTo(AgentStage.READY);
        assertThat(asks()).isFalse();
    }

    @Test
    @Tag("MB-10")
    @Tag("MB-19")
    void message_thatIsRejected_staysQueuedAndIsTheFirstOfTheNextProcess() {
        long second = asked();
        bounded.judged(second, true);
        assertThat(bounded.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        assertThat(bounded.durable().named(second)).as("it stays queued").isFalse();
        bounded.ended("end of input", "");

        assertThat(bounded.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.BOUNDARY);
        assertThat(bounded.durable().lastEnd()).isEqualTo("BOUNDARY");
        assertThat(bounded.inTurn()).containsExactly(second);
        bounded.up(bounded.remembers(1));
        assertThat(asks()).isFalse();
        bounded.answered("2");
        assertThat(bounded.outcome(second)).contains(Outcome.ANSWERED);
    }

    @Test
    @Tag("MB-10")
    @Tag("MB-21")
    void message_thatIsRejected_canBeWithdrawnWhileTheProcessEnds() {
        long second = asked();
        bounded.judged(second, true);
        bounded.withdraw(second);
        bounded.ended("end of input", "");
        assertThat(bounded.outcome(second)).contains(Outcome.WITHDRAWN);
        assertThat(bounded.sleepable()).isTrue();
    }

    @Test
    @Tag("MB-10")
    void boundary_isOffByDefault() {
        session.exchange("1");
        session.message();
        assertThat(session.effect(Effect.Judge.class)).isEmpty();
        assertThat(session.durable().turn()).isPresent();
    }

    @Test
    @Tag("MB-10")
    @Tag("MB-12")
    void boundary_isAskedOnlyWhenTheAgentRests() {
        bounded.message();
        bounded.up();
        bounded.landed();
        long second = bounded.message();
        assertThat(asks()).isFalse();
        bounded.result("1");
        assertThat(asks()).as("it has not said idle").isFalse();
        assertThat(bounded.durable().turn()).isEmpty();
        bounded.idle();
        assertThat(asks()).isTrue();
        bounded.busy();
        assertThat(asks()).as("it works by itself").isFalse();
        bounded.judged(second, true);
        assertThat(bounded.live().stage()).as("no end in mid-turn").isEqualTo(AgentStage.READY);
        bounded.idle();
        assertThat(asks()).isTrue();
    }

    @Test
    @Tag("MB-12")
    @Tag("MB-16")
    void rejection_duringARequestOfTheHost_endsNothing() {
        long second = asked();
        bounded.internal();
        bounded.judged(second, true);
        assertThat(bounded.live().stage()).isEqualTo(AgentStage.READY);
        bounded.answered("summary");
        assertThat(bounded.effect(Effect.Judge.class).orElseThrow().number()).isEqualTo(second);
        bounded.judged(second, true);
        assertThat(bounded.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("MB-10")
    void rejection_ofAMessageThatIsNotThereAnyMore_endsNothing() {
        long second = asked();
        bounded.withdraw(second);
        assertThat(asks()).isFalse();
        bounded.judged(second, true);
        assertThat(bounded.live().stage()).isEqualTo(AgentStage.READY);
    }

    @Test
    @Tag("MB-10")
    void boundary_isAskedAboutWhatIsNext() {
        long second = asked();
        long replace = bounded.replace();
        assertThat(bounded.effect(Effect.Judge.class).orElseThrow().number()).isEqualTo(replace);
        bounded.judged(second, true);
        assertThat(bounded.live().stage()).as("an answer about another").isEqualTo(AgentStage.READY);
        bounded.judged(replace, false);
        assertThat(bounded.inTurn()).containsExactly(replace);
    }

    @Test
    @Tag("MB-03")
    @Tag("MB-10")
    void answer_ofTheBoundaryForAnOlderProcess_countsForNothing() {
        long second = asked();
        bounded.take(new Input.Judged(bounded.epoch(), bounded.durable().incarnation() + 1, second, true));
        bounded.take(new Input.Judged(bounded.epoch() + 1, bounded.durable().incarnation(), second, true));
        assertThat(bounded.live().stage()).isEqualTo(AgentStage.READY);
        bounded.died();
        assertThat(bounded.inTurn()).as("the next process takes it first").containsExactly(second);
    }

    @Test
    @Tag("MB-09")
    void drain_whileTheBoundaryIsAsked_takesNothing() {
        long second = asked();
        bounded.drain(java.time.Duration.ofMinutes(1));
        bounded.judged(second, false);
        assertThat(bounded.durable().turn()).isEmpty();
        assertThat(bounded.durable().phase()).isEqualTo(Phase.PAUSED);
    }

    @Test
    @Tag("IN-15")
    @Tag("MB-10")
    void combining_withABoundary_asksAboutEachMessage() {
        var both = new CoreDriver(Limits.standard(), new Settings(false, true, true, Settings.Taker.AGENT));
        both.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        long second = both.accept(ArrivalKind.MESSAGE, CoreDriver.by("a"));
        both.read();
        assertThat(both.inTurn()).containsExactly(1L);
        both.up();
        both.answered("1");
        assertThat(both.effect(Effect.Judge.class).orElseThrow().number()).isEqualTo(second);
    }
}
