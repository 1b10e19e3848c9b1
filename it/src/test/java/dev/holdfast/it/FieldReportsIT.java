package dev.holdfast.it;

import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Reply;
import dev.holdfast.SessionEvent;
import dev.holdfast.SessionStatus;
import dev.holdfast.claude.Deadlines;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.AgentQuirk;
import dev.holdfast.testkit.Conversation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What users of other such software have reported, tried on a whole session with the scripted agent. The references are in
 * the display names; docs/track-record.md has the table of all of them.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
final class FieldReportsIT {
    private static final Duration SHORT = Duration.ofSeconds(3);
    private static final Limits QUICK = new Limits(
            Duration.ofMinutes(10),
            SHORT,
            Duration.ofMinutes(5),
            List.of(Duration.ofMillis(50), Duration.ofMillis(50)),
            3,
            10,
            3,
            Duration.ofDays(30),
            64);
    private static final Deadlines IMPATIENT =
            Deadlines.standard().firstOutput(SHORT).silence(SHORT).interrupt(SHORT);

    @TempDir
    Path directory;

    private AgentStation station(ModelScript script) {
        return new AgentStation(directory, script).limits(QUICK);
    }

    private static String step(String text) {
        return "[[tool mcp__host__step {\"text\":\"" + text + "\"}]]";
    }

    /** @param said what the script says before the {@code ok} that ends every answer of its */
    private static void answered(Reply reply, String said) {
        assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.ANSWERED);
        assertThat(reply.text()).isEqualTo(said + "ok");
    }

    /** A message that the agent had taken down before it died is gone on with, any other is told again. */
    private static void answeredAfterADeath(Reply reply, String said) {
        assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.ANSWERED);
        assertThat(reply.text()).isIn(said + "ok", "ok");
    }

    private static SessionStatus parked(AgentStation station) {
        return awaitStatus(station.session(), status -> status.phase().equals("PARKED"));
    }

    // ---- input and tools ------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-03")
    @Tag("TL-02")
    @DisplayName("ts#15, ts#41, ts#348: tools called late, after everything was sent, are answered")
    void tool_calledLongAfterTheLastMessageWasSent_isAnswered() {
        var script = new ModelScript()
                .on("M1", "[[gate a]] " + step("one"), "[[say first]]")
                .on("M2", "[[gate b]] " + step("two"), "[[say second]]");
        try (var station = station(script).open()) {
            long first = station.send("M1 begin");
            long second = station.send("M2 go on");
            station.awaitGate("a");
            station.gate("a").open();
            station.awaitGate("b");
            station.gate("b").open();
            answered(station.reply(first), "first");
            answered(station.reply(second), "second");
            assertThat(station.lastShown().toString()).contains("did one").contains("did two");
        }
    }

    @Test
    @Tag("TL-09")
    @DisplayName("ts#122, autoforge#216: sessions that call the same tool at once get each its own answer")
    void tool_calledByThreeSessionsAtOnce_answersEach() {
        var script = new ModelScript();
        var names = List.of("a", "b", "c");
        names.forEach(
                name -> script.on(name + "-M", "[[tool mcp__host__hold {\"text\":\"" + name + "\"}]]", "[[say done]]"));
        try (var station = station(script).open()) {
            var sessions = names.stream().map(station::session).toList();
            var events = sessions.stream().map(Station::events).toList();
            sessions.forEach(
                    session -> stored(session.send(Message.of(session.name().value() + "-M call it"))));
            events.forEach(each -> each.await("CallStarted", "hold"));
            station.release();
            sessions.forEach(session -> answered(Station.now(session.reply(1)), "done"));
            for (String name : names) {
                assertThat(station.shown().stream().map(Conversation::toString))
                        .filteredOn(shown -> shown.contains("held " + name))
                        .isNotEmpty()
                        .allSatisfy(
                                shown -> assertThat(shown).contains(name + "-M").containsOnlyOnce("held "));
            }
        }
    }

    // ---- what the agent writes ------------------------------------------------------------------------------------

    @Test
    @Tag("HS-10")
    @Tag("HS-11")
    @DisplayName("py#98, py#347, DFIR-Companion#515: odd, long and split output harms no turn")
    void output_longOddAndSplit_leavesTheAnswerAsItIs() {
        var odd = "[[line 3000000]] [[flood stdout 2000000]] [[flood stderr 2000000]] [[garbage]] [[bad-utf8]]"
                + " [[unknown-frame]] [[trickle 漢字😀]] ";
        try (var station = station(
                        new ModelScript().on("M1", odd + "[[say fine 漢字]]").on("M2", odd + "[[say still fine]]"))
                .open()) {
            answered(station.ask("M1 be odd"), "fine 漢字");
            answered(station.ask("M2 again"), "still fine");
            assertThat(station.events().await("Noticed", "unknown_type", "漢字😀").body())
                    .as("decoded across single bytes")
                    .contains("trickle");
        }
    }

    // ---- silence, hangs, deaths -----------------------------------------------------------------------------------

    @Test
    @Tag("TN-03")
    @Tag("TN-04")
    @DisplayName("cc#25629, cc#39700: a result settles its turn although the agent never rests or exits")
    void agent_hangingAfterItsResult_hasAnswered_andIsReplacedWhenItTakesNothingMore() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[result-then-hang]] [[say one]]")
                        .on("M3", "[[say three]]"))
                .deadlines(IMPATIENT)
                .open()) {
            answered(station.ask("M1 hang"), "one");
            var unheard = station.ask("M2 into the void");
            assertThat(unheard.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(unheard.detail()).isEqualTo("deadline passed: first_output");
            answered(station.ask("M3 and now"), "three");
        }
    }

    @Test
    @Tag("TN-04")
    @DisplayName("untether#569: silence behind a tool result breaks its deadline, and the next message runs")
    void agent_fallingSilentAfterAToolResult_failsItsTurnByName() {
        try (var station = station(new ModelScript().on("M1", step("one"), "[[hang]]"))
                .deadlines(IMPATIENT)
                .open()) {
            var reply = station.ask("M1 work");
            assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(reply.detail()).contains("silence");
            answered(station.ask("M2 and now"), "");
        }
    }

    @Test
    @Tag("TN-03")
    @Tag("TN-04")
    @DisplayName("cc#1920, cc#17248: a turn without a result ends when the agent rests, and says that it had none")
    void agent_restingWithoutAResult_endsTheTurn() {
        try (var station = station(new ModelScript().on("M1", "[[no-result]] [[say lost]]"))
                .open()) { // long before any deadline
            var reply = station.ask("M1 work");
            assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.FAILED);
            assertThat(reply.detail()).startsWith("no result");
            answered(station.ask("M2 and now"), "");
            assertThat(station.agents()).as("the process is well").isEqualTo(1);
        }
    }

    @Test
    @Tag("TN-03")
    @DisplayName("cc#1920: work in the background ends with a result and a rest of its own, which end no turn of ours")
    void agent_workingInTheBackground_losesNoTurn() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[background]] [[say first]]")
                        .on("M2", "[[agent-turn]] [[say second]]")
                        .on("M3", "[[say third]]"))
                .open()) {
            for (String each : List.of("M1 work", "M2 work", "M3 work")) {
                var reply = station.ask(each);
                assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.ANSWERED);
            }
        }
    }

    @Test
    @Tag("HS-14")
    @Tag("HS-05")
    @DisplayName("cc#78546, cc#22525, cc#25855, cc#18859, cc#56323, cc#88524: a process that has grown is replaced")
    void agent_grownTooBig_isReplacedBetweenTurnsAndRemembers() {
        try (var station = station(new ModelScript().on("M1", "[[say one]]").on("M2", "[[say two]]"))
                .limits(QUICK.withRecycling(Duration.ofHours(1), 1, 100))
                .open()) {
            answered(station.ask("M1 work"), "one");
            station.events().await("Noticed", "recycled", "bytes of memory");
            station.events().await("IncarnationEnded", "RECYCLED");
            answered(station.ask("M2 work"), "two");
            assertThat(station.lastShown().toString()).contains("M1 work");
            station.events().await("IncarnationVerified", "\"incarnation\":2", "\"resumed\":true");
        }
    }

    @Test
    @Tag("HS-14")
    @DisplayName("cc#88524: a process that was used enough is replaced, also while messages wait")
    void agent_usedUp_isReplacedWithMessagesWaiting() {
        try (var station = station(new ModelScript().on("M1", "[[gate a]] [[say one]]"))
                .limits(QUICK.withRecycling(Duration.ofHours(1), 1L << 40, 2))
                .open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            long second = station.send("M2 work");
            long third = station.send("M3 work");
            long fourth = station.send("M4 work");
            long fifth = station.send("M5 work");
            station.gate("a").open();
            answered(station.reply(first), "one");
            for (long each : new long[] {second, third, fourth, fifth}) {
                answered(station.reply(each), "");
            }
            station.events().await("Noticed", "recycled", "2 turns");
            station.events().await("IncarnationVerified", "\"incarnation\":3", "\"resumed\":true");
        }
    }

    @Test
    @Tag("TN-04")
    @Tag("HS-07")
    @DisplayName("cc#77783, cc#47872: an agent that is deaf to everything is killed, and the next message runs")
    void agent_deafToInterruptEndOfInputAndTerm_isKilledAndTheNextMessageRuns() {
        var deaf = "[[ignore-interrupt]] [[ignore-eof]] [[ignore-term]] [[hang]]";
        try (var station =
                station(new ModelScript().on("M1", deaf)).deadlines(IMPATIENT).open()) {
            var reply = station.ask("M1 work");
            assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.FAILED);
            assertThat(reply.detail()).contains("deadline");
            answered(station.ask("M2 and now"), "");
            station.events().await("Noticed", "stop_KILLED");
            assertThat(station.agents()).isEqualTo(1);
        }
    }

    @Test
    @Tag("HS-13")
    @DisplayName("claude-agent-acp#630: an exit 0 in mid-turn is a crash, and the turn goes on")
    void agent_exiting0InMidTurn_isACrashAndTheTurnIsAnswered() {
        try (var station = station(new ModelScript().on("M1", "[[once k no-result-exit 0]] [[say one]]"))
                .open()) {
            answeredAfterADeath(station.ask("M1 work"), "one");
            assertThat(station.lastShown().count("M1 work")).isEqualTo(1);
        }
    }

    @Test
    @Tag("P2")
    @DisplayName("MyAgentive#78: the death of the agent in mid-turn frees the session")
    void agent_killedInMidTurn_isReplacedAndEverythingIsAnswered() {
        try (var station =
                station(new ModelScript().on("M1", "[[gate a]] [[say one]]")).open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            long second = station.send("M2 next");
            assertThat(station.killAgents()).isEqualTo(1);
            station.gate("a").open();
            answeredAfterADeath(station.reply(first), "one");
            answered(station.reply(second), "");
            assertThat(station.lastShown().holdsOnceInOrder("M1 work", "M2 next"))
                    .isTrue();
        }
    }

    @Test
    @Tag("P2")
    @Tag("HS-06")
    @DisplayName("cc#12730, cc#7004, ts#152, py#625: an agent killed before it wrote anything down starts afresh")
    void agent_dyingBeforeItsFirstWord_leavesTheMessageOnce() {
        for (String point : List.of("init", "before-landing", "landing")) {
            var place = directory.resolve(point);
            place.toFile().mkdir();
            var script = new ModelScript().on("M1", "[[once k crash at " + point + "]] [[say one]]");
            try (var station = new AgentStation(place, script).limits(QUICK).open()) {
                answeredAfterADeath(station.ask("M1 work"), "one");
                assertThat(station.lastShown().count("M1 work")).as(point).isEqualTo(1);
                answered(station.ask("M2 next"), "");
            }
        }
    }

    // ---- the start ------------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-04")
    @Tag("HS-08")
    @DisplayName("happier#316, codex#37047, cc#7497, multica#592: a start that never ends is ended, with its stage")
    void start_neverAnswered_parksNamingTheStageAndLeavesNoProcess() {
        try (var station = station(new ModelScript())
                .also("initialize: [[ignore]]")
                .deadlines(Deadlines.standard().start(SHORT))
                .open()) {
            long first = station.send("M1 hello");
            var status = parked(station);
            assertThat(status.phaseReason()).contains("greeting");
            assertThat(status.queued() + status.inFlight())
                    .as("nothing is lost")
                    .isEqualTo(1);
            assertThat(station.session().reply(first).toCompletableFuture()).isNotDone();
            Awaitility.await().until(() -> station.agents() == 0);
        }
    }

    @Test
    @Tag("HS-08")
    @DisplayName("dray#54: a start that the agent refuses leaves no process")
    void start_refusedByTheAgent_leavesNoProcessAndSaysWhy() {
        try (var station = station(new ModelScript())
                .also("initialize: [[refuse out of order]]")
                .open()) {
            station.send("M1 hello");
            assertThat(parked(station).phaseReason()).contains("out of order");
            Awaitility.await().until(() -> station.agents() == 0);
        }
    }

    @Test
    @Tag("HS-11")
    @DisplayName(
            "claude-code-telegram#94, feishu-claude-code#15, aimee#503: what the agent said on stderr is in the reason")
    void start_failingWithWordsOnStderr_tellsThem() {
        try (var station = station(new ModelScript())
                .also("start: [[stderr the disk is full]] [[exit 1]]")
                .open()) {
            station.send("M1 hello");
            parked(station);
            var events = station.events();
            Awaitility.await()
                    .until(() -> events.all().stream()
                            .map(SessionEvent::body)
                            .anyMatch(body -> body.contains("the disk is full")));
        }
    }

    // ---- interrupts -----------------------------------------------------------------------------------------------

    @Test
    @Tag("TN-04")
    @Tag("TN-14")
    @DisplayName(
            "ts#425, agent-of-empires#1196: an interrupt that is ignored ends the process, and no message is dropped")
    void interrupt_ignored_cancelsItsTurnAndDropsNothing() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[ignore-interrupt]] [[gate a]] [[say never]]")
                        .on("M2", "[[say two]]")
                        .on("M3", "[[say three]]"))
                .deadlines(IMPATIENT.firstOutput(Duration.ofMinutes(1)).silence(Duration.ofMinutes(1)))
                .open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            long second = station.send("M2 next");
            long third = station.send("M3 then");
            stored(station.session().interrupt());
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.CANCELLED);
            answered(station.reply(second), "two");
            answered(station.reply(third), "three");
        }
    }

    @Test
    @Tag("TN-02")
    @Tag("TN-03")
    @DisplayName(
            "ts#405, ts#366, t3code#8997, paseo#3091, cc#20648: a cancelled turn is no error, and its late result no answer")
    void interrupt_withTheResultLate_isCancelledAndSettlesNoSuccessor() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[late-result 400]] [[gate a]] [[say one]]")
                        .on("M2", "[[say two]]"))
                .open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            stored(station.session().interrupt());
            long second = station.send("M2 next");
            var reply = station.reply(first);
            assertThat(reply.outcome()).isEqualTo(Outcome.CANCELLED);
            assertThat(reply.text()).doesNotContain("two");
            answered(station.reply(second), "two");
            assertThat(station.reply(second).turn()).isNotEqualTo(reply.turn());
        }
    }

    @Test
    @Tag("IN-06")
    @DisplayName("ts#279: a stop while nothing runs does nothing, and nothing later")
    void interrupt_whileIdle_harmsNothingLater() {
        try (var station = station(new ModelScript()).open()) {
            stored(station.session().interrupt());
            answered(station.ask("M1 hello"), "");
            stored(station.session().interrupt());
            stored(station.session().interrupt());
            answered(station.ask("M2 hello"), "");
        }
    }

    @Test
    @Tag("TN-05")
    @DisplayName("PortOS#5972: a stop that comes before the turn has begun is not lost")
    void interrupt_duringTheStart_cancelsTheMessageBeforeItsTurn() {
        try (var station = station(new ModelScript().on("M1", "[[gate a]] [[say one]]"))
                .also("start: [[sleep 700]]")
                .open()) {
            long first = station.send("M1 work");
            station.events().await("TurnOpened");
            stored(station.session().interrupt());
            assertThat(station.reply(first).outcome()).isEqualTo(Outcome.CANCELLED);
            answered(station.ask("M2 next"), "");
        }
    }

    // ---- queue and identity ---------------------------------------------------------------------------------------

    @Test
    @Tag("TN-03")
    @Tag("TN-13")
    @DisplayName(
            "ts#143, ts#423, ts#67, vide_cli#36, crewly#295, fx#993: messages keep their identity and their record")
    void messages_sentDuringATurn_areEachTakenOnceAndStayOnRecord() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[gate a]] [[say one]]")
                        .on("M2", "[[say two]]")
                        .on("M3", "[[say three]]"))
                .open()) {
            long first = station.send("M1 work");
            station.awaitGate("a");
            long second = station.send("M2 next");
            long third = station.send("M3 then");
            assertThat(station.session().status().queued()).isEqualTo(2);
            assertThat(station.shown().toString())
                    .as("the agent is told nothing while a turn is open")
                    .doesNotContain("M2");
            station.gate("a").open();
            answered(station.reply(first), "one");
            answered(station.reply(second), "two");
            answered(station.reply(third), "three");
            assertThat(IntStream.rangeClosed(1, 3)
                            .mapToObj(n -> station.reply(n).turn())
                            .distinct())
                    .hasSize(3);
            var bodies = station.events().all();
            station.restart();
            var later = station.events();
            Awaitility.await().until(() -> later.all().size() >= bodies.size());
            assertThat(later.all().subList(0, bodies.size())).isEqualTo(bodies);
            answered(station.reply(second), "two");
        }
    }

    @Test
    @Tag("TN-03")
    @Tag("TN-15")
    @DisplayName("omnigent#3472, band-sdk-python#655: a result that nobody asked for shifts no answer")
    void result_ofATurnTheAgentStarted_shiftsNoAnswer() {
        try (var station = station(new ModelScript()
                        .on("M1", "[[agent-turn]] [[say one]]")
                        .on("M2", "[[agent-turn]] [[say two]]")
                        .on("M3", "[[say three]]"))
                .builtins("Bash")
                .open()) {
            long first = station.send("M1 a");
            long second = station.send("M2 b");
            long third = station.send("M3 c");
            answered(station.reply(first), "one");
            answered(station.reply(second), "two");
            answered(station.reply(third), "three");
        }
    }

    @Test
    @Tag("P3")
    @DisplayName("happy#721, openclaw#812, happy-cli#164: a second host of the same sessions is refused")
    void host_second_isRefusedAndTheFirstGoesOn() {
        try (var station = station(new ModelScript()).open()) {
            answered(station.ask("M1 hello"), "");
            assertThatThrownBy(() -> Holdfast.open(SqliteJournal.at(directory.resolve("data")))
                            .close())
                    .isInstanceOf(HoldfastException.class);
            answered(station.ask("M2 still here"), "");
            assertThat(station.agents()).isEqualTo(1);
        }
    }

    // ---- resume ---------------------------------------------------------------------------------------------------

    private static AgentStation evictedAtOnce(Path directory, AgentProfile profile) {
        return new AgentStation(directory, new ModelScript(), "", profile)
                .limits(QUICK.withIdle(Duration.ofMillis(1)))
                .open();
    }

    private static void askAndAwaitEviction(AgentStation station, String text) {
        answered(station.ask(text), "");
        Awaitility.await().atMost(Station.PATIENCE).until(() -> station.host().processes() == 0);
    }

    @Test
    @Tag("HS-05")
    @Tag("HS-07")
    @DisplayName("cc#31613, py#584, animaworks#39: an agent that writes its record late is given the time")
    void agent_flushingItsRecordLongAfterTheEnd_isResumedWithAllOfIt() {
        var profile = AgentProfile.v197().recordDelay(Duration.ofSeconds(2));
        try (var station = evictedAtOnce(directory, profile)) {
            askAndAwaitEviction(station, "M1 remember");
            answered(station.ask("M2 what was it?"), "");
            assertThat(station.lastShown().holdsOnceInOrder("M1 remember", "M2 what was it?"))
                    .isTrue();
            assertThat(station.events()
                            .await("IncarnationVerified", "\"incarnation\":2")
                            .body())
                    .contains("\"resumed\":true");
        }
    }

    @Test
    @Tag("HS-05")
    @DisplayName("py#107: an agent that goes on under another id at each resume keeps its memory")
    void agent_withANewIdAtEachResume_keepsItsMemory() {
        var profile = AgentProfile.v197().with(AgentQuirk.NEW_ID_ON_RESUME);
        try (var station = evictedAtOnce(directory, profile)) {
            askAndAwaitEviction(station, "M1 one");
            askAndAwaitEviction(station, "M2 two");
            answered(station.ask("M3 three"), "");
            assertThat(station.lastShown().holdsOnceInOrder("M1 one", "M2 two", "M3 three"))
                    .isTrue();
        }
    }

    private static long count(Station.Events events, String type) {
        return events.types().stream().filter(type::equals).count();
    }

    @Test
    @Tag("HS-02")
    @DisplayName("cc#16005, ts#32, ts#34, py#62, claude-agent-acp#567: a hundred turns take one start")
    void turns_aHundred_takeOneStart() {
        try (var station = station(new ModelScript()).open()) {
            for (int i = 0; i < 100; i++) {
                answered(station.ask("M" + i), "");
            }
            var events = station.events();
            Awaitility.await().until(() -> count(events, "TurnSettled") == 100);
            assertThat(count(events, "IncarnationVerified")).isEqualTo(1);
        }
    }
}
