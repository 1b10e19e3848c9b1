package dev.holdfast.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The least agent there can be, a small C program; compiled where the machine has a compiler. */
final class StubAgent {
    private StubAgent() {}

    /** The program; empty where it cannot be compiled. */
    static Optional<Path> compileIn(Path directory) throws IOException, InterruptedException {
        Path source = directory.resolve("stub.c");
        Path program = directory.resolve("stub");
        try (InputStream text = StubAgent.class.getResourceAsStream("stub.c")) {
            if (text == null) {
                throw new IOException("the resource stub.c is missing");
            }
            Files.copy(text, source);
        }
        Process compiler;
        try {
            compiler = new ProcessBuilder("cc", "-O2", "-o", program.toString(), source.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("cc.log").toFile())
                    .start();
        } catch (IOException noCompiler) {
            return Optional.empty();
        }
        boolean done = compiler.waitFor(60, TimeUnit.SECONDS) && compiler.exitValue() == 0;
        return done ? Optional.of(program) : Optional.empty();
    }
}
