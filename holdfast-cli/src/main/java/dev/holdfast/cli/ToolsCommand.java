package dev.holdfast.cli;

import dev.holdfast.runtime.ToolSwitch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast tools}: the switch that stops every tool of every session of a data directory. */
@Command(
        name = "tools",
        sortOptions = false,
        description =
                "Stops all tools of all sessions of the data directory at once, lets them go, or says which it is.")
final class ToolsCommand implements Callable<Integer> {
    private enum Verb {
        stop,
        go,
        status
    }

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Parameters(index = "0", paramLabel = "stop|go|status", description = "What to do.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Verb verb;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "REASON", description = "Why they are stopped.")
    private List<String> reason = List.of();

    @Override
    public Integer call() {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        if (verb != Verb.stop && !reason.isEmpty()) {
            throw new CommandFailed(Exit.USAGE, "usage", "a reason goes with 'tools stop' only");
        }
        var tools = ToolSwitch.in(globals.data());
        switch (verb) {
            case stop -> {
                GlobalOptions.makePrivate(globals.data());
                try {
                    tools.stop(String.join(" ", reason));
                } catch (IllegalArgumentException e) {
                    throw new CommandFailed(Exit.USAGE, "usage", String.valueOf(e.getMessage()));
                }
            }
            case go -> tools.go();
            case status -> {}
        }
        var stopped = tools.stopped();
        var screen = globals.screen();
        if (screen.json()) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("stopped", stopped.isPresent());
            stopped.ifPresent(why -> members.put("reason", why));
            screen.object(members);
        } else {
            screen.line(
                    stopped.isPresent() ? Screen.Style.YELLOW : Screen.Style.PLAIN,
                    stopped.map(why -> "All tools of " + globals.data() + " are stopped: " + why)
                            .orElse("The tools of " + globals.data() + " may run."));
        }
        return Exit.OK;
    }
}
