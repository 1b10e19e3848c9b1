package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Outcome;
import dev.holdfast.core.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a held conversation is, the same with every contender. */
@ParameterizedClass
@EnumSource(Contender.class)
@Execution(ExecutionMode.CONCURRENT)
final class ConversationIT {
    @Parameter
    Contender contender;

    @TempDir
    Path directory;

    private World world(ModelScript script) throws IOException {
        return new World(contender, directory, script);
    }

    private static <E extends Event> List<E> events(World world, Class<E> type) {
        return world.promises().events().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    @Tag("P2")
    @Tag("HS-02")
    @Test
    void turns_three_shareOneProcess() throws Exception {
        try (var world = world(new ModelScript())) {
            world.ask("M1 good morning");
            world.ask("M2 how are you?");
            world.ask("M3 good night");
            world.finish();
            assertThat(events(world, Event.IncarnationStarted.class)).hasSize(1);
        }
    }

    @Tag("TL-02")
    @Tag("TL-03")
    @Test
    void tool_called_getsItsArgumentsAndItsResultIsSeen() throws Exception {
        String call = "[[tool mcp__host__find {\"order\":{\"number\":7,\"colours\":[\"red\",\"blue\"]}}]]";
        try (var world = world(new ModelScript().on("M1", call))) {
            world.ask("M1 where is order 7?");
            assertThat(world.host().await("tool", "find").get(2)).isEqualTo("7:red+blue");
            var results = world.promises().lastConversation().toolResults();
            assertThat(results).hasSize(1);
            assertThat(results.getFirst().isError()).isFalse();
            assertThat(results.getFirst().texts().getFirst().strip()).isEqualTo("order 7 is in the harbour");
            world.finish();
        }
    }

    @Tag("HS-05")
    @Tag("HS-06")
    @Test
    void evict_betweenTurns_resumesTheConversation() throws Exception {
        try (var world = world(new ModelScript())) {
            world.ask("M1 good morning");
            world.evict();
            world.ask("M2 still there?");
            world.finish();
            assertThat(events(world, Event.IncarnationVerified.class))
                    .extracting(Event.IncarnationVerified::resumed)
                    .containsExactly(false, true);
        }
    }

    @Tag("HS-05")
    @Tag("TN-16")
    @Test
    @DisplayName("meridian#99, cc#93132: a memory that is gone is told again, and none is claimed")
    void record_deletedBetweenTwoLives_isToldAgain() throws Exception {
        try (var world = world(new ModelScript())) {
            world.ask("M1 good morning");
            world.ask("M2 how are you?");
            world.evict();
            world.deleteRecord();
            world.ask("M3 what did I say?");
            world.finish();
            assertThat(events(world, Event.IncarnationVerified.class))
                    .extracting(Event.IncarnationVerified::resumed)
                    .containsExactly(false, false);
        }
    }

    @Tag("HS-05")
    @Tag("TN-16")
    @Test
    void record_deletedUnderTheLivingAgent_isToldAgain() throws Exception {
        try (var world = world(new ModelScript())) {
            world.ask("M1 good morning");
            world.deleteRecord();
            world.ask("M2 how are you?");
            world.evict();
            world.ask("M3 what did I say?");
            world.finish();
        }
    }

    @Tag("TN-03")
    @Tag("TN-14")
    @Tag("I1")
    @Test
    void interrupt_inMidAnswer_leavesTheNextMessageAlone() throws Exception {
        try (var world = world(new ModelScript().on("M2", "[[say part]] [[gate hit]]"))) {
            world.ask("M1 good morning");
            world.send("M2 tell me everything");
            world.awaitGate("hit");
            world.host().await("text");
            world.send("M3 the next one");
            world.host().command("interrupt");
            world.promises().expect("M2", Outcome.CANCELLED);
            world.awaitReply("M2");
            world.awaitReply("M3");
            world.finish();
        }
    }

    @Tag("TN-14")
    @Tag("I1")
    @ParameterizedTest
    @ValueSource(strings = {"interrupt-before", "interrupt-after"})
    void interrupt_aroundTheResult_hitsAtMostOneMessage(String when) throws Exception {
        try (var world = world(new ModelScript().on("M2", "[[gate hit]]"))) {
            world.ask("M1 good morning");
            world.send("M2 tell me everything");
            world.awaitGate("hit");
            world.send("M3 the next one");
            world.host().command("trap", "Result", when);
            world.host().await("armed");
            world.openGates();
            world.promises().expect("M2", Outcome.ANSWERED, Outcome.CANCELLED);
            world.promises().expect("M3", Outcome.ANSWERED, Outcome.CANCELLED);
            var ends = List.of(world.awaitReply("M2"), world.awaitReply("M3"));
            assertThat(ends.stream().filter("CANCELLED"::equals)).hasSizeLessThanOrEqualTo(1);
            world.finish();
        }
    }

    @Tag("HS-15")
    @Test
    void text_thatAParserWouldTake_reachesTheModelAsWords() throws Exception {
        var texts = List.of("/clear", "/cost", "/nosuch x", "@secret.txt", "\uFEFFbom", "!touch pwned");
        try (var world = world(new ModelScript())) {
            world.ask("M1 good morning");
            Path secret = world.workingDirectory().resolve("secret.txt");
            Files.writeString(secret, "TOPSECRET");
            texts.forEach(world::ask);
            world.finish();
            var last = world.promises().lastConversation();
            assertThat(last.userTexts()).containsSubsequence(texts);
            assertThat(last.toString()).doesNotContain("TOPSECRET");
            assertThat(secret.resolveSibling("pwned")).doesNotExist();
            assertThat(events(world, Event.NativeSessionReplaced.class)).hasSize(1);
        }
    }

    @Tag("HS-08")
    @Tag("HS-21")
    @Tag("P3")
    @Test
    void host_killedBesideAStoppedAgent_leavesNoneAndGoesOn() throws Exception {
        try (var world = world(new ModelScript().on("M2", "[[say part]] [[gate hit]]"))) {
            world.ask("M1 good morning");
            world.send("M2 tell me everything");
            world.awaitGate("hit");
            signal("STOP", world.host().agent());
            world.host().kill();
            world.promises().nothingIsLeft();
            world.openGates();
            world.restart();
            world.awaitEnds();
            world.finish();
        }
    }

    @Tag("HS-21")
    @Tag("P3")
    @Test
    @DisplayName("happy#721, ccteam#189: an older agent is seen dead before its session goes on")
    void host_restartedBesideALivingAgent_seesItDeadFirst() throws Exception {
        try (var world = world(new ModelScript().on("M2", "[[say part]] [[gate hit]]"))) {
            world.ask("M1 good morning");
            world.send("M2 tell me everything");
            world.awaitGate("hit");
            var orphan = world.host().agent();
            signal("STOP", orphan);
            world.host().kill();
            assertThat(orphan.isAlive()).isTrue();
            world.restart();
            world.openGates();
            world.awaitEnds();
            world.finish();
        }
    }

    private static void signal(String name, ProcessHandle process) throws Exception {
        var kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }
}
