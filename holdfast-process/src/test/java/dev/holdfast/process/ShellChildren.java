package dev.holdfast.process;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests of shell scripts as children, with one spawner and one listener for each test. */
@EnabledOnOs(OS.LINUX)
abstract class ShellChildren {
    @TempDir
    Path directory;

    final Recorder recorder = new Recorder();
    Spawner spawner;

    @BeforeEach
    void open() {
        spawner = Spawner.open(directory.resolve("run"));
    }

    @AfterEach
    void close() {
        spawner.close(Ladder.urgent());
    }

    final Child run(String script, String... arguments) {
        return spawner.spawn(Kit.shell(directory, script, arguments), recorder);
    }
}
