package dev.holdfast.process;

import static dev.holdfast.process.StopStep.Kind.CONTINUED;
import static dev.holdfast.process.StopStep.Kind.EXITED;
import static dev.holdfast.process.StopStep.Kind.INPUT_CLOSED;
import static dev.holdfast.process.StopStep.Kind.KILLED;
import static dev.holdfast.process.StopStep.Kind.TERMINATED;
import static dev.holdfast.process.StopStep.Kind.TREE_DEAD;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stop ladder and what becomes of everything a child has started. */
class StopIT extends ShellChildren {

    @Test
    @Tag("HS-07")
    void stop_childThatEndsWithItsInput_needsNoSignal() {
        Child child = run("cat; exit 6");
        Stopped stopped = Recorder.get(child.stop(Ladder.standard()));
        assertThat(stopped.ended().orElseThrow().exitCode()).isEqualTo(6);
        assertThat(recorder.steps).containsExactly(INPUT_CLOSED, EXITED, TREE_DEAD);
        assertThat(stopped.steps()).extracting(StopStep::kind).isEqualTo(recorder.steps);
    }

    @Test
    @Tag("HS-07")
    @Tag("HS-22")
    void stop_childThatActsOnTerm_getsTheTimeToSave() throws Exception {
        Path saved = directory.resolve("saved");
        Child child = run(
                "trap 'sleep 0.2; echo turn > \"$1\"; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
                saved.toString());
        Kit.lines(recorder, 1);
        Stopped stopped = Recorder.get(
                child.stop(new Ladder(Duration.ofMillis(100), Duration.ofSeconds(20), Duration.ofSeconds(5))));
        assertThat(Files.readString(saved)).isEqualTo("turn\n");
        assertThat(stopped.ended().orElseThrow().exitCode()).isZero();
        assertThat(recorder.steps)
                .startsWith(INPUT_CLOSED, TERMINATED, CONTINUED, EXITED)
                .doesNotContain(KILLED);
    }

    @Test
    @Tag("HS-07")
    @Tag("HS-22")
    @DisplayName("cc#47872, cc#20117, cc#21287: a process that ignores TERM is killed")
    void stop_childThatIgnoresEverything_getsTermBeforeKill() throws Exception {
        Path signals = directory.resolve("signals");
        Child child =
                run("trap 'echo TERM >> \"$1\"' TERM; echo ready; while :; do sleep 0.05; done", signals.toString());
        Kit.lines(recorder, 1);
        Stopped stopped = Recorder.get(child.stop(Kit.QUICK));
        assertThat(Files.readAllLines(signals)).containsExactly("TERM");
        assertThat(stopped.ended().orElseThrow().signal()).hasValue(9);
        assertThat(recorder.steps).containsSubsequence(INPUT_CLOSED, TERMINATED, CONTINUED, KILLED, EXITED, TREE_DEAD);
        assertThat(stopped.allDead()).isTrue();
    }

    @Test
    @Tag("HS-07")
    void stop_childStoppedBySigstop_isWokenToActOnTerm() throws Exception {
        Child child = run("exec sleep 300");
        new ProcessBuilder("kill", "-STOP", Long.toString(child.pid())).start().waitFor();
        Stopped stopped = Recorder.get(
                child.stop(new Ladder(Duration.ofMillis(100), Duration.ofSeconds(20), Duration.ofSeconds(5))));
        assertThat(stopped.ended().orElseThrow().signal()).hasValue(15);
        assertThat(recorder.steps).contains(TERMINATED, CONTINUED).doesNotContain(KILLED);
    }

    /** Each line of the script prints the pid of one descendant that hides in another way. */
    private static final String FAMILY = """
            sleep 300 & echo $!
            setsid sleep 300 & echo $!
            env -i setsid sleep 300 & echo $!
            (env -i sleep 300 & echo $!)
            (setsid sleep 300 & echo $!)
            (trap '' TERM; exec sleep 300) & echo $!
            echo ready
            """;

    private List<Long> family() {
        Kit.lines(recorder, 7);
        assertThat(recorder.lines.get(6)).isEqualTo("ready");
        List<Long> pids =
                recorder.lines.subList(0, 6).stream().map(Long::parseLong).toList();
        assertThat(pids).noneMatch(Kit::isDead);
        return pids;
    }

    @Test
    @Tag("HS-07")
    @DisplayName("cc#35673, oh-my-claudecode#1724, cc#51516: what the agent has started ends with it")
    void stop_childWithDescendantsInEveryHidingPlace_endsThemAll() {
        Child child = run(FAMILY + "exec cat");
        List<Long> pids = family();
        Stopped stopped = Recorder.get(child.stop(Kit.QUICK));
        assertThat(pids).allMatch(Kit::isDead);
        assertThat(stopped.allDead()).isTrue();
        assertThat(stopped.leftovers().found()).extracting(ProcessIdentity::pid).containsAll(pids);
        assertThat(stopped.leftovers().killed())
                .extracting(ProcessIdentity::pid)
                .containsExactly(pids.get(5));
        assertThat(recorder.steps).endsWith(TREE_DEAD);
    }

    @Test
    @Tag("HS-08")
    void kill_ofTheChildAlone_leavesNothingWithItsMarkerOrSession() {
        Child child = run("""
                sleep 300 & echo $!
                setsid sleep 300 & echo $!
                (env -i sleep 300 & echo $!)
                exec sleep 300""");
        Kit.lines(recorder, 3);
        child.signal(ChildSignal.KILL);
        Stopped stopped = recorder.awaitGone();
        assertThat(stopped.ended().orElseThrow().signal()).hasValue(9);
        assertThat(recorder.lines).map(Long::parseLong).allMatch(Kit::isDead);
        assertThat(stopped.leftovers().found()).hasSize(3);
        assertThat(directory.resolve("run")).isEmptyDirectory();
    }

    @Test
    @Tag("HS-07")
    void stop_ofOneChild_leavesAnotherChildsFamilyAlone() {
        Recorder other = new Recorder();
        Child bystander = spawner.spawn(
                ChildSpec.of(
                        List.of("sh", "-c", "setsid sleep 300 & echo $!; exec cat"),
                        directory,
                        Kit.ENVIRONMENT,
                        new Marker("store", "other session", 3, 7)),
                other);
        long neighbour = Kit.pidLine(other, 0);
        Child child = run("setsid sleep 300 & echo $!; exec cat");
        Kit.lines(recorder, 1);
        Recorder.get(child.stop(Kit.QUICK));
        assertThat(Kit.isDead(neighbour)).isFalse();
        assertThat(bystander.isAlive()).isTrue();
    }

    @Test
    @Tag("HS-08")
    void stop_calledByManyAtOnce_climbsOnceAndAllJoin() throws Exception {
        Path signals = directory.resolve("signals");
        Child child =
                run("trap 'echo TERM >> \"$1\"' TERM; echo ready; while :; do sleep 0.05; done", signals.toString());
        Kit.lines(recorder, 1);
        ConcurrentLinkedQueue<CompletionStage<Stopped>> stops = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            threads.add(Thread.ofPlatform().start(() -> stops.add(child.stop(Kit.QUICK))));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        List<Stopped> results = stops.stream().map(Recorder::get).toList();
        assertThat(results).hasSize(20).allSatisfy(result -> assertThat(result).isSameAs(results.getFirst()));
        assertThat(Recorder.get(child.stop(Kit.QUICK))).isSameAs(results.getFirst());
        assertThat(Files.readAllLines(signals)).containsExactly("TERM");
        assertThat(recorder.steps).containsOnlyOnce(TERMINATED).containsOnlyOnce(INPUT_CLOSED);
        assertThat(recorder.endedCalls).hasValue(1);
    }

    @Test
    @Tag("HS-08")
    void stop_racingTheExit_alwaysEndsOnce() {
        for (int i = 0; i < 30; i++) {
            Recorder each = new Recorder();
            Child child = spawner.spawn(Kit.shell(directory, "exit 0"), each);
            assertThat(Recorder.get(child.stop(Ladder.standard())).allDead()).isTrue();
            each.awaitGone();
            assertThat(each.endedCalls).hasValue(1);
        }
    }

    @Test
    void stop_withLinesStillQueued_letsThemOutFirst() {
        Child child = run("sleep 0.3; exec cat");
        for (int i = 0; i < 50; i++) {
            child.write(("line " + i).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        Recorder.get(child.stop(Ladder.standard()));
        assertThat(recorder.lines).hasSize(50).endsWith("line 49");
    }
}
