package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process that is old, big or much used is ended between turns, and the next turn gets another (HS-14). */
@Tag("HS-14")
class RecyclingTest extends CoreScenario {
    private static final Duration AGE = Duration.ofHours(3);
    private static final int TURNS = 2;
    private static final long MEMORY = 1_000;

    private final CoreDriver worn =
            new CoreDriver(Limits.standard().withIdle(Duration.ofDays(2)).withRecycling(AGE, MEMORY, TURNS));

    private void recycled(String why) {
        assertThat(worn.live().stage()).isEqualTo(AgentStage.STOPPING);
        assertThat(worn.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        worn.ended("end of input", "");
        assertThat(worn.newest(Event.IncarnationEnded.class).cause()).isEqualTo(Event.EndCause.RECYCLED);
        assertThat(worn.journal(Event.Noticed.class))
                .anySatisfy(n -> assertThat(n).isEqualTo(new Event.Noticed("recycled", why)));
        assertThat(worn.durable().lastEnd()).isEqualTo("RECYCLED");
        assertThat(worn.durable().failures()).isZero();
    }

    @Test
    void turns_asManyAsTheLimit_recycleAfterTheLastAndNothingRestarts() {
        worn.exchange("1");
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
        worn.exchange("2");
        recycled("2 turns");
        assertThat(worn.live().stage()).isEqualTo(AgentStage.DOWN);
        worn.message();
        worn.up(worn.remembers(2));
        worn.answered("3");
        assertThat(worn.live().stage()).as("counted anew").isEqualTo(AgentStage.READY);
    }

    /** The next turn is open with the result; it is not told to this process. */
    @Test
    void turns_withMoreWaiting_recycleBeforeTheNextIsWritten() {
        worn.message();
        long second = worn.message();
        long third = worn.message();
        worn.up();
        worn.answered("1");
        worn.landed();
        worn.result("2");
        assertThat(worn.inTurn()).containsExactly(third);
        assertThat(worn.told()).as("before it rests").isEmpty();
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
        worn.idle();
        assertThat(worn.outcome(second)).contains(Outcome.ANSWERED);
        recycled("2 turns");
        worn.up(worn.remembers(2));
        assertThat(worn.told()).isPresent();
        assertThat(worn.newest(Event.IncarnationVerified.class).resumed()).isTrue();
        worn.answered("3");
        assertThat(worn.outcome(third)).contains(Outcome.ANSWERED);
        assertThat(worn.journal(Event.TurnReturned.class)).isEmpty();
    }

    @Test
    void memory_overTheLimit_recyclesAtTheRestAndNeverInATurn() {
        worn.message();
        worn.up();
        worn.landed();
        worn.report(new Report.Memory(MEMORY));
        assertThat(worn.live().stage()).as("in mid-turn").isEqualTo(AgentStage.READY);
        worn.result("1");
        assertThat(worn.live().stage()).as("before it rests").isEqualTo(AgentStage.READY);
        worn.idle();
        recycled(MEMORY + " bytes of memory");
    }

    @Test
    void memory_underTheLimit_recyclesNothing() {
        worn.message();
        worn.up();
        worn.landed();
        worn.result("1");
        worn.report(new Report.Memory(MEMORY - 1));
        worn.idle();
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
    }

    /** The next would be as big: the message would never be told. */
    @Test
    void memory_overTheLimitBeforeTheFirstTurn_isNoReason() {
        worn.message();
        worn.slotGranted();
        worn.known(worn.remembers(0));
        worn.report(new Report.Memory(MEMORY));
        worn.verified();
        assertThat(worn.told()).isPresent();
        worn.landed();
        worn.result("1");
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
        worn.idle();
        recycled(MEMORY + " bytes of memory");
    }

    @Test
    void age_reachedAtRest_recyclesByItself() {
        worn.exchange("1");
        assertThat(worn.dueAt()).contains(worn.now().plus(AGE));
        worn.tick(AGE.minusMillis(1));
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
        worn.tickDue();
        recycled("it is older than PT3H");
    }

    @Test
    void age_reachedInATurn_waitsForItsEnd() {
        var patient =
                new CoreDriver(Limits.standard().withTurn(Duration.ofDays(1)).withRecycling(AGE, MEMORY, TURNS));
        patient.message();
        patient.up();
        patient.landed();
        patient.tick(AGE.plusHours(1));
        assertThat(patient.live().stage()).isEqualTo(AgentStage.READY);
        patient.busy();
        patient.result("1");
        patient.idle();
        assertThat(patient.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    void age_reachedInATurnOfTheAgentsOwn_waitsForItsEnd() {
        worn.exchange("1");
        worn.busy();
        worn.tick(AGE);
        assertThat(worn.live().stage()).isEqualTo(AgentStage.READY);
        worn.result("own");
        worn.idle();
        recycled("2 turns");
    }

    /** It stays open, and is replaced all the same. */
    @Test
    void age_ofASessionThatStaysOpen_recycles() {
        var staying = new CoreDriver(
                Limits.standard().withRecycling(AGE, MEMORY, TURNS),
                new Settings(true, false, false, Settings.Taker.AGENT));
        staying.exchange("1");
        assertThat(staying.dueAt()).contains(staying.now().plus(AGE));
        staying.tickDue();
        assertThat(staying.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    /** What was asked of this process dies with it, so it goes first (MB-16). */
    @Test
    @Tag("MB-16")
    void request_ofThisProcess_runsBeforeItIsRecycled() {
        worn.exchange("1");
        worn.message();
        worn.landed();
        worn.internal();
        worn.result("2");
        worn.idle();
        assertThat(worn.turn().original().kind()).isEqualTo(Told.Kind.INTERNAL);
        worn.answered("summary");
        recycled("3 turns");
    }
}
