package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AuditRow;
import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.Guard;
import dev.holdfast.OpenQuestion;
import dev.holdfast.Outcome;
import dev.holdfast.Verdict;
import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.GuardRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The door before tools, with the scripted agent on a whole session (TL-03, TL-04, TL-08). */
@Execution(ExecutionMode.CONCURRENT)
final class CallDoorIT {
    private static final GuardPolicy ASKS = GuardPolicy.of(
            GuardRule.of("person", GuardRule.Decision.ASK).tool("step").text("May it?"));
    private static final String CANARY = "canary-5f1c0e\"7";

    @TempDir
    Path directory;

    private AgentStation station(ModelScript script) {
        return new AgentStation(directory, script);
    }

    private static String step(String text) {
        return "[[tool mcp__host__step {\"text\":\"" + text + "\"}]]";
    }

    private static List<AuditRow> audit(AgentStation station) {
        return Station.now(station.session().audit(0, 1_000));
    }

    private static AuditRow onlyRow(AgentStation station) {
        assertThat(audit(station)).hasSize(1);
        return audit(station).getFirst();
    }

    private static OpenQuestion question(AgentStation station) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> !Station.now(station.session().questions()).isEmpty());
        return Station.now(station.session().questions()).getFirst();
    }

    @Test
    @Tag("TL-03")
    void guard_thatThrows_denies_andTellsNobodyWhy() {
        Guard broken = call -> {
            throw new IllegalStateException("secret of the guard");
        };
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(broken))
                .open()) {
            assertThat(station.ask("M1 go").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(onlyRow(station).ruling()).isEqualTo(CallRuling.DENIED);
            assertThat(station.lastShown().toString())
                    .doesNotContain("did one")
                    .doesNotContain("secret of the guard")
                    .contains("the guard of this host failed");
        }
    }

    @Test
    @Tag("TL-03")
    void guard_thatIsLate_denies_andItsThreadIsInterrupted() {
        var interrupted = new CountDownLatch(1);
        Guard slow = call -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
            return Verdict.allow("late");
        };
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(slow).guardTime(Duration.ofMillis(200)))
                .open()) {
            station.ask("M1 go");
            assertThat(onlyRow(station).outcome()).isEqualTo(CallOutcome.DENIED);
            Awaitility.await().until(() -> interrupted.getCount() == 0);
        }
    }

    @Test
    @Tag("TL-04")
    void question_nobodyAnswers_isGivenUp_andTheCallDenied() {
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(ASKS).askTime(Duration.ofMillis(500)))
                .open()) {
            assertThat(station.ask("M1 go").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(onlyRow(station)).satisfies(row -> {
                assertThat(row.ruling()).isEqualTo(CallRuling.LAPSED);
                assertThat(row.rule()).isEqualTo("person");
                assertThat(row.author()).isEqualTo("host");
                assertThat(row.message()).isEqualTo(1);
                assertThat(row.took()).isEmpty();
            });
            assertThat(station.lastShown().toString()).contains("nobody answered");
        }
    }

    @Test
    @Tag("TL-04")
    void question_isToldToWhoeverListens_once_andTheAnswerLetsTheCallRun() {
        var heard = new CopyOnWriteArrayList<OpenQuestion>();
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(ASKS))
                .open()) {
            var listening = station.session().onQuestion(heard::add);
            long number = station.send("M1 go");
            var question = question(station);
            Station.now(station.session().answer(question.id(), "yes"));
            station.reply(number);
            listening.close();
            assertThat(heard).extracting(OpenQuestion::id).containsExactly(question.id());
            assertThat(question.tool()).contains("step");
            assertThat(question.text()).contains("May it?").contains("\"text\":\"one\"");
            assertThat(onlyRow(station).ruling()).isEqualTo(CallRuling.APPROVED);
            assertThat(onlyRow(station).took()).isPresent();
            assertThat(station.lastShown().toString()).contains("did one");
        }
    }

    @Test
    @Tag("TL-04")
    void answer_ofAnotherSession_orToAQuestionThatIsNotThere_changesNothing() {
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(ASKS))
                .open()) {
            long number = station.send("M1 go");
            var question = question(station);
            var other = station.session("other");
            Station.now(other.answer(question.id(), "yes"));
            Station.now(station.session().answer("call-00000000000000000000000000000000-1", "yes"));
            assertThat(Station.now(station.session().questions()))
                    .extracting(OpenQuestion::id)
                    .containsExactly(question.id());
            Station.now(station.session().answer(question.id(), "no"));
            station.reply(number);
            assertThat(onlyRow(station).ruling()).isEqualTo(CallRuling.REFUSED);
            assertThat(Station.now(other.audit(0, 10))).isEmpty();
        }
    }

    @Test
    @Tag("TL-04")
    void question_ofATurnThatIsCancelled_isWithdrawn() {
        try (var station = station(new ModelScript().on("M1", step("one")))
                .door(d -> d.guard(ASKS))
                .open()) {
            long number = station.send("M1 go");
            question(station);
            station.session().interrupt();
            assertThat(station.reply(number).outcome()).isEqualTo(Outcome.CANCELLED);
            assertThat(Station.now(station.session().questions())).isEmpty();
            assertThat(onlyRow(station).outcome()).isEqualTo(CallOutcome.ABANDONED);
        }
    }

    @Test
    @Tag("TL-04")
    void toolSwitch_stopsEveryCall_atOnce_andItIsAudited() {
        try (var station = station(new ModelScript().on("M1", step("one")).on("M2", step("two")))
                .open()) {
            station.host().tools().stop("somebody broke in");
            station.ask("M1 go");
            assertThat(onlyRow(station)).satisfies(row -> {
                assertThat(row.outcome()).isEqualTo(CallOutcome.DENIED);
                assertThat(row.ruling()).isEqualTo(CallRuling.STOPPED);
            });
            assertThat(station.lastShown().toString()).contains("somebody broke in");
            station.host().tools().go();
            station.ask("M2 go");
            assertThat(audit(station)).hasSize(2);
            assertThat(audit(station).getLast().outcome()).isEqualTo(CallOutcome.OK);
        }
    }

    @Test
    @Tag("TL-04")
    void toolSwitch_isReadAtTheDispatch_alsoAfterAVerdict() {
        var judged = new AtomicInteger();
        try (var station = station(new ModelScript().on("M1", step("one")))) {
            station.door(d -> d.guard(call -> {
                        judged.incrementAndGet();
                        station.host().tools().stop("between verdict and dispatch");
                        return Verdict.allow("yes");
                    }))
                    .open();
            station.ask("M1 go");
            assertThat(judged).hasValue(1);
            assertThat(onlyRow(station).ruling()).isEqualTo(CallRuling.STOPPED);
            assertThat(station.lastShown().toString()).doesNotContain("did one");
        }
    }

    @Test
    @Tag("TL-03")
    @Tag("TL-08")
    void agent_thatFloods_andNamesToolsThatAreNotThere_getsOneAnswerAndOneRowEach() {
        var calls = new ArrayList<String>();
        for (int i = 0; i < 60; i++) {
            calls.add(step("n" + i));
        }
        calls.add("[[tool mcp__host__nothing {}]]");
        calls.add("[[tool Bash {\"command\":\"touch " + directory.resolve("made") + "\"}]]");
        var policy = GuardPolicy.of(GuardRule.of("odd", GuardRule.Decision.DENY).input("text", "[13579]$"));
        try (var station = station(new ModelScript().on("M1", calls.toArray(String[]::new)))
                .door(d -> d.guard(policy))
                .open()) {
            assertThat(station.ask("M1 go").outcome()).isEqualTo(Outcome.ANSWERED);
            var rows = audit(station);
            assertThat(rows).extracting(AuditRow::callId).doesNotHaveDuplicates();
            assertThat(rows).hasSize(60);
            assertThat(rows.stream().filter(r -> r.outcome() == CallOutcome.DENIED))
                    .hasSize(30);
            assertThat(directory.resolve("made")).doesNotExist();
            var shown = station.lastShown().toString();
            assertThat(shown).contains("did n58").doesNotContain("did n59");
        }
    }

    @Test
    @Tag("TL-08")
    void secret_givenToATool_isInNoRecordAndNoLog() throws Exception {
        var call = "[[tool mcp__host__login {\"password\":\"canary-field-77\",\"note\":\"x\"}]]";
        try (var station = station(new ModelScript().on("M1", call))
                .door(d -> d.secrets(CANARY).guard(GuardPolicy.of(GuardRule.of("person", GuardRule.Decision.ASK))))
                .open()) {
            station.registered(CANARY);
            long number = station.send("M1 go");
            var question = question(station);
            assertThat(question.text()).doesNotContain("canary-field-77");
            Station.now(station.session().answer(question.id(), "yes"));
            station.reply(number);
            assertThat(audit(station)).isNotEmpty();
            assertThat(audit(station).toString()).doesNotContain("canary");
        }
        assertThat(everything()).doesNotContain("canary-field-77").doesNotContain("canary-5f1c0e");
    }

    /** What lies in the data directory, but for what the agent writes itself. */
    private String everything() throws IOException {
        var all = new StringBuilder();
        try (var files = Files.walk(directory.resolve("data"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.toString().contains("/agents/")) {
                    all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
                }
            }
        }
        return all.toString();
    }
}
