package dev.holdfast.cli;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command, or a program of the tests, as a process of its own. Closing kills it. */
final class Command implements AutoCloseable {
    private final Process process;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<Thread> readers = new ArrayList<>();

    Command(Path data, String... arguments) throws IOException {
        this(data, Main.class, arguments);
    }

    /** Another program of the tests. */
    Command(Path data, Class<?> program, String... arguments) throws IOException {
        var command = new ArrayList<String>();
        // A shell that runs a check in the background has it ignore ^C, and so would every child of it.
        command.addAll(List.of("/usr/bin/env", "--default-signal=INT"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(),
                program.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of(
                        "HOME",
                        data.resolve("home").toString(),
                        "HOLDFAST_DATA",
                        data.toString(),
                        "PATH",
                        "/usr/bin:/bin",
                        "LC_ALL",
                        "C.UTF-8"));
        process = builder.start();
        read(process.getInputStream(), out);
        read(process.getErrorStream(), err);
    }

    /** Modules or not: everything this test runs with. */
    private static String classPath() {
        return Stream.of("jdk.module.path", "java.class.path", "surefire.test.class.path")
                .map(name -> System.getProperty(name, ""))
                .filter(path -> !path.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private void read(java.io.InputStream from, ByteArrayOutputStream into) {
        readers.add(Thread.ofPlatform().daemon().name("command-output").start(() -> {
            try (from) {
                from.transferTo(into);
            } catch (IOException killed) {
                // the end of its output, like any other
            }
        }));
    }

    String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    long pid() {
        return process.pid();
    }

    void type(String line) throws IOException {
        OutputStream in = process.getOutputStream();
        in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        in.flush();
    }

    /** The end of what is typed, as Ctrl-D says it. */
    void leave() throws IOException {
        process.getOutputStream().close();
    }

    void interrupt() throws Exception {
        new ProcessBuilder("/bin/kill", "-INT", Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** The exit code, with all output read. */
    int exit() throws InterruptedException {
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new AssertionError("the command does not end; it said " + out() + err());
        }
        for (Thread reader : readers) {
            reader.join(10_000);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
