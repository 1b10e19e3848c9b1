package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A child's pipes: lines out, lines in, stderr, its end. */
class ChildIT extends ShellChildren {

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void write_toAnEchoingChild_comesBackAndTheEndIsToldInOrder() {
        Child child = run("exec cat");
        Recorder.get(child.write(utf8("hällo 😀")));
        Stopped stopped = Recorder.get(child.stop(Ladder.standard()));
        assertThat(stopped.allDead()).isTrue();
        assertThat(recorder.lines).containsExactly("hällo 😀");
        assertThat(recorder.order).containsExactly("line", "endOfOutput", "ended", "gone");
        assertThat(recorder.awaitEnded().exitCode()).isZero();
        assertThat(recorder.awaitEnded().outputComplete()).isTrue();
        assertThat(directory.resolve("run")).isEmptyDirectory();
    }

    @Test
    @Tag("HS-10")
    void line_withACharacterSplitOverReads_isWhole() {
        run("printf 'a\\303'; sleep 0.2; printf '\\244b\\r\\n'; printf 'two\\n'");
        recorder.awaitGone();
        assertThat(recorder.lines).containsExactly("aäb", "two");
        assertThat(recorder.rawLines.getFirst().replaced()).isZero();
    }

    @Test
    @Tag("HS-10")
    void line_ofThreeMegabytes_arrivesWhole() {
        run("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after");
        recorder.awaitGone();
        assertThat(recorder.lines).hasSize(2);
        assertThat(recorder.lines.getFirst()).hasSize(3_000_000).containsOnlyOnce("x".repeat(3_000_000));
        assertThat(recorder.lines.get(1)).isEqualTo("after");
    }

    @Test
    @Tag("HS-10")
    @DisplayName("py#58, py#98: a line over the limit is skipped with its real size")
    void line_overTheLimit_isSkippedWithItsSizeAndTheChildGoesOn() {
        ChildSpec spec = Kit.shell(directory, "echo before; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after")
                .withLineLimit(1 << 20);
        spawner.spawn(spec, recorder);
        recorder.awaitGone();
        assertThat(recorder.lines).containsExactly("before", "after");
        assertThat(recorder.skipped).containsExactly(3_000_000L);
        assertThat(recorder.order).startsWith("line", "skipped", "line");
    }

    @Test
    @Tag("HS-10")
    void output_thatStopsInMidLine_isPartialAndNeverALine() {
        run("echo whole; printf '{\"half\":'");
        recorder.awaitGone();
        assertThat(recorder.lines).containsExactly("whole");
        assertThat(recorder.partial).containsExactly("{\"half\":");
    }

    @Test
    @Tag("HS-11")
    void stderr_flooded_isDrainedAndItsTailKept() {
        run("head -c 5000000 /dev/zero | tr '\\0' e >&2; echo last words >&2; echo done; exit 3");
        Ended ended = recorder.awaitEnded();
        assertThat(recorder.lines).containsExactly("done");
        assertThat(ended.exitCode()).isEqualTo(3);
        assertThat(ended.stderrBytes()).isEqualTo(5_000_011);
        assertThat(ended.stderrTail()).hasSize(ChildSpec.DEFAULT_STDERR_TAIL).endsWith("eeelast words\n");
    }

    @Test
    @Tag("HS-11")
    void write_toADeadChild_failsTyped() {
        Child child = run("exit 5");
        recorder.awaitEnded();
        assertThat(Recorder.failure(child.write(utf8("too late"))))
                .isInstanceOf(ChildGone.class)
                .hasMessageContaining("exited with code 5");
    }

    @Test
    @Tag("HS-11")
    void write_racingTheChildsEnd_alwaysCompletes() {
        Child child = run("read first; exit 0");
        List<CompletionStage<Void>> writes = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            writes.add(child.write(utf8("line " + i + " " + "x".repeat(2_000))));
        }
        recorder.awaitEnded();
        Kit.until(
                "every write has an answer",
                () -> writes.stream()
                        .allMatch(write -> write.toCompletableFuture().isDone()));
        assertThat(Recorder.failure(writes.getLast())).isInstanceOf(ChildGone.class);
    }

    @Test
    @Tag("HS-11")
    void write_toAChildThatClosedItsStdin_failsTypedThoughItLives() {
        Child child = run("exec <&-; echo closed; exec sleep 300");
        Kit.lines(recorder, 1);
        assertThat(Recorder.failure(child.write(utf8("x".repeat(100_000))))).isInstanceOf(ChildGone.class);
        assertThat(child.isAlive()).isTrue();
    }

    @Test
    @Tag("HS-11")
    void write_toAChildThatNeverReads_blocksNobodyAndFailsAtTheBound() {
        Child deaf = spawner.spawn(Kit.shell(directory, "exec sleep 300").withInputLimit(1 << 20), recorder);
        CompletionStage<Void> stuck = deaf.write(new byte[900_000]);
        assertThat(Recorder.failure(deaf.write(new byte[900_000]))).isInstanceOf(InputFull.class);

        Recorder other = new Recorder();
        Child reader = spawner.spawn(Kit.in("other", Kit.shell(directory, "exec cat")), other);
        Recorder.get(reader.write(utf8("still served")));
        assertThat(Kit.lines(other, 1)).containsExactly("still served");

        assertThat(stuck.toCompletableFuture()).isNotDone();
        assertThat(Recorder.get(deaf.stop(Kit.QUICK)).allDead()).isTrue();
        assertThat(Recorder.failure(stuck)).isInstanceOf(ChildGone.class);
    }

    @Test
    @Tag("HS-12")
    void write_fromManyThreads_keepsEveryLineWhole() throws Exception {
        Child child = run("exec cat");
        int writers = 8;
        int each = 100;
        ConcurrentLinkedQueue<CompletionStage<Void>> writes = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int w = 0; w < writers; w++) {
            String line = Character.toString('a' + w).repeat(10_000);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < each; i++) {
                    writes.add(child.write(utf8(line)));
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        writes.forEach(Recorder::get);
        child.closeInput();
        recorder.awaitGone();
        assertThat(recorder.lines)
                .hasSize(writers * each)
                .allMatch(line ->
                        line.length() == 10_000 && line.chars().distinct().count() == 1);
    }

    @Test
    void write_aLineEndInside_isRefused() {
        Child child = run("exec cat");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> child.write(utf8("two\nlines")))
                .withMessageContaining("byte 3");
    }

    @Test
    void endOfOutput_ofAChildThatClosesStdoutAndLives_isToldBeforeItsEnd() {
        Child child = run("exec >&-; exec sleep 300");
        Recorder.get(recorder.outputEnded);
        assertThat(child.isAlive()).isTrue();
        assertThat(recorder.ended).isNotDone();
        child.signal(ChildSignal.TERM);
        assertThat(recorder.awaitEnded().signal()).hasValue(15);
    }

    @Test
    void ended_bySignal_tellsWhich() {
        run("kill -9 $$");
        assertThat(recorder.awaitEnded().exitCode()).isEqualTo(137);
        assertThat(recorder.awaitEnded().signal()).hasValue(9);
    }

    @Test
    @Tag("HS-07")
    void ended_withAGrandchildHoldingThePipe_isToldAfterABoundedDrainAndTheGrandchildIsEnded() {
        Ladder patient = new Ladder(Duration.ofSeconds(5), Duration.ofSeconds(4), Duration.ofSeconds(20));
        Child child = run("(trap '' TERM; echo ready; exec sleep 300) & read end; echo $!; exit 4");
        Kit.lines(recorder, 1);
        CompletionStage<Stopped> stopped = child.stop(patient);
        Ended ended = recorder.awaitEnded();
        assertThat(ended.exitCode()).isEqualTo(4);
        long holder = Kit.pidLine(recorder, 1);
        assertThat(Kit.isDead(holder)).isFalse();
        Swept leftovers = Recorder.get(stopped).leftovers();
        assertThat(leftovers.killed()).extracting(ProcessIdentity::pid).containsExactly(holder);
        assertThat(Kit.isDead(holder)).isTrue();
        assertThat(recorder.endedCalls).hasValue(1);
    }

    @Test
    @Tag("HS-12")
    void listener_thatThrows_harmsNobody() {
        Recorder throwing = new Recorder();
        ChildListener listener = new ChildListener() {
            @Override
            public void line(OutputLine line) {
                throwing.line(line);
                throw new IllegalStateException("thrown on purpose by " + line.text());
            }

            @Override
            public void skippedLine(long bytes, SkipReason reason) {}

            @Override
            public void ended(Ended ended) {
                throwing.ended(ended);
                throw new IllegalStateException("thrown on purpose at the end");
            }

            @Override
            public void gone(Stopped stopped) {
                throwing.gone(stopped);
            }
        };
        spawner.spawn(Kit.shell(directory, "echo one; echo two"), listener);
        assertThat(throwing.awaitGone().allDead()).isTrue();
        assertThat(throwing.lines).containsExactly("one", "two");
    }
}
