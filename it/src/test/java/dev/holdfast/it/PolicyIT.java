package dev.holdfast.it;

import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.refused;
import static dev.holdfast.it.Station.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SteerAnswer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** When a message reaches the agent, and what its sender is told; with the scripted agent. */
@Execution(ExecutionMode.CONCURRENT)
final class PolicyIT {
    private static final String HOLD = "[[tool mcp__host__hold {\"text\":\"x\"}]]";

    @TempDir
    Path directory;

    private AgentStation station(ModelScript script) {
        return new AgentStation(directory, script);
    }

    // ---- steering -------------------------------------------------------------------------------------------------

    @Tag("TN-09")
    @Test
    @DisplayName("happier#405, uxnan#145: a message can be put into the running turn")
    void steer_intoARunningTurn_landsAndSettlesWithIt() {
        try (var station =
                station(new ModelScript().on("M1", HOLD, "[[say done]]")).open()) {
            long first = station.send("M1 work");
            station.events().await("CallStarted", "hold");
            var answer =
                    station.session().steerAsync(Message.of("S2 mind the gap").key("s2"));
            station.events().await("SteerPlanned");
            station.release();
            assertThat(now(answer)).isEqualTo(SteerAnswer.LANDED);
            var reply = station.reply(2);
            assertThat(reply.turn()).as("it settles with the turn it landed in").isEqualTo(1);
            assertThat(station.reply(first))
                    .isEqualTo(new Reply(1, 1, Outcome.ANSWERED, reply.text(), "", reply.usage()));
            assertThat(station.lastShown().count("S2 mind the gap")).isEqualTo(1);
            assertThat(now(station.session()
                            .steerAsync(Message.of("S2 mind the gap").key("s2"))))
                    .as("sent again after its end, it is not landing now")
                    .isEqualTo(SteerAnswer.QUEUED);
        }
    }

    @Tag("TN-09")
    @Test
    void steer_thatDoesNotLandInTime_isQueuedAndHasATurnLater() {
        try (var station = station(
                        new ModelScript().on("M1", "[[gate a]] [[say one]]").on("S2", "[[say two]]"))
                .open()) {
            station.send("M1 work");
            station.awaitGate("a");
            long begun = System.nanoTime();
            assertThat(station.session().steer("S2 too late for this turn")).isEqualTo(SteerAnswer.QUEUED);
            assertThat(java.time.Duration.ofNanos(System.nanoTime() - begun))
                    .isBetween(java.time.Duration.ofSeconds(4), java.time.Duration.ofSeconds(9));
            station.gate("a").open();
            var reply = station.reply(2);
            assertThat(reply.outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(station.lastShown().count("S2 too late")).isEqualTo(1);
        }
    }

    @Tag("TN-09")
    @Test
    void steer_withNoTurnRunning_isQueuedAndRuns() {
        try (var station = station(new ModelScript()).open()) {
            assertThat(station.session().steer("S1 anybody?")).isEqualTo(SteerAnswer.QUEUED);
            assertThat(station.reply(1).outcome()).isEqualTo(Outcome.ANSWERED);
        }
    }

    @Tag("TN-09")
    @Test
    void steer_intoAClosedSession_isRefusedAndNothingIsStored() {
        try (var station = station(new ModelScript()).open()) {
            station.session().close("over");
            Station.awaitStatus(station.session(), s -> s.phase().equals("CLOSED"));
            assertThat(station.session().steer("S2 too late")).isEqualTo(SteerAnswer.REFUSED);
            assertThat(station.session().status().queued()).isZero();
        }
    }

    // ---- next, after idle, replace, refuse ------------------------------------------------------------------------

    private static List<Long> turns(AgentStation station, List<Long> numbers) {
        var turns = new ArrayList<Long>();
        numbers.forEach(n -> turns.add(station.reply(n).turn()));
        return turns;
    }

    @Tag("TN-09")
    @Test
    void afterIdle_waitsForAllOtherMail_inOrderAmongItsLike() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            var numbers = new ArrayList<Long>();
            numbers.add(station.send("M1 first"));
            station.awaitGate("a");
            numbers.add(station.send(Message.of("A2 later").policy(DeliveryPolicy.AFTER_IDLE)));
            numbers.add(station.send("M3 second"));
            numbers.add(station.send(Message.of("A4 last").policy(DeliveryPolicy.AFTER_IDLE)));
            numbers.add(station.send(Message.of("M5 third").policy(DeliveryPolicy.NEXT)));
            station.gate("a").open();
            assertThat(turns(station, numbers)).containsExactly(1L, 4L, 2L, 5L, 3L);
        }
    }

    @Tag("TN-09")
    @Test
    void replace_cancelsTheOpenTurnAndRunsBeforeWhatWaits() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            long waits = station.send("M2 waits");
            long replacing = station.send(Message.of("R3 instead").policy(DeliveryPolicy.REPLACE));
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.CANCELLED);
            assertThat(station.reply(first).detail()).contains("replaced by message 3");
            assertThat(turns(station, List.of(replacing, waits))).containsExactly(2L, 3L);
        }
    }

    @Tag("TN-09")
    @Test
    void refuseIfBusy_isDecidedWhenItIsAccepted() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            station.send("M1 work");
            station.awaitGate("a");
            var only = Message.of("B2 only if idle").policy(DeliveryPolicy.REFUSE_IF_BUSY);
            var refusal = refused(station.session().send(only));
            assertThat(refusal).isEqualTo(new Receipt.Busy(OptionalLong.of(1), 0));
            assertThat(refusal.message()).contains("turn 1 is open").contains("send again when it is idle");
            station.send("M2 waits");
            assertThat(station.session().send(only)).isEqualTo(new Receipt.Busy(OptionalLong.of(1), 1));
            station.gate("a").open();
            station.reply(2);
            var accepted = stored(station.session().send(only));
            assertThat(station.reply(accepted.number()).outcome()).isEqualTo(Outcome.ANSWERED);
        }
    }

    // ---- combining ------------------------------------------------------------------------------------------------

    private static final Author ADA = new Author("ada", "web");
    private static final Author ADA_ELSEWHERE = new Author("ada", "telephone");
    private static final Author ADA_AS_ADMIN = new Author("ada", "web", "admin");
    private static final Author BOB = new Author("bob", "web");

    private static List<Long> mixed(AgentStation station) {
        var numbers = new ArrayList<Long>();
        numbers.add(station.send("M1 first", ADA));
        station.awaitGate("a");
        numbers.add(station.send("M2 one", ADA));
        numbers.add(station.send("M3 two", ADA_ELSEWHERE));
        numbers.add(station.send("M4 other", BOB));
        numbers.add(station.send("M5 as admin", ADA_AS_ADMIN));
        numbers.add(station.send("M6 again", ADA));
        station.gate("a").open();
        return numbers;
    }

    @Tag("IN-15")
    @Test
    void combine_joinsMessagesOfOneSenderWithOneAuthority_eachWithItsEnd() {
        try (var station = station(new ModelScript().on("M1", "[[gate a]] [[say ok]]"))
                .policy(SessionPolicy.standard().combine(true))
                .open()) {
            var numbers = mixed(station);
            assertThat(turns(station, numbers)).containsExactly(1L, 2L, 2L, 3L, 4L, 5L);
            assertThat(station.reply(2).number()).isEqualTo(2);
            assertThat(station.reply(3).number()).isEqualTo(3);
            assertThat(station.lastShown().holdsOnceInOrder("M2 one", "M3 two", "M4 other", "M5 as admin", "M6 again"))
                    .isTrue();
        }
    }

    @Tag("IN-15")
    @Test
    void combine_off_joinsNothing() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            assertThat(turns(station, mixed(station))).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
        }
    }
}
