package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Report;
import dev.holdfast.StopMode;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Places under the cap, eviction, fencing of late reports, and when an owner may go (HS-23, MB-03). */
class ProcessTest extends CoreScenario {
    @Test
    @Tag("HS-23")
    void evict_betweenTurns_endsTheProcessAndNothingRestartsIt() {
        session.exchange("1");
        long evict = session.evict();
        assertThat(session.done(evict)).isEqualTo("evicting");
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        session.ended("end of input", "");

        assertThat(session.live().stage()).isEqualTo(AgentStage.DOWN);
        assertThat(session.durable().lastEnd()).isEqualTo("EVICTED");
        session.tick(Duration.ofHours(1));
        assertThat(session.effects()).isEmpty();
    }

    @Test
    @Tag("HS-04")
    @Tag("HS-23")
    @Tag("MB-12")
    void evict_inATurn_isRefused() {
        session.message();
        session.up();
        session.landed();
        long evict = session.evict();
        assertThat(session.done(evict)).isEqualTo("nothing to evict");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
    }

    @Test
    @Tag("HS-04")
    @Tag("MB-13")
    void evict_inATurnOfTheAgentsOwn_isRefused() {
        session.exchange("1");
        session.busy();
        long evict = session.evict();
        assertThat(session.done(evict)).isEqualTo("nothing to evict");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
    }

    @Test
    @Tag("HS-23")
    @Tag("MB-12")
    void evict_betweenResultAndIdle_waitsForTheIdle() {
        session.message();
        session.up();
        session.landed();
        session.result("1");
        long evict = session.evict();
        assertThat(session.done(evict)).isEqualTo("evicting");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    @Tag("HS-03")
    void start_withAnotherBinding_isAnEventNamingTheDifferences_andNoneElse() {
        var one = new CoreDriver(Limits.standard(), bound(Map.of("model", "fast", "prompt", "sha256:1")));
        one.exchange("1");
        assertThat(one.newest(Event.AgentBound.class).differences()).isEmpty();
        one.hostCrash();
        one.message();
        one.up(one.remembers(1));
        one.answered("2");
        assertThat(one.journal(Event.AgentBound.class)).hasSize(1);
        one.hostCrash(bound(Map.of("model", "slow", "prompt", "sha256:2")));
        assertThat(one.journal(Event.AgentBound.class))
                .as("while nothing starts, nothing is bound")
                .hasSize(1);
        one.message();
        assertThat(one.newest(Event.AgentBound.class).differences())
                .containsExactly("model: 'fast' is now 'slow'", "prompt: another text");
        assertThat(one.durable().binding()).containsEntry("model", "slow");
        one.up(one.remembers(2));
        one.answered("3");
        assertThat(one.newest(Event.IncarnationVerified.class).resumed())
                .as("the conversation goes on")
                .isTrue();
    }

    private static Settings bound(Map<String, String> binding) {
        return new Settings(false, false, false, Settings.Taker.AGENT, binding);
    }

    @Test
    void message_whileTheProcessIsBeingEvicted_startsTheNext() {
        session.exchange("1");
        session.evict();
        session.message();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
        session.ended("end of input", "");

        assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
        assertThat(session.durable().failures()).isZero();
        session.up(session.remembers(1));
        session.answered("2");
    }

    @Test
    @Tag("HS-23")
    void place_askedFor_isGivenBackBetweenTurns() {
        session.exchange("1");
        session.slot(Input.SlotAnswer.PLEASE_FREE);
        assertThat(session.effect(Effect.StopAgent.class).orElseThrow().mode()).isEqualTo(StopMode.IDLE);
        assertThat(session.effect(Effect.HoldSlot.class))
                .as("held until it is seen dead")
                .isPresent();
        session.ended("end of input", "");
        assertThat(session.effects()).isEmpty();
    }

    @Test
    @Tag("HS-04")
    @Tag("HS-23")
    void place_askedForInATurn_isGivenBackAfterIt() {
        session.message();
        session.up();
        session.landed();
        session.slot(Input.SlotAnswer.PLEASE_FREE);
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.result("1");
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.idle();
        assertThat(session.live().stage()).isEqualTo(AgentStage.STOPPING);
    }

    @Test
    void slot_grantedTwice_isGrantedOnce() {
        session.message();
        session.slotGranted();
        session.slotGranted();
        assertThat(session.live().stage()).isEqualTo(AgentStage.ASKING);
    }

    @Test
    @Tag("MB-03")
    void report_ofAnOlderIncarnation_isDroppedAndNoted() {
        session.message();
        session.up();
        var id = session.line();
        session.landed();
        session.died();
        session.tickDue();
        session.take(new Input.Reported(1, 1, new Report.Result(CoreDriver.answer("late"))));
        session.take(new Input.CallAsked(1, 1, "c", "t", "d", true, false));
        session.take(new Input.CallFinished(1, 1, "c", false, "x"));
        session.take(new Input.Slot(1, 1, Input.SlotAnswer.GRANTED));

        assertThat(session.turn().stage()).isEqualTo(TurnStage.OPEN);
        assertThat(session.live().stage()).isEqualTo(AgentStage.PLANNED);
        session.up(session.hasOpen(id));
        assertThat(session.journal(Event.Noticed.class).stream()
                        .filter(n -> n.what().equals("late_report")))
                .hasSize(4);
    }

    @Test
    @Tag("MB-03")
    void report_ofAnOlderEpoch_isDroppedAndNoted() {
        session.message();
        session.up();
        session.hostCrash();
        session.take(new Input.Reported(1, session.durable().incarnation(), new Report.Landed(session.line())));

        assertThat(session.live().landed()).isEmpty();
        session.up();
        assertThat(session.journal(Event.Noticed.class))
                .extracting(Event.Noticed::what)
                .contains("late_report");
    }

    @Test
    @Tag("MB-03")
    void report_withNoIncarnationUp_isDroppedAndNotedAtOnce() {
        session.exchange("1");
        session.died();
        session.died();
        assertThat(session.last()).hasExactlyElementsOfTypes(Event.Noticed.class);
        assertThat(session.sleepable()).isTrue();
    }

    @Test
    void reports_outOfPlace_changeNothing() {
        session.message();
        session.up();
        session.known(dev.holdfast.Knowledge.nothing());
        session.verified();
        assertThat(session.live().stage()).isEqualTo(AgentStage.READY);
        session.report(new Report.Text("fragment"));
        assertThat(session.last()).isEmpty();
    }

    @Test
    void notes_rideWithTheNextCommit() {
        session.message();
        session.up();
        session.report(new Report.Noticed("api_retry", "attempt 1 of 10"));
        assertThat(session.last()).isEmpty();
        session.landed();
        session.result("1");

        assertThat(session.last()).contains(new Event.Noticed("api_retry", "attempt 1 of 10"));
        assertThat(session.journal(Event.IncarnationStarted.class))
                .extracting(Event.IncarnationStarted::pid)
                .containsExactly(4711L);
    }

    @Test
    @Tag("IN-21")
    void owner_withSomethingToDo_mayNotGo() {
        session.message();
        assertThat(session.sleepable()).isFalse();
        session.up();
        assertThat(session.sleepable()).isFalse();
        session.landed();
        session.died();
        assertThat(session.sleepable()).as("a restart is due within a minute").isFalse();
    }

    @Test
    void owner_withARestartFarAway_mayGo() {
        var patient = new CoreDriver(Limits.standard().withRestartDelays(java.util.List.of(Duration.ofHours(1))));
        patient.message();
        patient.up();
        patient.died();

        assertThat(patient.sleepable()).isTrue();
        assertThat(patient.dueAt()).contains(patient.now().plus(Duration.ofHours(1)));
        patient.tick(Duration.ofMinutes(59).plusSeconds(1));
        assertThat(patient.sleepable()).isFalse();
    }

    @Test
    void owner_withAWarmProcess_mayNotGo() {
        session.exchange("1");
        assertThat(session.sleepable()).isFalse();
    }
}
