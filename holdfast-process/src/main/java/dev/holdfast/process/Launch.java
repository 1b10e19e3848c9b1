package dev.holdfast.process;

import dev.holdfast.process.SpawnFailed.Reason;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A start that was checked as far as it can be before it happens (HS-09): the program exists, everything can be encoded
 * and fits what the system takes.
 *
 * @param command what is started, wrappers included
 * @param environment all of it, marker included
 * @param directory where
 * @param ownSession whether the child gets a session of its own
 * @param guarded whether a guard is to end it and what it leaves when this JVM dies
 * @param diesWithHost whether it gets TERM, from a guard or from the kernel, when this JVM dies
 */
record Launch(
        List<String> command,
        Map<String, String> environment,
        Path directory,
        boolean ownSession,
        boolean guarded,
        boolean diesWithHost) {

    /** Linux refuses a single argument or variable of 32 pages, its NUL included. */
    static final int LONGEST_ARGUMENT = (128 << 10) - 1;

    private static final long POINTER = 8;
    private static final long LARGEST_TOTAL = 6L << 20;
    private static final long LEAST_TOTAL = 128L << 10;
    private static final long USUAL_STACK = 8L << 20;
    /** Room for the auxiliary vector and the program's own name. */
    private static final long SPARE = 8L << 10;

    /**
     * Checks a start.
     *
     * @param guardName the name a guard knows this spawner's children by; absent where there is no guard
     * @throws SpawnFailed if it cannot succeed
     */
    static Launch prepare(ChildSpec spec, HostTools tools, Optional<String> guardName) {
        if (!Files.isDirectory(spec.workingDirectory())) {
            throw new SpawnFailed(
                    Reason.WORKING_DIRECTORY,
                    "cannot start " + program(spec) + " in " + spec.workingDirectory()
                            + ": there is no such directory; create it or name another");
        }
        Map<String, String> environment = new TreeMap<>(spec.environment());
        environment.put(Marker.VARIABLE, spec.marker().encoded());
        boolean guarded = spec.dieWithHost() && guardName.isPresent();
        if (guarded) {
            environment.put(HostGuard.VARIABLE, guardName.get());
        }

        List<String> command = new ArrayList<>(spec.command());
        command.set(0, resolve(spec).toString());
        List<String> wrapped = tools.wrap(command, spec.dieWithHost());
        checkEncodable(spec, environment);
        checkLengths(spec, wrapped, environment);
        return new Launch(
                wrapped,
                environment,
                spec.workingDirectory(),
                tools.setsid().isPresent(),
                guarded,
                guarded || (spec.dieWithHost() && tools.setpriv().isPresent()));
    }

    private static String program(ChildSpec spec) {
        return '"' + spec.command().getFirst() + '"';
    }

    private static Path resolve(ChildSpec spec) {
        String name = spec.command().getFirst();
        Path program = HostTools.find(
                        name, spec.environment(), spec.workingDirectory().toAbsolutePath())
                .orElseThrow(() -> new SpawnFailed(
                        Reason.NOT_FOUND,
                        "cannot start " + program(spec) + ": "
                                + (name.indexOf('/') >= 0
                                        ? "there is no such file"
                                        : "it is in no directory of PATH "
                                                + spec.environment().getOrDefault("PATH", "(unset)"))
                                + "; install it or name its full path"));
        if (!Files.isRegularFile(program) || !Files.isExecutable(program)) {
            throw new SpawnFailed(
                    Reason.NOT_EXECUTABLE,
                    "cannot start " + program(spec) + ": " + program
                            + " is not an executable file; name another or make it executable");
        }
        return program;
    }

    /** The JDK writes '?' for what the native encoding lacks; a prompt or path that is changed so is refused. */
    private static void checkEncodable(ChildSpec spec, Map<String, String> environment) {
        Charset charset = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
        if (charset.equals(StandardCharsets.UTF_8)) {
            return;
        }
        String fix = " cannot be expressed in " + charset + "; start this JVM under a UTF-8 locale, such as C.UTF-8";
        for (int i = 0; i < spec.command().size(); i++) {
            if (!charset.newEncoder().canEncode(spec.command().get(i))) {
                throw new SpawnFailed(
                        Reason.NOT_ENCODABLE, "cannot start " + program(spec) + ": " + argument(spec, i) + fix);
            }
        }
        environment.forEach((name, value) -> {
            if (!charset.newEncoder().canEncode(name + value)) {
                throw new SpawnFailed(
                        Reason.NOT_ENCODABLE, "cannot start " + program(spec) + ": variable " + name + fix);
            }
        });
    }

    private static void checkLengths(ChildSpec spec, List<String> wrapped, Map<String, String> environment) {
        if (!LinuxProcessTable.isAvailable()) {
            return;
        }
        long total = SPARE;
        for (int i = 0; i < spec.command().size(); i++) {
            checkLength(spec, argument(spec, i), bytes(spec.command().get(i)));
        }
        for (String argument : wrapped) {
            total += bytes(argument) + 1 + POINTER;
        }
        for (Map.Entry<String, String> variable : environment.entrySet()) {
            long length = bytes(variable.getKey()) + 1 + bytes(variable.getValue());
            checkLength(spec, "variable " + variable.getKey(), length);
            total += length + 1 + POINTER;
        }
        long allowed = largestTotal();
        if (total > allowed) {
            throw new SpawnFailed(
                    Reason.ARGUMENT_TOO_LONG,
                    "cannot start " + program(spec) + ": its arguments and variables come to " + total
                            + " bytes, the system takes " + allowed + "; pass the large ones by stdin or file");
        }
    }

    private static void checkLength(ChildSpec spec, String what, long length) {
        if (length > LONGEST_ARGUMENT) {
            throw new SpawnFailed(
                    Reason.ARGUMENT_TOO_LONG,
                    "cannot start " + program(spec) + ": " + what + " has " + length + " bytes, the system takes "
                            + LONGEST_ARGUMENT + "; pass it by stdin or file");
        }
    }

    /** Names an argument without showing a value: values may be secret. */
    private static String argument(ChildSpec spec, int index) {
        String own = flag(spec.command().get(index));
        String before = index > 1 ? flag(spec.command().get(index - 1)) : "";
        String name = own.isEmpty() ? (before.isEmpty() ? "" : " (after " + before + ")") : " (" + own + ")";
        return "argument " + index + name;
    }

    private static String flag(String argument) {
        int end = argument.indexOf('=');
        String name = end < 0 ? argument : argument.substring(0, end);
        return name.startsWith("-") && name.length() <= 64 && name.indexOf(' ') < 0 ? name : "";
    }

    private static long bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** A quarter of the stack limit, at most 6 MiB: what the kernel takes for arguments and environment together. */
    static long largestTotal() {
        long stack = USUAL_STACK;
        try (FileInputStream in = new FileInputStream(new File("/proc/self/limits"))) {
            String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            for (String line : text.split("\n", -1)) {
                if (line.startsWith("Max stack size")) {
                    String soft =
                            line.substring("Max stack size".length()).strip().split("\\s+", -1)[0];
                    stack = soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
                }
            }
        } catch (IOException | NumberFormatException e) {
            stack = USUAL_STACK;
        }
        return Math.max(LEAST_TOTAL, Math.min(LARGEST_TOTAL, stack / 4));
    }
}
