package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** More agents at once than the virtual threads' scheduler has carriers (256), in one JVM. */
@Isolated
final class ManyAgentsIT {
    private static final int AGENTS = 310;
    private static final int WAVE = 10;

    @TempDir
    Path directory;

    /** What the system holds for this JVM. */
    private record Held(int threads, long children, long descriptors) {
        static Held now() throws IOException {
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
                return new Held(
                        threadNames().size(),
                        ProcessHandle.current().descendants().count(),
                        descriptors.count());
            }
        }
    }

    /** Without those that come and go by rules of the JDK's own, or because somebody waits here. */
    private static List<String> threadNames() {
        var passing = List.of("process reaper", "ForkJoinPool", "VirtualThread-unblocker", "awaitility");
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> passing.stream().noneMatch(name::startsWith))
                .sorted()
                .toList();
    }

    @Tag("L2")
    @Tag("R1")
    @Tag("HS-16")
    @Test
    void agents_moreThanThreeHundred_answerAndLeaveNothing() throws Exception {
        hold(1); // what the JVM and its libraries keep for good is there from now on
        Awaitility.await("nothing of an earlier test")
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(Offspring.living()).isEmpty());
        Awaitility.await().pollDelay(Duration.ofSeconds(7)).until(() -> true);
        var before = Held.now();
        hold(AGENTS);
        Awaitility.await("back to " + before).atMost(Duration.ofSeconds(40)).untilAsserted(() -> {
            var after = Held.now();
            assertThat(after.children()).isLessThanOrEqualTo(before.children());
            assertThat(after.threads()).as(() -> threadNames().toString()).isLessThanOrEqualTo(before.threads());
            assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors());
        });
    }

    private void hold(int agents) throws Exception {
        Path program = ScriptedAgent.worst().writeExecutable(directory.resolve("agent" + agents));
        var agent = ClaudeCode.agent().binary(program).inference("http://127.0.0.1:9", "sk-fake");
        var options = Options.standard().processes(400).limits(Limits.standard().withIdle(Duration.ofHours(1)));
        try (var holdfast = Holdfast.open(SqliteJournal.at(directory.resolve("data" + agents)), options)) {
            var sessions = new ArrayList<Session>();
            while (sessions.size() < agents) {
                var wave = new ArrayList<Session>();
                for (int i = 0; i < WAVE && sessions.size() + wave.size() < agents; i++) {
                    wave.add(holdfast.session("s" + (sessions.size() + i), agent));
                }
                allAnswer(wave, "good morning");
                sessions.addAll(wave);
            }
            assertThat(holdfast.processes()).isEqualTo(agents);
            assertThat(ProcessHandle.current().descendants().count()).isGreaterThanOrEqualTo(agents);
            allAnswer(sessions, "and all at once");
            assertThat(holdfast.processes()).isEqualTo(agents);
        }
    }

    private static void allAnswer(List<Session> sessions, String text) throws Exception {
        var replies = new ArrayList<CompletableFuture<Reply>>();
        for (Session session : sessions) {
            replies.add(session.sendAsync(Message.of(text + " " + session.name()))
                    .thenCompose(receipt -> session.reply(((Receipt.Accepted) receipt).number()))
                    .toCompletableFuture());
        }
        for (int i = 0; i < sessions.size(); i++) {
            var reply = replies.get(i).get(5, TimeUnit.MINUTES);
            assertThat(reply.outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(reply.text())
                    .isEqualTo("echo: " + text + " " + sessions.get(i).name());
        }
    }
}
