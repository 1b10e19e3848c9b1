package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildIT {

    @TempDir
    Path directory;

    @Test
    void spawn_cat_echoesAndEndsOnStop() {
        Recorder recorder = new Recorder();
        try (Spawner spawner = Spawner.open(directory.resolve("run"))) {
            Child child = spawner.spawn(
                    ChildSpec.of(
                            List.of("cat"),
                            directory,
                            java.util.Map.of("PATH", "/usr/bin:/bin"),
                            new Marker("s", "t", 1, 1)),
                    recorder);
            Recorder.get(child.write("hällo".getBytes(StandardCharsets.UTF_8)));
            Stopped stopped = Recorder.get(child.stop(Ladder.standard()));
            assertThat(stopped.allDead()).isTrue();
            assertThat(recorder.lines).containsExactly("hällo");
            assertThat(recorder.order).containsExactly("line", "endOfOutput", "ended", "gone");
            assertThat(recorder.awaitEnded().exitCode()).isZero();
            assertThat(directory.resolve("run")).isEmptyDirectory();
        }
    }
}
