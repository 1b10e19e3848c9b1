package dev.holdfast.testkit;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * Everything that the scripted agent's process takes from its machine: clock, randomness, threads, children, its
 * pipes and its end. The one class of the agent that calls these; nothing here decides anything.
 */
final class AgentMachine {
    private final OutputStream stdout = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 16 * 1024);
    private final PrintStream stderr =
            new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    private final InputStream stdin = new FileInputStream(FileDescriptor.in);
    private volatile boolean deafToTerm;

    InputStream stdin() {
        return stdin;
    }

    OutputStream stdout() {
        return stdout;
    }

    void complain(String text) {
        stderr.println(text);
    }

    /** Writes so many bytes of text to stderr, in lines of 100. */
    void floodStderr(long bytes) {
        String line = "e".repeat(99);
        for (long written = 0; written < bytes; written += 100) {
            stderr.println(line);
        }
    }

    String setting(String name) {
        String property = System.getProperty(
                "holdfast." + name.toLowerCase(java.util.Locale.ROOT).replace('_', '.'));
        if (property != null) {
            return property;
        }
        String variable = System.getenv("HOLDFAST_" + name);
        return variable == null ? "" : variable;
    }

    String variable(String name) {
        String value = System.getenv(name);
        return value == null ? "" : value;
    }

    String workingDirectory() {
        String directory = System.getProperty("user.dir");
        return directory == null ? "/" : directory;
    }

    long pid() {
        return ProcessHandle.current().pid();
    }

    String now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
    }

    long millis() {
        return System.nanoTime() / 1_000_000;
    }

    String uuid() {
        return UUID.randomUUID().toString();
    }

    void pause(long millis) {
        try {
            Thread.sleep(Math.max(0, millis));
        } catch (InterruptedException e) {
            throw new IllegalStateException("Nobody interrupts threads of the scripted agent", e);
        }
    }

    /** Waits on a monitor that the caller holds, inside the caller's loop; zero waits without a limit. */
    @SuppressWarnings("WaitNotInLoop")
    void await(Object monitor, long millis) {
        try {
            monitor.wait(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException("Nobody interrupts threads of the scripted agent", e);
        }
    }

    void thread(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs the work on SIGTERM, SIGINT or SIGHUP, unless this process became deaf; then the signal does nothing. */
    void onTerm(Runnable work) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            while (deafToTerm) {
                pause(1_000);
            }
            work.run();
        }));
    }

    /** From now on the polite signals do nothing. */
    void ignoreTerm() {
        deafToTerm = true;
    }

    /** Ends the process at once; nothing is flushed. */
    void end(int code) {
        Runtime.getRuntime().halt(code);
    }

    /** Starts a child that inherits all three pipes and outlives its parent; in a session of its own when asked. */
    long grandchild(boolean ownSession, long seconds) throws IOException {
        String sleep = "exec sleep " + seconds;
        ProcessBuilder builder =
                ownSession ? new ProcessBuilder("setsid", "sh", "-c", sleep) : new ProcessBuilder("sh", "-c", sleep);
        return builder.inheritIO().start().pid();
    }

    /** Runs a shell command to its end and gives what it printed. */
    String shell(String command) throws IOException {
        Process process = new ProcessBuilder("sh", "-c", command)
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
    }

    /** Sends this process a signal from outside, so that it ends the way a killed process ends. */
    void signalSelf(String signal) throws IOException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
                .inheritIO()
                .start();
        pause(60_000);
    }
}
