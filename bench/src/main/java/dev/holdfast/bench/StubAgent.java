package dev.holdfast.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The least agent there can be, a small C program; compiled where the machine has a compiler. */
final class StubAgent {
    private StubAgent() {}

    /** The program; empty where it cannot be compiled. */
    static Optional<Path> compileIn(Path directory) throws IOException, InterruptedException {
        Path source = resource("stub.c", directory);
        Path program = directory.resolve("stub");
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

    /** A file that lies beside these classes, copied into the directory. */
    static Path resource(String name, Path directory) throws IOException {
        Path file = directory.resolve(name);
        try (InputStream text = StubAgent.class.getResourceAsStream(name)) {
            if (text == null) {
                throw new IOException("the resource " + name + " is missing");
            }
            Files.copy(text, file, StandardCopyOption.REPLACE_EXISTING);
        }
        return file;
    }
}
