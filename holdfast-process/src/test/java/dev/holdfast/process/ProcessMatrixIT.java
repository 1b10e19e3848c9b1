package dev.holdfast.process;

import static dev.holdfast.process.StopStep.Kind.CONTINUED;
import static dev.holdfast.process.StopStep.Kind.EXITED;
import static dev.holdfast.process.StopStep.Kind.INPUT_CLOSED;
import static dev.holdfast.process.StopStep.Kind.KILLED;
import static dev.holdfast.process.StopStep.Kind.TERMINATED;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every way a child misbehaves, with every way it comes to its end: nothing is left and nobody else is disturbed. */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class ProcessMatrixIT {
    private static final Duration NOT_NEEDED = Duration.ofSeconds(50);
    private static final Duration IN_VAIN = Duration.ofMillis(100);
    private static final AtomicInteger SESSIONS = new AtomicInteger();

    /** The step of the ladder that ends a child. */
    enum EndsBy {
        ITSELF,
        INPUT,
        TERM,
        KILL;

        /** Patient where the child is expected to end, so that no slow machine goes a step too far. */
        Ladder ladder() {
            return switch (this) {
                case ITSELF, INPUT -> new Ladder(NOT_NEEDED, IN_VAIN, NOT_NEEDED);
                case TERM -> new Ladder(IN_VAIN, NOT_NEEDED, NOT_NEEDED);
                case KILL -> new Ladder(IN_VAIN, IN_VAIN, NOT_NEEDED);
            };
        }
    }

    /** Shell scripts: each prints the pids of what it starts and then {@code ready}. */
    enum Kind {
        IGNORES_TERM(EndsBy.KILL, 137, "trap '' TERM; echo ready; while :; do sleep 0.05; done"),
        IGNORES_EVERY_SIGNAL_IT_CAN(
                EndsBy.KILL, 137, "trap '' HUP INT QUIT PIPE TERM; echo ready; while :; do sleep 0.05; done"),
        IS_STOPPED(EndsBy.TERM, 143, "echo ready; kill -STOP $$; exec sleep 300"),
        HAS_GRANDCHILDREN_THAT_HOLD_THE_PIPES(
                EndsBy.INPUT, 0, "sleep 300 & echo $!; (trap '' TERM; exec sleep 300) & echo $!; echo ready; cat"),
        HAS_A_GRANDCHILD_IN_A_SESSION_OF_ITS_OWN(
                EndsBy.INPUT, 0, "setsid sleep 300 & echo $!; (setsid sleep 300 & echo $!); echo ready; cat"),
        KEEPS_ZOMBIES(EndsBy.TERM, 143, "true & echo $!; echo ready; exec sleep 300"),
        NEVER_READS(EndsBy.TERM, 143, "echo ready; exec sleep 300"),
        CLOSES_STDIN_AND_LIVES(EndsBy.TERM, 143, "exec <&-; echo ready; exec sleep 300"),
        CLOSES_STDOUT_AND_LIVES(EndsBy.TERM, 143, "echo ready; exec >&-; exec sleep 300"),
        CLOSES_ALL_PIPES_AND_LIVES(EndsBy.TERM, 143, "echo ready; exec <&- >&- 2>&-; exec sleep 300"),
        FLOODS_STDERR(EndsBy.TERM, 143, "echo ready; exec yes oops >&2"),
        FLOODS_STDOUT(EndsBy.TERM, 143, "echo ready; exec yes"),
        FLOODS_STDOUT_WITHOUT_A_LINE_END(EndsBy.TERM, 143, "echo ready; exec cat /dev/zero"),
        EXITS_0_WITHOUT_A_RESULT(EndsBy.ITSELF, 0, "echo ready; read line; exit 0"),
        GIVES_A_RESULT_THEN_HANGS(EndsBy.TERM, 143, "echo ready; read line; echo result; exec sleep 300"),
        STOPS_IN_MID_LINE(EndsBy.TERM, 143, "echo ready; read line; printf '{\"type\":'; exec sleep 300"),
        ENDS_WITH_ITS_INPUT(EndsBy.INPUT, 7, "echo ready; cat; exit 7");

        final EndsBy endsBy;
        final int exitCode;
        final String script;

        Kind(EndsBy endsBy, int exitCode, String script) {
            this.endsBy = endsBy;
            this.exitCode = exitCode;
            this.script = script;
        }
    }

    /** How the end comes. */
    enum End {
        LADDER,
        LADDER_IN_A_HURRY,
        KILLED_BY_SOMEBODY,
        HOST_CLOSES
    }

    private static Stream<Arguments> matrix() {
        return Arrays.stream(Kind.values())
                .flatMap(child -> Arrays.stream(End.values()).map(end -> Arguments.of(child, end)));
    }

    /** Keeps the first lines and counts the rest, for children that flood. */
    private static final class Ear implements ChildListener {
        private static final int KEPT = 64;
        final List<String> lines = new CopyOnWriteArrayList<>();
        final List<StopStep.Kind> steps = new CopyOnWriteArrayList<>();
        final AtomicInteger ends = new AtomicInteger();
        final AtomicInteger afterTheEnd = new AtomicInteger();
        final CompletableFuture<Ended> ended = new CompletableFuture<>();
        final CompletableFuture<Stopped> gone = new CompletableFuture<>();

        @Override
        public void line(OutputLine line) {
            if (ended.isDone()) {
                afterTheEnd.incrementAndGet();
            }
            if (lines.size() < KEPT) {
                lines.add(line.text());
            }
        }

        @Override
        public void skippedLine(long bytes, SkipReason reason) {}

        @Override
        public void step(StopStep step) {
            steps.add(step.kind());
        }

        @Override
        public void ended(Ended how) {
            ends.incrementAndGet();
            ended.complete(how);
        }

        @Override
        public void gone(Stopped stopped) {
            gone.complete(stopped);
        }
    }

    @TempDir
    Path directory;

    /** Each test has sessions of its own: whatever carries the marker of an ended child is ended with it. */
    private final String session = "matrix" + SESSIONS.incrementAndGet();

    private final Ear ear = new Ear();
    private final Recorder bystander = new Recorder();
    private Spawner spawner;
    private Spawner neighbours;

    @BeforeEach
    void open() {
        spawner = Spawner.open(directory.resolve("run"));
        neighbours = Spawner.open(directory.resolve("neighbours"));
    }

    @AfterEach
    void close() {
        spawner.close(Ladder.urgent());
        neighbours.close(Ladder.urgent());
    }

    private ChildSpec shell(String script, String... arguments) {
        return Kit.in(session, Kit.shell(directory, script, arguments));
    }

    private List<Long> family() {
        Kit.until("ready", () -> ear.lines.contains("ready"));
        return ear.lines.subList(0, ear.lines.indexOf("ready")).stream()
                .map(Long::parseLong)
                .toList();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("matrix")
    @Tag("HS-07")
    @Tag("HS-08")
    @Tag("HS-11")
    @Tag("HS-13")
    @Tag("HS-22")
    void child_inEveryWayItMisbehaves_isGoneWithAllItStartedAndDisturbsNobody(Kind kind, End end) {
        var child = spawner.spawn(shell(kind.script).withLineLimit(1 << 20), ear);
        var other = neighbours.spawn(Kit.in(session + "-neighbour", Kit.shell(directory, "exec cat")), bystander);
        List<Long> family = family();
        List<CompletionStage<Void>> writes = List.of(child.write(utf8("turn")), child.write(new byte[900_000]));
        if (kind == Kind.GIVES_A_RESULT_THEN_HANGS) {
            Kit.until("its result", () -> ear.lines.contains("result"));
        }
        Recorder.get(other.write(utf8("served")));
        assertThat(Kit.lines(bystander, 1)).containsExactly("served");

        switch (end) {
            case LADDER -> child.stop(kind.endsBy.ladder());
            case LADDER_IN_A_HURRY -> child.stop(new Ladder(Duration.ZERO, IN_VAIN, NOT_NEEDED));
            case KILLED_BY_SOMEBODY -> child.signal(ChildSignal.KILL);
            case HOST_CLOSES -> spawner.close(kind.endsBy.ladder());
        }
        Stopped stopped = Recorder.get(ear.gone);
        assertThat(stopped.allDead()).isTrue();
        assertThat(child.isAlive()).isFalse();
        assertThat(family).allMatch(Kit::isDead);
        assertThat(ear.ends).hasValue(1);
        assertThat(ear.afterTheEnd).hasValue(0);
        assertThat(directory.resolve("run")).isEmptyDirectory();
        Kit.until(
                "every write has an answer",
                () -> writes.stream()
                        .allMatch(write -> write.toCompletableFuture().isDone()));
        Kit.until("its threads have ended", () -> threadsOf(child.pid()).isEmpty());

        assertThat(other.isAlive()).isTrue();
        Recorder.get(other.write(utf8("still served")));
        assertThat(Kit.lines(bystander, 2)).endsWith("still served");
        assertSteps(kind, end, stopped.ended().orElseThrow());
    }

    private void assertSteps(Kind kind, End end, Ended ended) {
        if (ear.steps.contains(KILLED)) {
            assertThat(ear.steps).containsSubsequence(TERMINATED, CONTINUED, KILLED);
        }
        if (end == End.KILLED_BY_SOMEBODY && kind.endsBy != EndsBy.ITSELF) {
            assertThat(ended.signal()).hasValue(9);
            assertThat(ear.steps).doesNotContain(INPUT_CLOSED, TERMINATED, KILLED);
        }
        if (end != End.LADDER && end != End.HOST_CLOSES) {
            return;
        }
        assertThat(ended.exitCode()).isEqualTo(kind.exitCode);
        switch (kind.endsBy) {
            case ITSELF -> assertThat(ear.steps).contains(EXITED).doesNotContain(TERMINATED, KILLED);
            case INPUT -> assertThat(ear.steps).startsWith(INPUT_CLOSED, EXITED).doesNotContain(TERMINATED, KILLED);
            case TERM ->
                assertThat(ear.steps)
                        .startsWith(INPUT_CLOSED, TERMINATED, CONTINUED)
                        .doesNotContain(KILLED);
            case KILL -> assertThat(ear.steps).startsWith(INPUT_CLOSED, TERMINATED, CONTINUED, KILLED);
        }
    }

    private List<String> threadsOf(long pid) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.contains("-" + session + "-" + pid + "-"))
                .toList();
    }

    // ---- lines at the bounds

    /** Sizes around a pipe's capacity, around a read, and around the limit of a line. */
    enum Size {
        BELOW_64_KIB((64 << 10) - 1),
        EXACTLY_64_KIB(64 << 10),
        ABOVE_64_KIB((64 << 10) + 1),
        EXACTLY_64_MIB(64 << 20),
        ABOVE_64_MIB((64 << 20) + 1);

        final int bytes;

        Size(int bytes) {
            this.bytes = bytes;
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @EnumSource(Size.class)
    @Tag("HS-10")
    void line_aroundEveryBound_isWholeUpTo64MiBAndSkippedWithItsSizeAbove(Size size) {
        var recorder = new Recorder();
        spawner.spawn(shell("head -c $1 /dev/zero | tr '\\0' x; echo; echo after", "" + size.bytes), recorder);
        recorder.awaitGone();
        if (size.bytes > ChildSpec.DEFAULT_LINE_LIMIT) {
            assertThat(recorder.skipped).containsExactly((long) size.bytes);
            assertThat(recorder.lines).containsExactly("after");
            return;
        }
        assertThat(recorder.skipped).isEmpty();
        assertThat(recorder.rawLines).extracting(OutputLine::bytes).containsExactly(size.bytes, 5);
        assertThat(recorder.lines.getFirst().chars().allMatch(c -> c == 'x')).isTrue();
        assertThat(recorder.lines.getFirst()).hasSize(size.bytes);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @EnumSource(value = Size.class, mode = EnumSource.Mode.EXCLUDE, names = "ABOVE_64_MIB")
    @Tag("HS-12")
    void write_aroundEveryBound_comesBackWhole(Size size) {
        var recorder = new Recorder();
        var child = spawner.spawn(shell("exec cat"), recorder);
        byte[] line = new byte[size.bytes];
        Arrays.fill(line, (byte) 'x');
        Recorder.get(child.write(line));
        Recorder.get(child.stop(EndsBy.INPUT.ladder()));
        assertThat(recorder.rawLines).extracting(OutputLine::bytes).containsExactly(size.bytes);
        assertThat(recorder.lines.getFirst().chars().allMatch(c -> c == 'x')).isTrue();
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @EnumSource(InvalidUtf8.class)
    @Tag("HS-10")
    void line_withInvalidUtf8_isReadWithTheBadPartsReplacedAndCounted(InvalidUtf8 bad) {
        var recorder = new Recorder();
        spawner.spawn(shell("printf '" + bad.octal + "'; echo; echo 'sound ä'"), recorder);
        recorder.awaitGone();
        assertThat(recorder.rawLines.getFirst()).isEqualTo(new OutputLine(bad.text, bad.bytes, bad.replaced));
        assertThat(recorder.rawLines.getLast()).isEqualTo(new OutputLine("sound ä", 8, 0));
        assertThat(recorder.awaitEnded().signal()).isEqualTo(OptionalInt.empty());
    }

    enum InvalidUtf8 {
        A_BYTE_THAT_NEVER_OCCURS("a\\377b", "a\uFFFDb", 3, 1),
        A_CHARACTER_CUT_BY_THE_LINE_END("a\\346\\274", "a\uFFFD", 3, 1),
        A_CHARACTER_CUT_BY_ANOTHER("\\303(", "\uFFFD(", 2, 1),
        A_TAIL_WITHOUT_A_HEAD("\\200\\200", "\uFFFD\uFFFD", 2, 2),
        AN_OVERLONG_SLASH("\\300\\257", "\uFFFD\uFFFD", 2, 2),
        HALF_A_SURROGATE_PAIR("\\355\\240\\200", "\uFFFD", 3, 1),
        THE_REPLACEMENT_CHARACTER_ITSELF("\\357\\277\\275", "\uFFFD", 3, 0);

        final String octal;
        final String text;
        final int bytes;
        final int replaced;

        InvalidUtf8(String octal, String text, int bytes, int replaced) {
            this.octal = octal;
            this.text = text;
            this.bytes = bytes;
            this.replaced = replaced;
        }
    }
}
