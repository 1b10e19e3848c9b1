package dev.holdfast.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small shell that outlives this JVM by some seconds when it dies without a word, and ends what the spawner had started
 * with {@link ChildSpec#dieWithHost()}: grandchildren too, in sessions of their own too, which the kernel's death signal
 * does not reach (HS-08). It waits on its stdin; the end of that without a farewell means that the JVM is gone. Then each
 * process whose environment carries the spawner's name gets TERM and CONT at once, and KILL after 4 to 5 s (HS-22). All is
 * over within 10 s. Started with the first child that needs it, and again if it has ended. Owned by the spawn thread.
 */
final class HostGuard {

    /** The environment variable with the spawner's name. */
    static final String VARIABLE = "HOLDFAST_SPAWNER";

    private static final Logger LOG = LoggerFactory.getLogger(HostGuard.class);
    private static final Path SHELL = Path.of("/bin/sh");
    private static final String FAREWELL = "done\n";
    private static final long END_SECONDS = 5;

    /** About five looks a second: TERM to what is new in each; KILL after 4 to 5 s to what had its TERM in an earlier one. */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            name=$1
            while read -r word; do [ "$word" = done ] && exit 0; done
            carriers() {
                grep -lsaF "HOLDFAST_SPAWNER=$name" /proc/[0-9]*/environ |
                    while IFS=/ read -r _ _ pid _; do echo "$pid"; done
            }
            seen=' '
            up() { read -r up _ < /proc/uptime; up=${up%.*}; }
            up
            start=$up
            age=0
            while [ "$age" -lt 9 ]; do
                alive=$(carriers)
                [ -z "$alive" ] && exit 0
                for pid in $alive; do
                    case $seen in
                        *" $pid "*) [ "$age" -ge 5 ] && kill -s KILL "$pid" ;;
                        *) seen="$seen$pid "; kill -s TERM "$pid"; kill -s CONT "$pid" ;;
                    esac
                done
                sleep 0.2
                up
                age=$((up - start))
            done
            exit 1
            """;

    private final String spawnerName;
    private final HostTools tools;
    private volatile @Nullable Process shell;

    HostGuard(String spawnerName, HostTools tools) {
        this.spawnerName = spawnerName;
        this.tools = tools;
    }

    /** Whether this machine has what a guard needs. */
    static boolean isPossible() {
        return LinuxProcessTable.isAvailable()
                && Files.isExecutable(SHELL)
                && Stream.of("grep", "sleep").allMatch(HostGuard::isThere);
    }

    private static boolean isThere(String tool) {
        return HostTools.find(tool, HostTools.usualEnvironment(), Path.of("/")).isPresent();
    }

    /** Sees to it that the guard runs. A guard that cannot be started is logged; the child is started all the same. */
    void ensureRunning() {
        Process current = shell;
        if (current != null && current.isAlive()) {
            return;
        }
        List<String> command = new ArrayList<>();
        tools.setsid().map(Path::toString).ifPresent(command::add);
        command.addAll(List.of(SHELL.toString(), "-c", SCRIPT, "holdfast-guard", spawnerName));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(Path.of("/").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().putAll(HostTools.usualEnvironment());
        try {
            shell = builder.start();
        } catch (IOException e) {
            LOG.warn("no guard: should this JVM be killed, only the next start ends what its children leave", e);
        }
    }

    /** Sends the guard home: the JVM has ended its children itself. */
    void dismiss() {
        Process current = shell;
        if (current == null) {
            return;
        }
        try (OutputStream stdin = current.getOutputStream()) {
            stdin.write(FAREWELL.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            LOG.debug("the guard had ended before", e);
        }
        try {
            if (!current.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                current.toHandle().destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The guard's process, for tests. */
    Optional<ProcessHandle> process() {
        return Optional.ofNullable(shell).map(Process::toHandle);
    }
}
