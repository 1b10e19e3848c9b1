package dev.holdfast.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/**
 * {@code holdfast doctor}: what would work here and what not. Changes nothing in the data directory, calls no model and
 * reads no key. The agent is started once, as a session would start it, and told nothing.
 */
@Command(
        name = "doctor",
        sortOptions = false,
        description = {
            "Checks whether sessions can run here: Java, the system's tools, the data directory and its store, the agent"
                    + " and its login. Calls no model and sends nothing.",
            "Exits with 0 only when they can; with 3 when it is the data directory or its store, with 4 when it is the"
                    + " agent."
        })
final class DoctorCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Mixin
    private final AgentOptions agent = new AgentOptions();

    @Override
    public Integer call() {
        GlobalOptions.logNowhere();
        var globals = main.globals();
        var screen = globals.screen();
        int exit = Exit.OK;
        Path home = temporary();
        try (var tools = new ToolTry(home)) {
            DoctorOfMachine.examine(globals.shell(), tools, finding -> finding.print(screen));
            var store = new Worst(screen);
            DoctorOfData.examine(globals, store);
            var started = new Worst(screen);
            DoctorOfAgent.examine(agent, globals.shell(), home, tools, started);
            exit = store.failed ? Exit.STORE : started.failed ? Exit.AGENT_UNAVAILABLE : Exit.OK;
        } finally {
            delete(home);
        }
        conclude(screen, exit);
        return exit;
    }

    /** Prints what is found, and remembers whether something failed. */
    private static final class Worst implements Consumer<Finding> {
        private final Screen screen;
        private boolean failed;

        Worst(Screen screen) {
            this.screen = screen;
        }

        @Override
        public void accept(Finding finding) {
            failed |= finding.failed();
            finding.print(screen);
        }
    }

    private static void conclude(Screen screen, int exit) {
        if (screen.json()) {
            screen.object(Map.of("works", exit == Exit.OK));
            return;
        }
        screen.blank();
        if (exit == Exit.OK) {
            screen.line(Screen.Style.BOLD, "Sessions can run here.");
        } else {
            screen.line(Screen.Style.BOLD, "Sessions cannot run here yet: mend what FAILED.");
        }
    }

    /** Private: what the agent is started with lies in it. */
    private static Path temporary() {
        try {
            return Files.createTempDirectory("holdfast-doctor-");
        } catch (IOException e) {
            throw new CommandFailed(
                    Exit.STORE, "failed", "there is no place for temporary files (" + e + "): set TMPDIR to one");
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException e) {
            // a file that the agent's end left to somebody else; the system clears the place some day
        }
    }
}
