package dev.holdfast.process;

import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** What the tests with real children share: shell scripts as children, and a look at processes from outside. */
final class Kit {

    static final Map<String, String> ENVIRONMENT = Map.of("PATH", "/usr/local/bin:/usr/bin:/bin");
    static final Marker MARKER = new Marker("store", "session", 3, 7);

    /** Quick, for children that are known to need each step. */
    static final Ladder QUICK = new Ladder(Duration.ofMillis(300), Duration.ofMillis(300), Duration.ofSeconds(20));

    private static final LinuxProcessTable TABLE = new LinuxProcessTable();

    private Kit() {}

    /** The marker of another session of the same store. */
    static Marker marker(String session) {
        return new Marker("store", session, 3, 7);
    }

    /** The same child for another session. */
    static ChildSpec in(String session, ChildSpec spec) {
        return new ChildSpec(
                spec.command(),
                spec.workingDirectory(),
                spec.environment(),
                marker(session),
                spec.lineLimit(),
                spec.stderrTail(),
                spec.inputLimit(),
                spec.dieWithHost());
    }

    /** A child that runs a shell script with arguments {@code $1}, {@code $2}, … */
    static ChildSpec shell(Path directory, String script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(List.of(arguments));
        return ChildSpec.of(command, directory, ENVIRONMENT, MARKER);
    }

    /** For JVMs of the tests' own. */
    static String classPath() {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = System.getProperty("java.class.path", "");
        return String.join(":", absolute("target/classes"), absolute("target/test-classes"), modules, classes);
    }

    private static String absolute(String directory) {
        return Path.of(directory).toAbsolutePath().toString();
    }

    static boolean isDead(long pid) {
        return TABLE.startOf(pid).isEmpty()
                || TABLE.isDead(new ProcessIdentity(pid, TABLE.startOf(pid).orElse(0)));
    }

    static ProcessIdentity identity(long pid) {
        return new ProcessIdentity(pid, TABLE.startOf(pid).orElseThrow());
    }

    static void until(String what, BooleanSupplier condition) {
        await(what)
                .pollInterval(Duration.ofMillis(10))
                .atMost(Recorder.PATIENCE)
                .until(condition::getAsBoolean);
    }

    /** Waits for at least this many lines. */
    static List<String> lines(Recorder recorder, int count) {
        until(count + " lines", () -> recorder.lines.size() >= count);
        return recorder.lines;
    }

    static long pidLine(Recorder recorder, int index) {
        return Long.parseLong(lines(recorder, index + 1).get(index));
    }
}
