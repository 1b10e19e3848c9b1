package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Lines longer than this JVM's memory, in a JVM of its own whose heap is the bound. */
@EnabledOnOs(OS.LINUX)
@Tag("slow")
class LongLineIT {
    private static final String OF_200_MB = "head -c 200000000 /dev/zero | tr '\\0' x; echo; ";

    @TempDir
    Path directory;

    private List<String> heard(int heapMegabytes, String script) {
        var recorder = new Recorder();
        try (Spawner spawner = Spawner.open(directory.resolve("run"))) {
            var unused = spawner.spawn(
                    ChildSpec.of(
                            List.of(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-Xmx" + heapMegabytes + "m",
                                    "-XX:+UseSerialGC",
                                    "-XX:TieredStopAtLevel=1",
                                    "-cp",
                                    Kit.classPath(),
                                    LongLineHost.class.getName(),
                                    directory.resolve("inner").toString(),
                                    script),
                            directory,
                            Kit.ENVIRONMENT,
                            Kit.MARKER),
                    recorder);
            assertThat(recorder.awaitEnded().exitCode())
                    .as(recorder.awaitEnded().stderrTail())
                    .isZero();
        }
        return recorder.lines;
    }

    @Test
    @Tag("HS-10")
    @Tag("R1")
    void line_of200Megabytes_takesNoMoreMemoryThanTheLimitAndTheChildGoesOn() {
        assertThat(heard(256, "echo before; " + OF_200_MB + "echo between; " + OF_200_MB + "echo after"))
                .containsExactly(
                        "line 6",
                        "skipped 200000000 OVER_LIMIT",
                        "line 7",
                        "skipped 200000000 OVER_LIMIT",
                        "line 5",
                        "ended 0 0");
    }

    @Test
    @Tag("HS-10")
    void line_forWhichThereIsNoMemory_isSkippedWithItsSizeAndTheChildGoesOn() {
        assertThat(heard(48, "head -c 60000000 /dev/zero | tr '\\0' x; echo; echo after"))
                .containsExactly("skipped 60000000 NO_MEMORY", "line 5", "ended 0 0");
    }

    @Test
    @Tag("HS-11")
    @Tag("R1")
    void stderr_of200Megabytes_takesNoMoreMemoryThanItsTail() {
        assertThat(heard(48, "head -c 200000000 /dev/zero | tr '\\0' e >&2; echo after"))
                .containsExactly("line 5", "ended 0 200000000");
    }
}
