package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.core.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that a rule denies, or that a person is asked about, the same with every contender (TL-03, TL-04, TL-08). */
@ParameterizedClass
@EnumSource(Contender.class)
@Execution(ExecutionMode.CONCURRENT)
final class GuardedCallsIT {
    private static final String FIND = "[[tool mcp__host__find {\"order\":{\"number\":7,\"colours\":[\"red\"]}}]]";
    private static final Pattern QUESTION = Pattern.compile("\"id\":\"(call-[0-9a-f]+-[0-9]+)\"");

    @Parameter
    Contender contender;

    @TempDir
    Path directory;

    private World world(String rules, ModelScript script, String... builtins) throws IOException {
        var file = Files.writeString(directory.resolve("guard.json"), "{\"rules\":[" + rules + "]}");
        var guarded = new ArrayList<>(List.of(file.toString()));
        guarded.addAll(List.of(builtins));
        return new World(contender, directory, script, guarded);
    }

    private static List<Event.CallEnded> rows(World world) {
        return world.promises().events().stream()
                .filter(Event.CallEnded.class::isInstance)
                .map(Event.CallEnded.class::cast)
                .toList();
    }

    private static long ran(World world) {
        return world.host().lines().stream()
                .filter(line -> line.getFirst().equals("tool"))
                .count();
    }

    /** The id of the question about the call. */
    private static String asked(World world, int mark) {
        var event = world.host().awaitFrom(mark, "event", "QuestionAsked").get(3);
        var matcher = QUESTION.matcher(event);
        assertThat(matcher.find()).as(event).isTrue();
        return matcher.group(1);
    }

    private static String lastResult(World world) {
        return String.join(
                "", world.promises().lastConversation().toolResults().getLast().texts());
    }

    @Test
    @Tag("TL-03")
    @Tag("TL-08")
    void call_thatARuleDenies_doesNotRun_andTheModelIsToldWhy() throws Exception {
        var rule = "{\"name\":\"no-find\",\"tool\":\"find\",\"verdict\":\"deny\",\"reason\":\"nobody finds anything\"}";
        try (var world = world(rule, new ModelScript().on("M1", FIND))) {
            world.ask("M1 where is order 7?");
            assertThat(ran(world)).isZero();
            assertThat(lastResult(world)).contains("nobody finds anything");
            assertThat(rows(world)).singleElement().satisfies(row -> {
                assertThat(row.outcome()).isEqualTo(CallOutcome.DENIED);
                assertThat(row.facts().rule()).isEqualTo("no-find");
                assertThat(row.facts().author()).isEqualTo("host");
                assertThat(row.facts().message()).isEqualTo(1);
            });
            world.finish();
        }
    }

    @Test
    @Tag("TL-04")
    void call_thatAPersonApproves_runsOnce() throws Exception {
        var rule = "{\"name\":\"ask-find\",\"tool\":\"find\",\"verdict\":\"ask\",\"question\":\"May it look?\"}";
        try (var world = world(rule, new ModelScript().on("M1", FIND))) {
            world.send("M1 where is order 7?");
            world.host().command("answer", asked(world, 0), "yes");
            world.awaitReply("M1");
            assertThat(ran(world)).isEqualTo(1);
            assertThat(lastResult(world)).contains("order 7 is in the harbour");
            assertThat(rows(world))
                    .singleElement()
                    .satisfies(row -> assertThat(row.facts().ruling()).isEqualTo(CallRuling.APPROVED));
            world.finish();
        }
    }

    @Test
    @Tag("TL-04")
    void call_thatAPersonRefuses_doesNotRun() throws Exception {
        var rule = "{\"name\":\"ask-find\",\"tool\":\"find\",\"verdict\":\"ask\"}";
        try (var world = world(rule, new ModelScript().on("M1", FIND))) {
            world.send("M1 where is order 7?");
            world.host().command("answer", asked(world, 0), "no");
            world.awaitReply("M1");
            assertThat(ran(world)).isZero();
            assertThat(lastResult(world)).contains("refused");
            assertThat(rows(world))
                    .singleElement()
                    .satisfies(row -> assertThat(row.facts().ruling()).isEqualTo(CallRuling.REFUSED));
            world.finish();
        }
    }

    @Test
    @Tag("TL-04")
    @Tag("TL-07")
    void question_answeredAfterTheHostWasKilled_letsTheSameCallRunOnce() throws Exception {
        var rule = "{\"name\":\"ask-find\",\"tool\":\"find\",\"verdict\":\"ask\"}";
        var script = new ModelScript().on("M1", FIND).onPart("was approved in the meantime", FIND);
        try (var world = world(rule, script)) {
            world.send("M1 where is order 7?");
            var question = asked(world, 0);
            world.restart();
            world.host().command("answer", question, "yes");
            world.awaitEnds();

            var events = world.promises().events();
            assertThat(events.stream().filter(Event.QuestionAsked.class::isInstance))
                    .as("one question for one call")
                    .hasSize(1);
            assertThat(ran(world)).isEqualTo(1);
            assertThat(rows(world)).singleElement().satisfies(row -> {
                assertThat(row.facts().ruling()).isEqualTo(CallRuling.APPROVED);
                assertThat(row.outcome()).isEqualTo(CallOutcome.OK);
            });
            assertThat(events.toString()).doesNotContain("may have happened");
            world.finish();
        }
    }

    @Test
    @Tag("TL-03")
    @Tag("TL-08")
    void toolOfTheAgentsOwn_isGuardedAndAudited() throws Exception {
        var rule =
                "{\"name\":\"no-rm\",\"tool\":\"Bash\",\"input\":{\"field\":\"command\",\"matches\":\"\\\\brm\\\\b\"},"
                        + "\"verdict\":\"deny\",\"reason\":\"nothing is removed here\"}";
        var kept = Files.writeString(directory.resolve("kept"), "kept");
        var made = directory.resolve("made");
        var script = new ModelScript()
                .on("M1", "[[tool Bash {\"command\":\"rm " + kept + "\"}]]")
                .on("M2", "[[tool Bash {\"command\":\"touch " + made + "\"}]]");
        try (var world = world(rule, script, "Bash")) {
            world.ask("M1 clean up");
            assertThat(kept).exists();
            assertThat(lastResult(world)).contains("nothing is removed here");
            world.ask("M2 make it");
            assertThat(made).exists();
            world.ask("M3 fine");
            assertThat(rows(world)).hasSize(2);
            assertThat(rows(world)).allSatisfy(row -> {
                assertThat(row.builtIn()).isTrue();
                assertThat(row.tool()).isEqualTo("Bash");
            });
            assertThat(rows(world))
                    .extracting(Event.CallEnded::outcome)
                    .containsExactly(CallOutcome.DENIED, CallOutcome.OK);
            assertThat(rows(world).getFirst().facts().rule()).isEqualTo("no-rm");
            world.finish();
        }
    }

    @Test
    @Tag("TL-04")
    void toolOfTheAgentsOwn_thatAPersonApproves_isRunByTheAgent() throws Exception {
        var rule = "{\"name\":\"ask-bash\",\"tool\":\"Bash\",\"verdict\":\"ask\"}";
        var made = directory.resolve("made");
        var script = new ModelScript().on("M1", "[[tool Bash {\"command\":\"touch " + made + "\"}]]");
        try (var world = world(rule, script, "Bash")) {
            world.send("M1 make it");
            var question = asked(world, 0);
            assertThat(made).doesNotExist();
            world.host().command("answer", question, "yes");
            world.awaitReply("M1");
            assertThat(made).exists();
            assertThat(rows(world)).singleElement().satisfies(row -> {
                assertThat(row.facts().ruling()).isEqualTo(CallRuling.APPROVED);
                assertThat(row.outcome()).isEqualTo(CallOutcome.OK);
            });
            world.finish();
        }
    }
}
