package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * What to start and how to treat it. Immutable. {@link #of} gives the usual bounds; the {@code with} methods change one.
 *
 * @param command the program and its arguments, never a shell line; a bare program name is looked for in the
 *     {@code PATH} of {@code environment}
 * @param workingDirectory an existing directory
 * @param environment the child's whole environment apart from the marker; nothing of this JVM's is added (HS-09)
 * @param marker whose child it is (HS-21); no two children of a spawner have the same at a time
 * @param lineLimit the longest line of stdout in bytes; a longer one is skipped (HS-10)
 * @param stderrTail how many bytes of the end of stderr are kept (HS-11)
 * @param inputLimit how many bytes may wait to be written to stdin, for ordinary lines and for urgent ones each (HS-11)
 * @param dieWithHost whether the child is to be sent TERM when this JVM dies, where the system can do that (HS-08,
 *     HS-22); {@link Child#diesWithHost()} tells whether it is so
 */
public record ChildSpec(
        List<String> command,
        Path workingDirectory,
        Map<String, String> environment,
        Marker marker,
        int lineLimit,
        int stderrTail,
        int inputLimit,
        boolean dieWithHost) {

    /** 64 MiB. */
    public static final int DEFAULT_LINE_LIMIT = 64 << 20;

    /** 64 KiB. */
    public static final int DEFAULT_STDERR_TAIL = 64 << 10;

    /** 64 MiB. */
    public static final int DEFAULT_INPUT_LIMIT = 64 << 20;

    private static final int LARGEST = 1 << 30;

    /** @throws IllegalArgumentException if a part is empty, out of bounds or holds a NUL character */
    public ChildSpec {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        Objects.requireNonNull(workingDirectory, "workingDirectory");
        Objects.requireNonNull(marker, "marker");
        if (command.isEmpty() || command.getFirst().isEmpty()) {
            throw new IllegalArgumentException("the command is empty; name a program");
        }
        for (int i = 0; i < command.size(); i++) {
            if (command.get(i).indexOf('\0') >= 0) {
                throw new IllegalArgumentException("argument " + i + " holds a NUL character; remove it");
            }
        }
        environment.forEach(ChildSpec::checkVariable);
        checkBound("lineLimit", lineLimit, 1);
        checkBound("stderrTail", stderrTail, 0);
        checkBound("inputLimit", inputLimit, 1);
    }

    private static void checkVariable(String name, String value) {
        if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0 || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "environment variable \"" + name + "\" is malformed; no empty name, no '=' in it, no NUL");
        }
        if (name.equals(Marker.VARIABLE) || name.equals(HostGuard.VARIABLE)) {
            throw new IllegalArgumentException(name + " is set by the spawner; leave it out");
        }
    }

    private static void checkBound(String what, int value, int least) {
        if (value < least || value > LARGEST) {
            throw new IllegalArgumentException(what + " is " + value + " bytes; give " + least + " to " + LARGEST);
        }
    }

    /** A child with the default bounds that dies with its host where the system can do that. */
    public static ChildSpec of(
            List<String> command, Path workingDirectory, Map<String, String> environment, Marker marker) {
        return new ChildSpec(
                command,
                workingDirectory,
                environment,
                marker,
                DEFAULT_LINE_LIMIT,
                DEFAULT_STDERR_TAIL,
                DEFAULT_INPUT_LIMIT,
                true);
    }

    /** The same with another line limit, in bytes. */
    public ChildSpec withLineLimit(int bytes) {
        return new ChildSpec(
                command, workingDirectory, environment, marker, bytes, stderrTail, inputLimit, dieWithHost);
    }

    /** The same with another length of the kept end of stderr, in bytes. */
    public ChildSpec withStderrTail(int bytes) {
        return new ChildSpec(command, workingDirectory, environment, marker, lineLimit, bytes, inputLimit, dieWithHost);
    }

    /** The same with another bound of the stdin queue, in bytes. */
    public ChildSpec withInputLimit(int bytes) {
        return new ChildSpec(command, workingDirectory, environment, marker, lineLimit, stderrTail, bytes, dieWithHost);
    }

    /** The same, bound to the host's life or not. */
    public ChildSpec withDieWithHost(boolean bound) {
        return new ChildSpec(command, workingDirectory, environment, marker, lineLimit, stderrTail, inputLimit, bound);
    }

    /** Names the program and the variables; arguments and values may be secret and do not appear. */
    @Override
    public String toString() {
        return "ChildSpec[" + command.getFirst() + " with " + (command.size() - 1) + " arguments in "
                + workingDirectory + ", marker " + marker.encoded() + ", variables "
                + new TreeSet<>(environment.keySet()) + "]";
    }
}
