package dev.holdfast.runtime;

import static dev.holdfast.runtime.ControlFileStage.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.HoldfastException;
import dev.holdfast.Payload;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control files with real processes: writers of every kind, and hosts that are killed. */
class ControlFileProcessTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final List<Process> children = new ArrayList<>();

    @AfterEach
    void end() {
        children.forEach(child -> {
            child.toHandle().destroyForcibly();
            child.onExit().orTimeout(30, TimeUnit.SECONDS).join();
        });
    }

    private Process child(String... command) throws IOException {
        var child = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        children.add(child);
        return child;
    }

    private Process shell(String script) throws IOException {
        return child("sh", "-c", script);
    }

    private static void awaitEnd(Process child) {
        assertThat(child.onExit().orTimeout(30, TimeUnit.SECONDS).join().exitValue())
                .isZero();
    }

    private Process host(String step, int times, int expected) throws IOException {
        var classes = Path.of("target/test-classes").toAbsolutePath() + ":" + System.getProperty("jdk.module.path", "")
                + ":" + System.getProperty("java.class.path");
        return child(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes,
                ControlFileHost.class.getName(),
                directory.toString(),
                step,
                Integer.toString(times),
                Integer.toString(expected));
    }

    private static String lastLine(BufferedReader out, String... awaited) throws IOException {
        while (true) {
            var line = out.readLine();
            assertThat(line).as("the host ended before %s", List.of(awaited)).isNotNull();
            for (String end : awaited) {
                if (line.startsWith(end)) {
                    return line;
                }
            }
        }
    }

    private ControlledSession stored() {
        return new ControlledSession("support-42", Optional.of(directory.resolve(ControlFileHost.STORE)));
    }

    // ---- hosts ----------------------------------------------------------------------------------------------------

    private record Kill(ControlFile.Step step, int times) {}

    @Test
    @Tag("CH-07")
    @Tag("IN-12")
    void hostKilledAtEachStep_losesNothingAndDoesNothingTwice() throws IOException {
        try (var stage = new ControlFileStage(directory)) {
            var expected = new ArrayList<String>();
            var kills = List.of(
                    new Kill(ControlFile.Step.READ, 1),
                    new Kill(ControlFile.Step.READ, 3),
                    new Kill(ControlFile.Step.ACCEPTED, 1),
                    new Kill(ControlFile.Step.ACCEPTED, 2),
                    new Kill(ControlFile.Step.ACCEPTED, 4),
                    new Kill(ControlFile.Step.WRITTEN, 1),
                    new Kill(ControlFile.Step.ACKNOWLEDGED, 1));
            for (Kill kill : kills) {
                stage.append(message("the same words each time") + "{\"kind\":\"cancel\",\"message\":1}\n")
                        .append("{\"kind\":\"stop\"}\n{\"kind\":\"answer\",\"question\":\"q\",\"text\":\"yes\"}\n");
                expected.addAll(List.of(
                        "the same words each time",
                        Payload.Cancel.message(1).toString(),
                        Payload.Cancel.any().toString(),
                        new Payload.Answer("q", "yes").toString()));
                var host = host(kill.step().name(), kill.times(), Integer.MAX_VALUE);
                try (var out = host.inputReader()) {
                    assertThat(lastLine(out, "at", "done")).isEqualTo("at " + kill.step());
                    host.toHandle().destroyForcibly();
                    host.onExit().orTimeout(30, TimeUnit.SECONDS).join();
                }
                var texts = stored().texts();
                assertThat(texts).isEqualTo(expected.subList(0, texts.size()));
            }
            var host = host("NONE", 0, expected.size());
            try (var out = host.inputReader()) {
                assertThat(lastLine(out, "done")).isEqualTo("done");
            }
            awaitEnd(host);
            assertThat(stored().texts()).isEqualTo(expected);
            assertThat(stage.acknowledged().stream()
                            .map(line -> line.get("start").asLong())
                            .distinct())
                    .hasSize(expected.size());
            assertThat(stage.results()).anyMatch(result -> result.startsWith("duplicate"));
        }
    }

    @Test
    @Tag("CH-07")
    void fileFollowedByAnotherProcess_isRefused_untilThatIsGone() throws IOException {
        var host = host("NONE", 0, Integer.MAX_VALUE);
        try (var out = host.inputReader()) {
            assertThat(lastLine(out, "follows")).isEqualTo("follows");
            var stage = new ControlFileStage(directory);
            assertThatThrownBy(stage::follow)
                    .isInstanceOf(HoldfastException.class)
                    .hasMessageContaining("followed already");
            host.toHandle().destroyForcibly();
            host.onExit().orTimeout(30, TimeUnit.SECONDS).join();
            stage.follow().close();
        }
    }

    // ---- writers --------------------------------------------------------------------------------------------------

    private void follow(String script, List<String> expected, boolean ordered) throws IOException {
        var session = new ControlledSession("support-42");
        try (var follower = ControlFile.follow(session.session(), directory.resolve("control.jsonl"))) {
            awaitEnd(shell(script));
            await().atMost(LONG).until(() -> session.taken().size() >= expected.size());
            if (ordered) {
                assertThat(session.texts()).isEqualTo(expected);
            } else {
                assertThat(session.texts()).containsExactlyInAnyOrderElementsOf(expected);
            }
            assertThat(follower.acknowledgements()).exists();
        }
        var after = new ControlFileStage(directory, session);
        after.follow().look().close();
        assertThat(session.submitted()).isEqualTo(expected.size());
    }

    @Test
    @Tag("CH-07")
    void writerOfLinesInPieces_isHeardInOrder() throws IOException {
        follow("""
                i=0
                while [ $i -lt 60 ]; do
                  printf '{"kind":"message",' >> control.jsonl
                  printf '"text":"\\303' >> control.jsonl
                  printf '\\251 %d"}\\n' $i >> control.jsonl
                  i=$((i+1))
                done
                """, IntStream.range(0, 60).mapToObj(i -> "é " + i).toList(), true);
    }

    @Test
    @Tag("CH-07")
    void writersAtTheSameTime_areAllHeard() throws IOException {
        follow(
                """
                for w in 1 2 3; do
                  (i=0
                  while [ $i -lt 40 ]; do
                    printf '{"kind":"message","text":"%d %d"}\\n' $w $i >> control.jsonl
                    i=$((i+1))
                  done) &
                done
                wait
                """,
                IntStream.range(0, 120).mapToObj(i -> i / 40 + 1 + " " + i % 40).toList(), false);
    }

    @Test
    @Tag("CH-07")
    void writerThatRotates_isHeard() throws IOException {
        follow("""
                i=0
                while [ $i -lt 60 ]; do
                  printf '{"kind":"message","text":"%d"}\\n' $i >> control.jsonl
                  [ $((i % 3)) = 2 ] && mv control.jsonl control.jsonl.$i
                  i=$((i+1))
                done
                """, IntStream.range(0, 60).mapToObj(Integer::toString).toList(), false);
    }

    @Test
    @Tag("CH-07")
    void writerThatWritesAllAnewEachTime_isNeverMisread() throws IOException {
        var session = new ControlledSession("support-42");
        var notices = new ArrayList<ControlFileNotice.Kind>();
        var options =
                ControlFileOptions.standard().poll(Duration.ofMillis(10)).notices(notice -> notices.add(notice.kind()));
        var written = new ArrayList<String>();
        for (int i = 1; i <= 150; i++) {
            for (int j = 1; j <= i % 7 + 1; j++) {
                written.add(i + " " + j + " " + "x".repeat(i * 37 % 300));
            }
        }
        try (var follower = ControlFile.follow(session.session(), directory.resolve("control.jsonl"), options)) {
            awaitEnd(shell("""
                    i=1
                    while [ $i -le 150 ]; do
                      x=$(printf "%$((i * 37 % 300))s" '' | tr ' ' x) all= j=1
                      while [ $j -le $((i % 7 + 1)) ]; do
                        all="$all{\\"kind\\":\\"message\\",\\"text\\":\\"$i $j $x\\"}\\n"; j=$((j+1))
                      done
                      printf "$all" > control.jsonl
                      i=$((i+1))
                    done
                    """));
            await().atMost(LONG).until(() -> session.texts().contains(written.getLast()));
            assertThat(follower.file()).exists();
        }
        assertThat(written).containsAll(session.texts());
        assertThat(session.texts()).doesNotHaveDuplicates();
        assertThat(notices).doesNotContain(ControlFileNotice.Kind.SKIPPED);
    }

    @Test
    @Tag("CH-07")
    void pipeInPlaceOfTheFile_isRefused() throws IOException {
        awaitEnd(shell("mkfifo control.jsonl"));
        var stage = new ControlFileStage(directory);
        assertThatThrownBy(stage::follow).isInstanceOf(HoldfastException.class).hasMessageContaining("regular file");
        Files.delete(stage.file);
    }
}
