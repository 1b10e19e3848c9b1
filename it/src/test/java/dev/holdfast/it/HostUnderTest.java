package dev.holdfast.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A running {@link HostMain}, as the test sees it. Closing kills it. */
final class HostUnderTest implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** {@code -Dholdfast.it.trace=true} shows what the hosts say while they say it. */
    private static final boolean TRACED = Boolean.getBoolean("holdfast.it.trace");

    private final Process process;
    private final Writer commands;
    private final List<List<String>> lines = new ArrayList<>();
    private boolean ended;

    HostUnderTest(Path data, Path home, Path program, String url) {
        this(data, home, program, url, List.of());
    }

    /** @param guarded as the further arguments of {@link HostMain} */
    HostUnderTest(Path data, Path home, Path program, String url, List<String> guarded) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "--enable-native-access=ALL-UNNAMED",
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
                "-cp",
                System.getProperty("java.class.path"),
                HostMain.class.getName(),
                data.toString(),
                program.toString(),
                url));
        command.addAll(guarded);
        var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().clear();
        builder.environment().putAll(Map.of("HOME", home.toString(), "PATH", "/usr/bin:/bin", "LANG", "C.UTF-8"));
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("host-lines").start(this::read);
        await("ready");
    }

    private void read() {
        try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                take(HostMain.fields(line));
            }
        } catch (IOException killed) {
            // The end of its output, like any other.
        }
        synchronized (lines) {
            ended = true;
            lines.notifyAll();
        }
    }

    private void take(List<String> line) {
        if (TRACED) {
            System.err.println(java.time.Instant.now() + " " + String.join(" | ", line));
        }
        synchronized (lines) {
            lines.add(line);
            lines.notifyAll();
        }
    }

    void command(String... fields) {
        try {
            commands.write(String.join(
                            "\t", List.of(fields).stream().map(HostMain::escape).toList())
                    + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("the host under test is gone; it said " + tail(), e);
        }
    }

    /** How many lines there are now; a place to wait from. */
    int mark() {
        synchronized (lines) {
            return lines.size();
        }
    }

    /** The first line that begins with these fields. */
    List<String> await(String... beginning) {
        return await(0, String.join(" ", beginning), line -> begins(line, List.of(beginning)));
    }

    List<String> awaitFrom(int mark, String... beginning) {
        return await(mark, String.join(" ", beginning), line -> begins(line, List.of(beginning)));
    }

    /** The committed event of this type whose body contains the text. */
    List<String> awaitEvent(String type, String part) {
        return await(
                0,
                "event " + type + " with " + part,
                line -> line.getFirst().equals("event")
                        && line.get(1).equals(type)
                        && line.get(3).contains(part));
    }

    private static boolean begins(List<String> line, List<String> beginning) {
        return line.size() >= beginning.size()
                && line.subList(0, beginning.size()).equals(beginning);
    }

    private List<String> await(int mark, String what, Predicate<List<String>> wanted) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        synchronized (lines) {
            for (int at = mark; ; at++) {
                while (at >= lines.size()) {
                    long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                    if (ended || left <= 0) {
                        throw new AssertionError(
                                "the host " + (ended ? "ended" : "waited in vain") + " before: " + what + tail());
                    }
                    pause(left);
                }
                if (wanted.test(lines.get(at))) {
                    return lines.get(at);
                }
            }
        }
    }

    private void pause(long millis) {
        try {
            lines.wait(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    List<List<String>> lines() {
        synchronized (lines) {
            return List.copyOf(lines);
        }
    }

    String tail() {
        var all = lines();
        var text = new StringBuilder();
        for (List<String> line : all.subList(Math.max(0, all.size() - 40), all.size())) {
            text.append("\n  ").append(String.join(" | ", line));
        }
        return text.toString();
    }

    /** The agent's process of the newest incarnation. */
    ProcessHandle agent() {
        var started = await("started");
        for (List<String> line : lines()) {
            started = line.getFirst().equals("started") ? line : started;
        }
        return ProcessHandle.of(Long.parseLong(started.get(1)))
                .orElseThrow(() -> new AssertionError("the agent is gone already" + tail()));
    }

    /** SIGKILL; returns when it is gone. */
    void kill() {
        process.destroyForcibly();
        awaitExit();
    }

    private int awaitExit() {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the host does not end" + tail());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** An orderly end. */
    int end() {
        command("close");
        return awaitExit();
    }

    @Override
    public void close() {
        kill();
    }
}
