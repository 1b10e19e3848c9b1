package dev.holdfast.it;

import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CloseReason;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.SessionPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** How long an agent's process is fed, and what goes on without a message of a sender; with the scripted agent. */
@Execution(ExecutionMode.CONCURRENT)
final class AgentLifeIT {
    private static final String STEP = "[[tool mcp__host__step {\"text\":\"x\"}]]";
    private static final Limits QUICK = Limits.standard().withIdle(Duration.ofMillis(200));

    @TempDir
    Path directory;

    private AgentStation station(ModelScript script) {
        return new AgentStation(directory, script);
    }

    private static void awaitProcesses(AgentStation station, int count) {
        Awaitility.await(count + " processes")
                .atMost(Station.PATIENCE)
                .until(() -> station.host().processes() == count);
    }

    // ---- stay open or end when idle -------------------------------------------------------------------------------

    @Tag("CH-05")
    @Tag("MB-11")
    @Test
    void endWhenIdle_endsTheProcess_andALaterMessageReopensTheConversation() {
        try (var station = station(new ModelScript()).limits(QUICK).open()) {
            station.ask("M1 good morning");
            awaitProcesses(station, 0);
            assertThat(awaitStatus(station.session(), s -> s.lastEnd().equals("IDLE"))
                            .process())
                    .isEqualTo("asleep");
            station.ask("M2 still there?");
            assertThat(station.events()
                            .await("IncarnationVerified", "\"incarnation\":2")
                            .body())
                    .contains("\"resumed\":true");
            assertThat(station.lastShown().holdsOnceInOrder("M1 good morning", "M2 still there?"))
                    .isTrue();
        }
    }

    @Tag("CH-05")
    @Tag("HS-04")
    @Test
    void stayOpen_keepsTheProcess_unlessItsPlaceIsNeeded() {
        var stay = SessionPolicy.standard().stay(SessionPolicy.Stay.STAY_OPEN);
        try (var station = station(new ModelScript())
                .limits(QUICK)
                .policy(stay)
                .processes(1)
                .open()) {
            station.ask("M1 good morning");
            try (var clock = new Station(directory.resolve("clock"))) {
                var feed = now(now(clock.host().mailbox(Station.NAME))
                        .feed(dev.holdfast.Mailbox.FeedOptions.none().idleExit(Duration.ofSeconds(1))));
                assertThat(now(feed.next())).isEmpty();
            }
            assertThat(station.host().processes()).as("after five idle times").isEqualTo(1);
            assertThat(station.session().status().process()).isEqualTo("idle");
            assertThat(station.session("another").ask("M2 me too").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(awaitStatus(station.session(), s -> s.lastEnd().equals("EVICTED"))
                            .process())
                    .isEqualTo("asleep");
        }
    }

    @Tag("CH-05")
    @Tag("MB-07")
    @Test
    void finish_worksOffWhatWaits_andThenTheProcessEnds() {
        var stay = SessionPolicy.standard().stay(SessionPolicy.Stay.STAY_OPEN);
        try (var station = station(new ModelScript().on("M1", "[[gate a]] [[say ok]]"))
                .policy(stay)
                .open()) {
            station.send("M1 first");
            station.awaitGate("a");
            long second = station.send("M2 second");
            stored(now(station.session().finish("enough")));
            station.gate("a").open();
            assertThat(station.reply(second).outcome()).isEqualTo(Outcome.ANSWERED);
            awaitStatus(station.session(), s -> s.phase().equals("CLOSED"));
            awaitProcesses(station, 0);
        }
    }

    @Tag("MB-10")
    @Test
    void boundary_endsTheProcessBeforeAMessageThatIsNotForIt() {
        var asked = new CopyOnWriteArrayList<String>();
        var policy = SessionPolicy.standard().boundary(text -> {
            asked.add(text);
            return text.startsWith("T");
        });
        try (var station = station(new ModelScript()).policy(policy).open()) {
            station.ask("T1 new task");
            station.ask("M2 more of it");
            station.ask("T3 another task");
            assertThat(station.events().await("IncarnationEnded", "BOUNDARY").body())
                    .contains("\"incarnation\":1");
            station.events().await("IncarnationVerified", "\"incarnation\":2");
            assertThat(asked).as("not asked about a first message").containsExactly("M2 more of it", "T3 another task");
        }
    }

    // ---- pause and drain ------------------------------------------------------------------------------------------

    @Tag("MB-08")
    @Test
    void pause_letsTheOpenTurnEndAndNoneBegin_alsoThroughARestart() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            long first = station.send("M1 first");
            station.awaitGate("a");
            long second = station.send("M2 second");
            stored(station.session().close(CloseReason.MONEY_BUDGET));
            awaitStatus(station.session(), s -> s.phase().equals("PAUSED"));
            station.gate("a").open();
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.ANSWERED);
            awaitProcesses(station, 0);
            station.restart();
            var reply = station.session().reply(second);
            assertThat(station.session().status().phase()).isEqualTo("PAUSED");
            assertThat(reply.toCompletableFuture()).isNotDone();
            stored(now(station.session().resume()));
            assertThat(now(reply).outcome()).isEqualTo(Outcome.ANSWERED);
        }
    }

    @Tag("MB-09")
    @Test
    void drain_endsWithTheOpenTurn_orAtItsDeadlineWithTheTurnStillOpen() {
        try (var station = station(
                        new ModelScript().on("M1", "[[gate a]] [[say ok]]").on("M3", "[[gate b]] [[say ok]]"))
                .open()) {
            long first = station.send("M1 first");
            station.awaitGate("a");
            station.send("M2 second");
            var drained = station.session().drain(Duration.ofMinutes(1));
            awaitStatus(station.session(), s -> s.phase().equals("DRAINING"));
            assertThat(drained.toCompletableFuture()).isNotDone();
            station.gate("a").open();
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(now(drained).queued()).isEqualTo(1);
            awaitProcesses(station, 0);
            assertThat(station.session().status().lastEnd()).isEqualTo("DRAINED");
            stored(now(station.session().resume()));
            station.reply(2);
            long third = station.send("M3 third");
            station.awaitGate("b");
            var late = now(station.session().drain(Duration.ofMillis(300)));
            assertThat(late.inFlight()).hasValue(3);
            awaitProcesses(station, 0);
            station.gate("b").open();
            station.restart();
            assertThat(station.reply(third).outcome())
                    .as("taken up again, it goes on")
                    .isEqualTo(Outcome.ANSWERED);
        }
    }

    // ---- turn limit -----------------------------------------------------------------------------------------------

    @Tag("MB-15")
    @Tag("TN-11")
    @Test
    void turnLimit_settlesItsMessageAndGoesOnOnce() {
        var script = new ModelScript().on("M1", STEP, "[[say never said]]");
        try (var station = new AgentStation(directory, script, "--max-turns 1").open()) {
            long first = station.send("M1 a long work");
            long second = station.send("M2 waits");
            var limited = station.reply(first);
            assertThat(limited.outcome()).isEqualTo(Outcome.TURN_LIMIT);
            assertThat(station.reply(second).turn())
                    .as("what waited comes first")
                    .isEqualTo(2);
            var went = station.events().await("TurnSettled", "\"turn\":3");
            assertThat(went.body()).contains("\"kind\":\"AFTER_LIMIT\"").contains("\"messages\":[]");
            station.events().await("ContinuationQueued");
            assertThat(station.events().types().stream().filter("ContinuationQueued"::equals))
                    .as("one continuation")
                    .hasSizeLessThanOrEqualTo(1);
            assertThat(station.session().status().consumed())
                    .as("no real progress")
                    .isEqualTo(2);
            assertThat(station.ask("M3 after it").turn()).isEqualTo(4);
        }
    }

    @Tag("MB-15")
    @Test
    void turnLimit_threeTimesInARowWithoutAMessage_parksTheSession() {
        var script = new ModelScript().on("M1", STEP, "[[say no]]");
        try (var station = new AgentStation(directory, script, "--max-turns 1")
                .also("contains [holdfast] You reached: " + STEP)
                .open()) {
            long first = station.send("M1 never ready");
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.TURN_LIMIT);
            var status = awaitStatus(station.session(), s -> s.phase().equals("PARKED"));
            assertThat(status.phaseReason()).contains("3 times in a row").contains("limit of steps");
            assertThat(station.events().types().stream().filter("TurnOpened"::equals))
                    .hasSizeLessThanOrEqualTo(4);
            station.events().await("TurnSettled", "\"turn\":4", "AFTER_LIMIT");
        }
    }

    // ---- requests of the host's own -------------------------------------------------------------------------------

    @Tag("MB-16")
    @Test
    void internal_isAnsweredByThePresentProcess_andIsNoMail() {
        try (var station = station(new ModelScript().on("M1", "[[say hello]]"))
                .also("contains Please sum up: [[say the summary]]")
                .open()) {
            assertThat(now(station.session().internal("Please sum up")))
                    .as("without a process there is nobody")
                    .isEmpty();
            var texts = new CopyOnWriteArrayList<String>();
            var unused = station.session().events(0, new dev.holdfast.EventListener() {
                @Override
                public void onEvent(dev.holdfast.SessionEvent event) {}

                @Override
                public void onText(long turn, String fragment) {
                    texts.add(fragment);
                }
            });
            station.ask("M1 good morning");
            var before = station.session().status();
            assertThat(now(station.session().internal("Please sum up")).orElseThrow())
                    .contains("the summary");
            var after = station.session().status();
            assertThat(after.consumed()).as("never progress").isEqualTo(before.consumed());
            assertThat(after.lastWords()).startsWith("hello");
            assertThat(String.join("", texts))
                    .as("its answer reaches no subscriber as a reply")
                    .contains("hello")
                    .doesNotContain("summary");
            var document = new String(
                    now(station.host().exportSession(station.session().name())), StandardCharsets.UTF_8);
            assertThat(document).as("not in an export").doesNotContain("Please sum up");
            assertThat(station.ask("Please sum up").number())
                    .as("mail with the same words is mail")
                    .isEqualTo(2);
        }
    }

    @Tag("MB-16")
    @Test
    void internal_queued_canBeWithdrawn_andVanishesOnDrainAndWithTheProcess() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[gate a]] [[say one]]")
                        .on("M2", "[[gate b]] [[say two]]")
                        .on("M3", "[[gate c]] [[say three]]"))
                .open()) {
            station.send("M1 first");
            station.awaitGate("a");
            var withdrawn = station.session().internal("never asked: withdrawn");
            withdrawn.cancel(false);
            station.gate("a").open();
            station.reply(1);
            station.send("M2 second");
            station.awaitGate("b");
            var drained = station.session().internal("never asked: drained");
            var done = station.session().drain(Duration.ofMinutes(1));
            assertThat(now(drained)).isEmpty();
            station.gate("b").open();
            now(done);
            stored(now(station.session().resume()));
            long third = station.send("M3 third");
            station.awaitGate("c");
            var orphan = station.session().internal("never asked: its process died");
            assertThat(station.killAgents()).isEqualTo(1);
            assertThat(now(orphan)).isEmpty();
            station.gate("c").open();
            station.reply(third);
            assertThat(station.shown().toString()).doesNotContain("never asked");
        }
    }

    // ---- resets and a cancel behind a queue -----------------------------------------------------------------------

    @Tag("IN-20")
    @Test
    void reset_interruptsAndDropsTheMemory_clearDoesSoInItsPlace_compactSaysItIsNotDone() {
        try (var station =
                station(new ModelScript().on("M2", "[[gate a]] [[say ok]]")).open()) {
            station.ask("M1 remember this");
            long second = station.send("M2 open");
            station.awaitGate("a");
            long third = station.send("M3 before the reset");
            stored(now(station.session().reset()));
            long fourth = station.send("M5 after the reset");
            assertThat(station.reply(second).outcome()).isEqualTo(Outcome.CANCELLED);
            assertThat(station.reply(third).turn()).isEqualTo(3);
            assertThat(station.reply(fourth).turn()).isEqualTo(4);
            assertThat(station.lastShown().userTexts().toString())
                    .contains("M5 after the reset")
                    .doesNotContain("M1 remember this")
                    .doesNotContain("M3 before the reset");
            stored(now(station.session().clear()));
            station.ask("M7 after the clear");
            assertThat(station.lastShown().userTexts().toString())
                    .contains("M7")
                    .doesNotContain("M5 after the reset");
            assertThat(station.events().types().stream().filter("MemoryDropped"::equals))
                    .hasSizeLessThanOrEqualTo(2);
            assertThat(now(station.session().reply(1)).text())
                    .as("our transcript is kept")
                    .isEqualTo("ok");
            stored(now(station.session()
                    .submit(
                            new dev.holdfast.Payload.Compact(),
                            dev.holdfast.Author.host(),
                            java.util.Optional.empty())));
            assertThat(station.events().await("ArrivalDone", "COMPACT").body()).contains("not done");
            assertThat(station.shown().toString())
                    .as("none of them is done by sending text to the agent")
                    .doesNotContain("/clear")
                    .doesNotContain("/compact");
        }
    }

    @Tag("IN-05")
    @Tag("IN-06")
    @Test
    void cancel_behindThousandsOfMessages_interruptsTheOpenTurnAtOnce() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            long first = station.send("M1 open");
            station.awaitGate("a");
            for (int i = 0; i < 9; i++) {
                now(station.session()
                        .sendAll(IntStream.range(0, 1_000)
                                .mapToObj(n -> Message.of("queued"))
                                .toList()));
            }
            long begun = System.nanoTime();
            stored(station.session().interrupt());
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.CANCELLED);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
            station.session().close("enough");
            assertThat(station.reply(9_000).outcome()).isEqualTo(Outcome.CLOSED);
        }
    }

    @Tag("IN-14")
    @Test
    void question_besideAnAgent_isAnsweredAndNeverMail() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say ok]]")).open()) {
            station.send("M1 open");
            station.awaitGate("a");
            var answer = station.session().question("q-1", "Shall it?", Duration.ofMinutes(5));
            station.events().await("QuestionAsked", "q-1");
            long mail = station.send("M2 yes");
            assertThat(answer.toCompletableFuture()).isNotDone();
            stored(now(station.session().answer("q-1", "the real yes")));
            assertThat(now(answer)).contains("the real yes");
            station.gate("a").open();
            assertThat(station.reply(mail).outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(station.shown().toString()).contains("M2 yes").doesNotContain("the real yes");
        }
    }
}
