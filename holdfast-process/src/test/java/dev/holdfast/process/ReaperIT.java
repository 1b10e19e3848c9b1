package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a killed host leaves behind, and its end. */
@EnabledOnOs(OS.LINUX)
class ReaperIT {

    private static final Marker NEXT = new Marker("store", "session", 3, 8);
    private static final LinuxProcessTable TABLE = new LinuxProcessTable();

    @TempDir
    Path directory;

    private final List<Process> started = new ArrayList<>();
    private final List<Long> pids = new ArrayList<>();

    @AfterEach
    void endWhatIsLeft() throws Exception {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
        for (long pid : pids) {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private Path run() {
        return directory.resolve("run");
    }

    /** Starts a host with a child, reads the child's pid and the given number of pids it prints. */
    private HostUnderTest host(String binding, String script, int printed) throws IOException {
        Process process = java("exec \"$@\"", Kit.ENVIRONMENT, TestHost.class, run().toString(), binding, script);
        BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
        List<Long> printedPids = new ArrayList<>();
        while (printedPids.size() < printed + 1) {
            String line = reader.readLine();
            assertThat(line).as("the host's output").isNotNull();
            printedPids.add(Long.parseLong(line));
        }
        pids.addAll(printedPids);
        return new HostUnderTest(process, printedPids);
    }

    /** Runs a main of the tests in a JVM of its own, started by a shell script as {@code "$@"}. */
    private Process java(String script, Map<String, String> environment, Class<?> main, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "sh",
                "-c",
                script,
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                Kit.classPath(),
                main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private record HostUnderTest(Process process, List<Long> pids) {
        void kill() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private Reaped reap() {
        return new Reaper(run()).reap(marker -> marker.isOlderThan(NEXT), Kit.QUICK);
    }

    @Test
    @Tag("HS-08")
    @Tag("HS-21")
    @DisplayName("ccteam#189: an orphan of a killed host is ended at the next start")
    void reap_afterTheHostWasKilled_findsTheOrphanByItsRunFile() throws Exception {
        HostUnderTest host = host("unbound", "exec env -i sleep 300", 0);
        long orphan = host.pids().getFirst();
        host.kill();
        assertThat(Kit.isDead(orphan)).isFalse();

        Reaped reaped = reap();

        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.markers()).containsExactly(Kit.MARKER);
        assertThat(reaped.swept().found()).extracting(ProcessIdentity::pid).containsExactly(orphan);
        assertThat(Kit.isDead(orphan)).isTrue();
        assertThat(run()).isEmptyDirectory();
    }

    @Test
    @Tag("HS-08")
    @Tag("HS-21")
    void reap_withoutRunFiles_findsOrphansAndEscapedGrandchildrenByTheirEnvironment() throws Exception {
        HostUnderTest host = host("unbound", "(setsid sleep 300 & echo $!); sleep 300 & echo $!; exec sleep 300", 2);
        host.kill();
        deleteRunFiles();

        Reaped reaped = reap();

        assertThat(reaped.allDead()).isTrue();
        assertThat(host.pids()).allMatch(Kit::isDead);
        assertThat(reaped.swept().found()).hasSize(3);
        assertThat(reaped.markers()).containsExactly(Kit.MARKER);
    }

    private void deleteRunFiles() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(run())) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    @Test
    @Tag("HS-21")
    void reap_whenOnlyGrandchildrenAreLeft_endsThemAndRemovesTheFile() throws Exception {
        HostUnderTest host = host("unbound", "setsid sleep 300 & echo $!; read end", 1);
        host.kill();
        Kit.until(
                "the child ends with its input",
                () -> host.pids().stream().filter(Kit::isDead).count() == 1);

        assertThat(reap().allDead()).isTrue();
        assertThat(host.pids()).allMatch(Kit::isDead);
        assertThat(run()).isEmptyDirectory();
    }

    @Test
    @Tag("HS-22")
    void reap_orphanThatRecordsSignals_getsTermBeforeKill() throws Exception {
        HostUnderTest host = host(
                "unbound",
                "exec 2>/dev/null; trap 'echo TERM >> \"$1\".signals' TERM; echo $$; while :; do sleep 0.05; done",
                1);
        host.kill();
        Reaped reaped = reap();
        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.swept().killed())
                .extracting(ProcessIdentity::pid)
                .contains(host.pids().getFirst());
        assertThat(Files.readAllLines(Path.of(run() + ".signals"))).containsExactly("TERM");
    }

    @Test
    @Tag("HS-21")
    void reap_orphanThatIsStopped_isWokenAndEnded() throws Exception {
        HostUnderTest host = host("unbound", "exec sleep 300", 0);
        host.kill();
        new ProcessBuilder("kill", "-STOP", host.pids().getFirst().toString())
                .start()
                .waitFor();
        Reaped reaped = new Reaper(run())
                .reap(
                        marker -> marker.isOlderThan(NEXT),
                        new Ladder(Duration.ZERO, Duration.ofSeconds(30), Duration.ofSeconds(5)));
        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.swept().killed()).isEmpty();
    }

    @Test
    @Tag("HS-21")
    void reap_orphanThatKeepsForking_endsTheWholeFamily() throws Exception {
        HostUnderTest host = host("unbound", "trap '' TERM; echo $$; while :; do (sleep 300 &); sleep 0.02; done", 1);
        host.kill();
        Reaped reaped = reap();
        assertThat(reaped.allDead()).isTrue();
        assertThat(TABLE.census(true).matching(entry -> Kit.MARKER.equals(entry.marker())))
                .isEmpty();
    }

    private Process innocent(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sleep", "300");
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    private Path runFile(Marker marker, String boot, String pidSpace, String child) throws IOException {
        Files.createDirectories(run());
        ProcessIdentity deadHost = new ProcessIdentity(1, 1);
        Path file = run().resolve(deadHost.pid() + "-" + deadHost.start() + "-" + UUID.randomUUID() + ".child");
        return Files.writeString(
                file,
                "holdfast-child 1\nmarker=" + marker.encoded() + "\nboot=" + boot + "\npidspace=" + pidSpace + "\n"
                        + child);
    }

    @Test
    @Tag("HS-08")
    void reap_runFileWhosePidWasGivenToAnother_touchesNobody() throws Exception {
        Process bystander = innocent(Map.of());
        ProcessIdentity real = Kit.identity(bystander.pid());
        Path reused = runFile(
                Kit.MARKER, TABLE.boot(), TABLE.pidSpace(), "child=" + real.pid() + ":" + (real.start() - 1) + "\n");
        Path otherBoot = runFile(Kit.MARKER, "an-earlier-boot", TABLE.pidSpace(), "child=" + real + "\n");

        Reaped reaped = reap();

        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.swept().found()).isEmpty();
        assertThat(bystander.isAlive()).isTrue();
        assertThat(reused).doesNotExist();
        assertThat(otherBoot).doesNotExist();
    }

    @Test
    @Tag("HS-08")
    void reap_runFileWithTheRightIdentity_isBelieved() throws Exception {
        Process process = innocent(Map.of());
        runFile(Kit.MARKER, TABLE.boot(), TABLE.pidSpace(), "child=" + Kit.identity(process.pid()) + "\n");
        assertThat(reap().allDead()).isTrue();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @Tag("HS-21")
    void reap_markersThatAreNotOlder_areLeftAlone() throws Exception {
        List<Process> others = new ArrayList<>();
        for (Marker marker : List.of(
                NEXT,
                new Marker("store", "session", 4, 0),
                new Marker("store", "another", 1, 1),
                new Marker("another", "session", 1, 1))) {
            others.add(innocent(Map.of(Marker.VARIABLE, marker.encoded())));
        }
        Process older = innocent(Map.of(Marker.VARIABLE, new Marker("store", "session", 2, 99).encoded()));

        Reaped reaped = reap();

        assertThat(reaped.swept().found()).extracting(ProcessIdentity::pid).containsExactly(older.pid());
        assertThat(others).allMatch(Process::isAlive);
    }

    @Test
    @Tag("HS-21")
    void reap_zombie_isDead() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                "sh", "-c", "HOLDFAST_MARKER=" + Kit.MARKER.encoded() + " sleep 300 & echo $!; exec sleep 300");
        builder.environment().clear();
        builder.environment().putAll(Kit.ENVIRONMENT);
        Process parent = builder.start();
        started.add(parent);
        long child = Long.parseLong(parent.inputReader(StandardCharsets.UTF_8).readLine());
        pids.add(child);
        Kit.until(
                "the child runs its program",
                () -> TABLE.census(true)
                                .matching(entry -> Kit.MARKER.equals(entry.marker()))
                                .size()
                        == 1);

        Reaped reaped = reap();

        assertThat(ProcessHandle.of(child).map(ProcessHandle::isAlive))
                .as("its parent does not collect it, and the JDK takes it for alive")
                .contains(true);
        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.swept().killed()).isEmpty();
    }

    @Test
    void reap_runFileNobodyCanJudge_isReportedAndLeft() throws Exception {
        Path elsewhere = runFile(Kit.MARKER, TABLE.boot(), "pid:[1]", "child=77:77\n");
        Reaped reaped = reap();
        assertThat(reaped.unjudged()).containsExactly(elsewhere);
        assertThat(reaped.allDead()).isFalse();
        assertThat(elsewhere).exists();
    }

    @Test
    void reap_runFileOfAStartUnderWay_isReportedAndLeft() throws Exception {
        Files.createDirectories(run());
        RunFile.place(run(), UUID.randomUUID().toString(), Kit.MARKER, TABLE.self(), TABLE);
        assertThat(reap().unjudged()).hasSize(1);
        assertThat(run()).isNotEmptyDirectory();
    }

    @Test
    void reap_runFileCutOffBeforeTheSpawn_isRemovedWhenItsHostIsDead() throws Exception {
        Files.createDirectories(run());
        Files.writeString(run().resolve("1-1-" + UUID.randomUUID() + ".child"), "holdfast-child 1\nmarker=sto");
        runFile(Kit.MARKER, TABLE.boot(), TABLE.pidSpace(), "");
        runFile(Kit.MARKER, TABLE.boot(), TABLE.pidSpace(), "child=1:2");
        Reaped reaped = reap();
        assertThat(reaped.allDead()).isTrue();
        assertThat(run()).isEmptyDirectory();
    }

    @Test
    @Tag("HS-21")
    void reap_withoutAFreeDescriptor_takesNobodyForDeadAndTheSpawnerRecovers() throws Exception {
        Process host = java("ulimit -n 120; exec \"$@\"", Kit.ENVIRONMENT, ExhaustedHost.class, run().toString());
        String output = new String(host.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output.lines())
                .containsExactly(
                        "reaped: true",
                        "exhausted",
                        "refused: NO_RESOURCES",
                        "taken for dead: false",
                        "reaped: refused",
                        "spawned",
                        "children: 2",
                        "all dead: true");
        assertThat(run()).isEmptyDirectory();
    }

    @Test
    @Tag("HS-21")
    void reap_byAJvmThatAnOlderAgentStarted_sparesItAndSaysSo() throws Exception {
        Map<String, String> environment = new HashMap<>(Kit.ENVIRONMENT);
        environment.put(Marker.VARIABLE, Kit.MARKER.encoded());
        Process host = java("sleep 300 & \"$@\"; exit $?", environment, TestReaper.class, run().toString());
        String output = new String(host.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(host.waitFor()).isZero();
        assertThat(output.lines()).containsExactly("found 1", "survivors 1", "all dead false");
    }

    @Test
    void reap_withoutARunDirectory_findsNothing() {
        Reaped reaped = new Reaper(directory.resolve("nothing")).reap(marker -> marker.isOlderThan(NEXT), Kit.QUICK);
        assertThat(reaped.allDead()).isTrue();
        assertThat(reaped.markers()).isEmpty();
    }

    @Test
    void reap_whereEnvironmentsCannotBeSeen_stillEndsWhatTheFilesName() throws Exception {
        Process process = innocent(Map.of());
        PortableProcessTable portable = new PortableProcessTable();
        ProcessIdentity id = new ProcessIdentity(
                process.pid(), portable.startOf(process.pid()).orElseThrow());
        runFile(Kit.MARKER, "unknown", "unknown", "child=" + id + "\n");
        Reaped reaped = new Reaper(run(), portable).reap(marker -> marker.isOlderThan(NEXT), Kit.QUICK);
        assertThat(reaped.allDead()).isTrue();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @Tag("HS-08")
    @Tag("HS-22")
    @DisplayName("ts#142: the death of the host leaves no process")
    void hostKilled_boundChild_getsTermAndEverythingIsGoneWithinTenSeconds() throws Exception {
        HostUnderTest host = host("bound", """
                (setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' &)
                exec 2>/dev/null
                trap 'echo TERM >> "$1".signals' TERM
                echo $$
                while :; do sleep 0.05; done""", 2);
        long killedAt = System.nanoTime();
        host.kill();
        Kit.until(
                "all are gone",
                () -> TABLE.census(true)
                        .matching(entry -> Kit.MARKER.equals(entry.marker()))
                        .isEmpty());
        assertThat(Duration.ofNanos(System.nanoTime() - killedAt)).isLessThan(Duration.ofSeconds(10));
        assertThat(host.pids()).allMatch(Kit::isDead);
        assertThat(Files.readAllLines(Path.of(run() + ".signals"))).contains("TERM");
    }

    @Test
    @Tag("HS-22")
    void hostKilled_childBoundByTheKernelAlone_getsTerm() throws Exception {
        HostUnderTest host = host(
                "kernel-only",
                "exec 2>/dev/null; trap 'echo TERM >> \"$1\".signals; exit 0' TERM; echo $$; while :; do sleep 0.05; done",
                1);
        host.kill();
        Kit.until("the child is gone", () -> Kit.isDead(host.pids().getFirst()));
        assertThat(Files.readAllLines(Path.of(run() + ".signals"))).containsExactly("TERM");
    }
}
