package dev.holdfast.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks at what surrounds the host: Java, and the system's tools for processes and sandboxes. */
final class DoctorOfMachine {
    private static final Map<String, String> PLAIN = Map.of("PATH", "/usr/local/bin:/usr/bin:/bin");

    private DoctorOfMachine() {}

    static void examine(Shell shell, ToolTry tools, Consumer<Finding> found) {
        found.accept(java());
        found.accept(processes(tools));
        found.accept(sandbox(shell, tools));
    }

    /** The oldest one is what this class was compiled for: an older Java would not have loaded it. */
    private static Finding java() {
        return Finding.ok(
                "Java",
                Runtime.version() + ", " + System.getProperty("java.vendor", "of an unknown vendor") + ", in "
                        + System.getProperty("java.home", "?"));
    }

    private static Finding processes(ToolTry tools) {
        if (!Files.isReadable(Path.of("/proc/self/stat"))) {
            return Finding.note(
                    "processes",
                    "this system shows no /proc: what an agent has started is found less surely",
                    "Run on Linux where you can.");
        }
        return tools.bindsChildren()
                ? Finding.ok("processes", "agents and what they start end with their host, even when that is killed")
                : Finding.note(
                        "processes",
                        "what a killed host leaves running is ended when the next one starts, not before",
                        "Install util-linux (setsid, setpriv).");
    }

    private static Finding sandbox(Shell shell, ToolTry tools) {
        var bubblewrap = onPath(shell, "bwrap");
        if (bubblewrap.isEmpty()) {
            return Finding.note(
                    "sandbox",
                    "there is no bubblewrap: agents run with all your rights",
                    "Nothing needs it yet. Install bubblewrap to be able to confine them.");
        }
        var tried = tools.run(
                PLAIN,
                bubblewrap.get().toString(),
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--unshare-all",
                "--die-with-parent",
                "true");
        return tried.worked()
                ? Finding.ok("sandbox", bubblewrap.get() + " can make one")
                : Finding.note(
                        "sandbox",
                        bubblewrap.get() + " cannot make one here: " + TerminalText.line(tried.words(), 200),
                        "Nothing needs it yet. Allow unprivileged user namespaces to be able to confine agents.");
    }

    private static Optional<Path> onPath(Shell shell, String program) {
        String path = shell.environment().getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
        for (String folder : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(folder).resolve(program);
            if (folder.startsWith("/") && Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }
}
