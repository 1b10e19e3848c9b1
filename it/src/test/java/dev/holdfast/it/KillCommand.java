package dev.holdfast.it;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * How a {@link KillLoopMain} is started: with an AOT cache trained by a life of its own, which halves what a start costs.
 * Without one, where the JVM cannot make it, everything works, only slower.
 */
final class KillCommand {
    private static final Duration TRAINING = Duration.ofSeconds(60);

    private final String classPath;
    private final Path cache;

    private KillCommand(String classPath, Path cache) {
        this.classPath = classPath;
        this.cache = cache;
    }

    /** Trains a cache; {@code work} is where it and its jars are written, and stay. */
    static KillCommand trained(Path work) throws IOException {
        var jars = new ArrayList<String>();
        for (var entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            jars.add(Files.isDirectory(Path.of(entry)) ? jar(Path.of(entry), work, jars.size()) : entry);
        }
        var command = new KillCommand(String.join(File.pathSeparator, jars), work.resolve("lives.aot"));
        command.train(Files.createDirectory(work.resolve("training")));
        return command;
    }

    /** A cache is for jars only. */
    private static String jar(Path directory, Path work, int number) throws IOException {
        var jar = work.resolve("classes-" + number + ".jar");
        try (var zip = new ZipOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(directory)) {
            for (var file : files.filter(Files::isRegularFile).sorted().toList()) {
                var name = directory.relativize(file).toString();
                if (!name.equals("module-info.class")) {
                    zip.putNextEntry(new ZipEntry(name));
                    zip.write(Files.readAllBytes(file));
                }
            }
        }
        return jar.toString();
    }

    private void train(Path work) throws IOException {
        var store = work.resolve("store").toString();
        var process = start("-XX:AOTCacheOutput=" + cache, store, KillMistake.NONE, work);
        try (var out = process.inputReader(StandardCharsets.UTF_8)) {
            try (var orders = process.getOutputStream()) { // whose end is the end of the life
                orders.write("train 0 0 0 0 0 0 0 0\n".getBytes(StandardCharsets.UTF_8));
                orders.flush();
                readLines(out, 200);
            }
            readLines(out, Long.MAX_VALUE);
            if (!process.waitFor(TRAINING)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static void readLines(BufferedReader out, long most) throws IOException {
        long read = 0;
        while (read < most && out.readLine() != null) {
            read++;
        }
    }

    /** A life on that store; its logs go to {@code work}. */
    Process start(String store, KillMistake mistake, Path work) throws IOException {
        return start(Files.exists(cache) ? "-XX:AOTCache=" + cache : "-Xshare:auto", store, mistake, work);
    }

    private Process start(String cached, String store, KillMistake mistake, Path work) throws IOException {
        var home = Files.createDirectories(work.resolve("home"));
        var builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        cached,
                        "-Xlog:disable", // its place is where a life speaks
                        "-Xmx96m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
                        "-cp",
                        classPath,
                        KillLoopMain.class.getName(),
                        store,
                        home.toString(),
                        mistake.option()))
                .redirectError(ProcessBuilder.Redirect.appendTo(
                        work.resolve("stderr.txt").toFile()));
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "LANG", "C.UTF-8", "HOME", home.toString()));
        return builder.start();
    }
}
