package dev.holdfast.process;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The small programs of util-linux that a child is started through where they exist; both replace themselves by the
 * child, so its pid is that of the start.
 *
 * @param setsid puts the child into a session of its own: a Ctrl-C at the terminal does not reach it, and what it starts
 *     can be told by the session even when it dropped its environment and its parent
 * @param setpriv has the kernel send TERM to the child when the spawning thread ends (HS-08, HS-22)
 */
record HostTools(Optional<Path> setsid, Optional<Path> setpriv) {

    private static final String USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

    /** What a system program is run with. */
    static Map<String, String> usualEnvironment() {
        return Map.of("PATH", USUAL_PATH, "LC_ALL", "C");
    }

    /** None of them: children are started bare. */
    static HostTools none() {
        return new HostTools(Optional.empty(), Optional.empty());
    }

    /** Looks for them on this JVM's PATH and tries each once; the variants of some systems lack what is needed. */
    static HostTools find() {
        if (!LinuxProcessTable.isAvailable()) {
            return none();
        }
        Map<String, String> environment = System.getenv();
        Optional<Path> nothing = find("true", environment, Path.of("/"));
        Optional<Path> setsid = find("setsid", environment, Path.of("/"))
                .filter(tool -> nothing.isPresent()
                        && works(List.of(tool.toString(), nothing.get().toString())));
        Optional<Path> setpriv = find("setpriv", environment, Path.of("/"))
                .filter(tool -> nothing.isPresent()
                        && works(bound(tool, List.of(nothing.get().toString()))));
        return new HostTools(setsid, setpriv);
    }

    /** The command that starts this command through the tools. */
    List<String> wrap(List<String> command, boolean dieWithHost) {
        List<String> wrapped =
                dieWithHost && setpriv.isPresent() ? bound(setpriv.get(), command) : new ArrayList<>(command);
        setsid.ifPresent(tool -> wrapped.addFirst(tool.toString()));
        return wrapped;
    }

    private static List<String> bound(Path setpriv, List<String> command) {
        List<String> wrapped = new ArrayList<>(List.of(setpriv.toString(), "--pdeathsig", "TERM", "--"));
        wrapped.addAll(command);
        return wrapped;
    }

    /** The program of this name: a path is taken as it is, a bare name is looked for in the absolute PATH entries. */
    static Optional<Path> find(String program, Map<String, String> environment, Path directory) {
        if (program.indexOf('/') >= 0) {
            return Optional.of(directory.resolve(program)).filter(Files::exists);
        }
        for (String entry : environment.getOrDefault("PATH", USUAL_PATH).split(File.pathSeparator, -1)) {
            if (entry.startsWith("/")) {
                Path candidate = Path.of(entry, program);
                if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                    return Optional.of(candidate);
                }
            }
        }
        return Optional.empty();
    }

    private static boolean works(List<String> command) {
        try {
            return ToolRun.succeeds(command);
        } catch (IOException e) {
            return false;
        }
    }
}
