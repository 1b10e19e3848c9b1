package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.process.SpawnFailed.Reason;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Starts that work, starts that cannot, and what is left after the end. */
@EnabledOnOs(OS.LINUX)
class SpawnerIT {

    @TempDir
    Path directory;

    private final Recorder recorder = new Recorder();

    private Spawner open() {
        return Spawner.open(directory.resolve("run"));
    }

    private ChildSpec spec(String... command) {
        return ChildSpec.of(List.of(command), directory, Kit.ENVIRONMENT, Kit.MARKER);
    }

    private static SpawnFailed refused(Spawner spawner, ChildSpec spec) {
        Recorder unused = new Recorder();
        SpawnFailed failure = catchThrowableOfType(SpawnFailed.class, () -> spawner.spawn(spec, unused));
        assertThat(failure).isNotNull();
        assertThat(unused.order).isEmpty();
        return failure;
    }

    @Test
    @Tag("HS-09")
    void spawn_environment_isExactlyWhatWasGivenAndTheMarker() {
        Map<String, String> parent = new HashMap<>(System.getenv());
        parent.put("HOLDFAST_TEST_CANARY", "canary");
        parent.put("SECRET_TOKEN", "canary");
        parent.put("NODE_OPTIONS", "--canary");
        parent.put("CLAUDECODE", "1");
        parent.put("LC_TEST", "kept");
        Map<String, String> passed = EnvironmentAllowList.standard().from(parent);
        try (Spawner spawner = open()) {
            spawner.spawn(ChildSpec.of(List.of("env"), directory, passed, Kit.MARKER), recorder);
            recorder.awaitGone();
        }
        Set<String> names = new TreeSet<>();
        recorder.lines.forEach(line -> names.add(line.substring(0, line.indexOf('='))));
        Set<String> expected = new TreeSet<>(passed.keySet());
        expected.addAll(Set.of(Marker.VARIABLE, HostGuard.VARIABLE));
        assertThat(names).isEqualTo(expected);
        assertThat(recorder.lines).contains("LC_TEST=kept", Marker.VARIABLE + "=" + Kit.MARKER.encoded());
        assertThat(recorder.lines).noneMatch(line -> line.contains("canary"));
        assertThat(System.getenv())
                .as("the test needs something that must not pass")
                .containsKey("HOME");
    }

    @Test
    @Tag("HS-21")
    void spawn_marker_standsInFileAndEnvironmentBeforeTheChildRuns() throws Exception {
        Path run = directory.resolve("run");
        try (Spawner spawner = open()) {
            Child child = spawner.spawn(
                    Kit.shell(
                            directory,
                            "grep -h ^marker= \"$1\"/*.child; echo $HOLDFAST_MARKER; exec cat",
                            run.toString()),
                    recorder);
            assertThat(Kit.lines(recorder, 2)).containsExactly("marker=" + Kit.MARKER.encoded(), Kit.MARKER.encoded());
            List<RunFile.Content> files = RunFile.readAll(run);
            assertThat(files).hasSize(1);
            RunFile.Content content = files.getFirst();
            assertThat(content.marker()).contains(Kit.MARKER);
            assertThat(content.child()).contains(Kit.identity(child.pid()));
            assertThat(content.boot())
                    .isEqualTo(Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                            .strip());
            assertThat(content.host().pid()).isEqualTo(ProcessHandle.current().pid());
            Recorder.get(child.stop(Ladder.standard()));
            assertThat(run).isEmptyDirectory();
        }
    }

    @Test
    @Tag("HS-21")
    void spawn_withoutARunDirectoryToWriteTo_startsNothing() throws Exception {
        Path run = directory.resolve("run");
        Path trace = directory.resolve("trace");
        try (Spawner spawner = open()) {
            Files.delete(run);
            SpawnFailed failure = refused(spawner, spec("touch", trace.toString()));
            assertThat(failure.reason()).isEqualTo(Reason.RUN_FILE);
            assertThat(failure.reason().passing()).isTrue();
        }
        assertThat(trace).doesNotExist();
    }

    @Test
    @Tag("HS-21")
    void spawn_markerOfALiveChild_isRefusedUntilThatIsGone() {
        try (Spawner spawner = open()) {
            Child first = spawner.spawn(spec("cat"), recorder);
            SpawnFailed failure = refused(spawner, spec("cat"));
            assertThat(failure.reason()).isEqualTo(Reason.MARKER_IN_USE);
            assertThat(failure).hasMessageContaining("child " + first.pid());
            Recorder.get(first.stop(Ladder.standard()));
            spawner.spawn(spec("cat"), new Recorder());
        }
    }

    @Test
    void spawn_unknownProgram_namesItAndThePath() {
        try (Spawner spawner = open()) {
            SpawnFailed failure = refused(spawner, spec("no-such-agent", "--flag"));
            assertThat(failure.reason()).isEqualTo(Reason.NOT_FOUND);
            assertThat(failure).hasMessageContainingAll("\"no-such-agent\"", "PATH /usr/local/bin", "install it");
            assertThat(refused(spawner, spec("/no/such/agent")).reason()).isEqualTo(Reason.NOT_FOUND);
            assertThat(refused(spawner, spec("/tmp")).reason()).isEqualTo(Reason.NOT_EXECUTABLE);
            assertThat(refused(spawner, spec("/etc/passwd")).reason()).isEqualTo(Reason.NOT_EXECUTABLE);
            ChildSpec lost = ChildSpec.of(List.of("true"), directory.resolve("nowhere"), Kit.ENVIRONMENT, Kit.MARKER);
            assertThat(refused(spawner, lost).reason()).isEqualTo(Reason.WORKING_DIRECTORY);
            assertThat(directory.resolve("run")).isEmptyDirectory();
        }
    }

    @Test
    @Tag("HS-09")
    void spawn_argumentOfTheLargestSize_worksAndOneByteMoreIsRefusedByName() {
        String largest = "x".repeat(Launch.LONGEST_ARGUMENT);
        try (Spawner spawner = open()) {
            spawner.spawn(Kit.shell(directory, "echo ${#1}", largest), recorder);
            assertThat(Kit.lines(recorder, 1)).containsExactly(Integer.toString(largest.length()));

            SpawnFailed single = refused(spawner, spec("true", "--system-prompt", "secret" + largest));
            assertThat(single.reason()).isEqualTo(Reason.ARGUMENT_TOO_LONG);
            assertThat(single).hasMessageContaining("argument 2 (after --system-prompt)");
            assertThat(single.getMessage()).doesNotContain("secret");
            assertThat(refused(spawner, spec("true", "--prompt=" + largest)))
                    .hasMessageContaining("argument 1 (--prompt)");
            assertThat(refused(spawner, spec("true", "ä".repeat(65_536))).reason())
                    .isEqualTo(Reason.ARGUMENT_TOO_LONG);

            Map<String, String> environment = new HashMap<>(Kit.ENVIRONMENT);
            environment.put("BIG", largest);
            assertThat(refused(spawner, ChildSpec.of(List.of("true"), directory, environment, Kit.MARKER)))
                    .hasMessageContaining("variable BIG");
        }
    }

    @Test
    @Tag("HS-09")
    void spawn_argumentsThatAreTooLongTogether_areRefusedBeforeTheStartAndJustFittingOnesStart() {
        List<String> command = new ArrayList<>(List.of("true"));
        long room = Launch.largestTotal() - 64_000;
        for (long used = 0; used + 100_000 < room; used += 100_009) {
            command.add("x".repeat(100_000));
        }
        try (Spawner spawner = open()) {
            spawner.spawn(spec(command.toArray(String[]::new)), recorder);
            assertThat(recorder.awaitEnded().exitCode()).isZero();
            recorder.awaitGone();
            command.add("x".repeat(100_000));
            command.add("x".repeat(100_000));
            SpawnFailed failure = refused(spawner, spec(command.toArray(String[]::new)));
            assertThat(failure.reason()).isEqualTo(Reason.ARGUMENT_TOO_LONG);
            assertThat(failure).hasMessageContaining("come to");
        }
    }

    @Test
    void spawn_hundredAtOnce_allAnswerAndAllEnd() {
        int count = 100;
        List<Recorder> recorders = new ArrayList<>();
        try (Spawner spawner = open()) {
            List<Child> children = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Recorder each = new Recorder();
                recorders.add(each);
                children.add(spawner.spawn(
                        ChildSpec.of(
                                List.of("cat"), directory, Kit.ENVIRONMENT, new Marker("store", "session " + i, 1, 1)),
                        each));
            }
            for (int i = 0; i < count; i++) {
                children.get(i).write(("hello " + i).getBytes(StandardCharsets.UTF_8));
            }
            for (int i = 0; i < count; i++) {
                assertThat(Kit.lines(recorders.get(i), 1)).containsExactly("hello " + i);
            }
            assertThat(spawner.children()).hasSize(count);
        }
        recorders.forEach(each -> assertThat(each.awaitGone().allDead()).isTrue());
        assertThat(directory.resolve("run")).isEmptyDirectory();
    }

    @Test
    @Tag("HS-16")
    void close_leavesNoThreadNoDescriptorNoChildAndNoGuard() {
        spawnAndClose(5);
        int descriptors = descriptors();
        spawnAndClose(20);
        Kit.until("threads gone", () -> ourThreads().isEmpty());
        Kit.until("descriptors back", () -> descriptors() <= descriptors);
        assertThat(ProcessHandle.current().children().filter(handle -> !Kit.isDead(handle.pid())))
                .isEmpty();
    }

    private void spawnAndClose(int children) {
        ProcessHandle guard;
        try (Spawner spawner = open()) {
            for (int i = 0; i < children; i++) {
                spawner.spawn(Kit.in("cat " + i, spec("cat")), recorder);
                spawner.spawn(Kit.in("true " + i, spec("true")), recorder);
            }
            guard = spawner.guardProcess().orElseThrow();
            assertThat(ourThreads()).isNotEmpty();
        }
        assertThat(Kit.isDead(guard.pid())).isTrue();
    }

    private static List<String> ourThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("holdfast-"))
                .toList();
    }

    private static Path readLink(String link) {
        try {
            return Files.readSymbolicLink(Path.of(link));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int descriptors() {
        String[] open = new File("/proc/self/fd").list();
        return open == null ? 0 : open.length;
    }

    @Test
    @Tag("HS-16")
    void close_ofOneSpawner_leavesAnotherInTheSameJvmAlone() {
        try (Spawner first = open();
                Spawner second = Spawner.open(directory.resolve("second"))) {
            first.spawn(spec("cat"), new Recorder());
            ChildSpec other = ChildSpec.of(
                    List.of("cat"), directory, Kit.ENVIRONMENT, new Marker("second store", "session", 3, 7));
            Child child = second.spawn(other, recorder);
            first.close(Ladder.urgent());
            assertThat(refused(first, spec("true")).reason()).isEqualTo(Reason.CLOSED);
            child.write("alive".getBytes(StandardCharsets.UTF_8));
            assertThat(Kit.lines(recorder, 1)).containsExactly("alive");
        }
    }

    @Test
    @Tag("HS-08")
    void close_endsEveryChildAlsoStubbornOnes() {
        List<Child> children = new ArrayList<>();
        Spawner spawner = open();
        for (int i = 0; i < 5; i++) {
            Recorder each = new Recorder();
            children.add(spawner.spawn(
                    Kit.in(
                            "session " + i,
                            Kit.shell(directory, "trap '' TERM; echo ready; while :; do sleep 0.05; done")),
                    each));
            Kit.lines(each, 1);
        }
        spawner.close(Kit.QUICK);
        assertThat(children).noneMatch(Child::isAlive);
        spawner.close();
    }

    @Test
    void spawn_fromAThreadThatEnds_childLivesOn() {
        try (Spawner spawner = open()) {
            CompletableFuture<Path> thread = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                Child bound = spawner.spawn(spec("cat"), recorder);
                bound.write("bound by now".getBytes(StandardCharsets.UTF_8));
                Kit.lines(recorder, 1);
                thread.complete(Path.of("/proc").resolve(readLink("/proc/thread-self")));
            });
            Path calling = Recorder.get(thread);
            Kit.until("the calling thread has ended", () -> !Files.exists(calling));
            Child child = spawner.children().getFirst();
            Recorder.get(child.write("still here".getBytes(StandardCharsets.UTF_8)));
            assertThat(Kit.lines(recorder, 2)).containsExactly("bound by now", "still here");
            assertThat(child.diesWithHost()).isTrue();
        }
    }

    @Test
    @Tag("HS-08")
    void spawn_whoseCallerIsInterrupted_leavesNoChild() {
        try (Spawner spawner = open()) {
            Thread.currentThread().interrupt();
            try {
                spawner.spawn(spec("sleep", "300"), recorder).stop(Ladder.urgent());
            } catch (SpawnFailed e) {
                assertThat(e.reason()).isEqualTo(Reason.INTERRUPTED);
            }
            assertThat(Thread.interrupted()).isTrue();
            Recorder after = new Recorder();
            spawner.spawn(Kit.in("after", spec("true")), after);
            after.awaitGone();
            Kit.until("no child is left", () -> spawner.children().isEmpty());
        }
        assertThat(directory.resolve("run")).isEmptyDirectory();
    }

    @Test
    void spawn_child_leadsASessionOfItsOwn() {
        try (Spawner spawner = open()) {
            Child child = spawner.spawn(Kit.shell(directory, "cut -d' ' -f6 /proc/$$/stat; exec cat"), recorder);
            assertThat(Kit.pidLine(recorder, 0)).isEqualTo(child.pid());
        }
    }

    @Test
    void toString_ofASpec_showsNoArgumentAndNoValue() {
        ChildSpec spec =
                ChildSpec.of(List.of("agent", "--token=secret"), directory, Map.of("KEY", "secret"), Kit.MARKER);
        assertThat(spec.toString())
                .contains("agent", "KEY", "store/session/3/7")
                .doesNotContain("secret");
    }
}
