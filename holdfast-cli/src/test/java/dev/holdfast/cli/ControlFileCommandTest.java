package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --control FILE}: a real host on real files, with the scripted agent in a process of its own. */
final class ControlFileCommandTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private Path data;
    private Path control;

    @BeforeEach
    void place() {
        data = directory.resolve("data");
        control = directory.resolve("control.jsonl");
    }

    private void append(String line) throws IOException {
        Files.writeString(control, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private CompletableFuture<Ran> start(String... words) {
        var ran = new CompletableFuture<Ran>();
        var unused = Thread.ofVirtual().start(() -> ran.complete(Ran.command(data, arguments(words))));
        return ran;
    }

    private String[] arguments(String... words) {
        var all = new java.util.ArrayList<>(
                java.util.List.of("run", "--session", "a", "--agent", "scripted", "--control", control.toString()));
        all.addAll(java.util.List.of(words));
        return all.toArray(String[]::new);
    }

    private static Ran end(CompletableFuture<Ran> run) {
        return run.orTimeout(60, TimeUnit.SECONDS).join();
    }

    private void awaitEvent(String type) {
        await().atMost(LONG).until(() -> Ran.command(data, "events", "a").out().contains(type));
    }

    @Test
    @Tag("CH-07")
    void stopInTheControlFile_endsTheTurnThatRuns() throws IOException {
        var run = start("[[sleep 600000]]");
        awaitEvent("TurnOpened");
        append("{\"kind\":\"stop\"}");
        var ran = end(run);
        assertThat(ran.exit()).isEqualTo(Exit.TURN_FAILED);
        assertThat(ran.err()).contains("message 1 interrupted");
    }

    @Test
    @Tag("CH-07")
    void messagesInTheControlFile_areTakenOnce_whatHasBeenTakenStaysTaken() throws IOException {
        var acknowledgements = directory.resolve("control.ack.jsonl");
        var first = start("[[sleep 600000]]");
        awaitEvent("TurnOpened");
        append("{\"kind\":\"message\",\"text\":\"from the file\",\"author\":\"ci\"}");
        append("nonsense");
        await().atMost(LONG).until(() -> Files.readString(acknowledgements).contains("\"skipped\""));
        append("{\"kind\":\"cancel\",\"turn\":1}");
        append("{\"kind\":\"message\",\"text\":\"more from the file\"}");
        assertThat(end(first).err()).contains("control.jsonl, byte", "skipped");

        Files.delete(acknowledgements); // so that every line is given to the session again
        assertThat(end(start("own")).out()).contains("echo: own");
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(Ran.command(data, "show", "a").out())
                        .containsOnlyOnce("ci     from the file\n")
                        .containsOnlyOnce("you    more from the file\n"));
        assertThat(Files.readString(acknowledgements)).contains("\"duplicate\"");
    }

    @Test
    @Tag("CH-07")
    void unfitControlFile_isAMistakeOfUse_andNothingIsSent() throws IOException {
        Files.createDirectory(control);
        var ran = end(start("hello"));
        assertThat(ran.exit()).isEqualTo(Exit.USAGE);
        assertThat(ran.err()).contains("regular file").hasLineCount(1);
        assertThat(Ran.command(data, "show", "a", "--json").out()).doesNotContain("hello");
    }

    @Test
    @Tag("CH-07")
    void chatThroughAPipe_followsItsControlFile() throws IOException {
        append("{\"kind\":\"message\",\"text\":\"from the file\"}");
        var chat = Ran.with(
                Map.of(),
                data,
                "one\ntwo\n",
                false,
                "chat",
                "c",
                "--agent",
                "scripted",
                "--control",
                control.toString());
        assertThat(chat.out()).contains("echo: one\necho: two\n");
        assertThat(Files.readString(directory.resolve("control.ack.jsonl"))).contains("\"accepted\"");
    }
}
