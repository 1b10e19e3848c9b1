package dev.holdfast.cli;

import dev.holdfast.AgentUnavailable;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code holdfast} command; without a subcommand it prints its usage. */
@Command(
        name = "holdfast",
        description = "Keeps coding agents on the line: durable sessions, every message exactly once.",
        mixinStandardHelpOptions = true,
        scope = CommandLine.ScopeType.INHERIT,
        versionProvider = Main.BuiltVersion.class,
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false,
        subcommands = {
            DemoCommand.class,
            DoctorCommand.class,
            RunCommand.class,
            ChatCommand.class,
            PsCommand.class,
            ShowCommand.class,
            EventsCommand.class,
            SendCommand.class,
            CancelCommand.class,
            WithdrawCommand.class,
            InterruptCommand.class,
            AnswerCommand.class,
            QuestionsCommand.class,
            ApproveCommand.class,
            PauseCommand.class,
            DrainCommand.class,
            ResumeCommand.class,
            FinishCommand.class,
            CloseCommand.class,
            ResetCommand.class,
            ClearCommand.class,
            TranscriptCommand.class,
            RegenerateCommand.class,
            ForkCommand.class,
            DeadLettersCommand.class,
            AuditCommand.class,
            ToolsCommand.class,
            ExportCommand.class,
            ImportCommand.class,
            CompletionCommand.class
        })
final class Main implements Callable<Integer> {
    private static final Map<String, String> EXIT_CODES = exitCodes();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private CommandSpec spec;

    @Mixin
    private final GlobalOptions globals;

    Main(Shell shell) {
        this.globals = new GlobalOptions(shell);
    }

    public static void main(String[] args) {
        GlobalOptions.logNowhere(); // the JDK logs its exit, and a logger nobody set up writes to the terminal
        System.exit(run(Shell.ofProcess(), args));
    }

    /** Runs one command and gives its exit code. */
    static int run(Shell shell, String... args) {
        var main = new Main(shell);
        var line = new CommandLine(main);
        line.setOut(shell.out());
        line.setErr(shell.err());
        line.setUsageHelpAutoWidth(shell.terminal());
        line.setColorScheme(CommandLine.Help.defaultColorScheme(
                shell.colour() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF));
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.getCommandSpec()
                .usageMessage()
                .exitCodeListHeading("%nExit codes:%n")
                .exitCodeList(EXIT_CODES);
        line.setParameterExceptionHandler((problem, given) -> misused(shell, main.globals, problem));
        line.setExecutionExceptionHandler((failure, command, parsed) -> failed(shell, main.globals, failure));
        int exit = line.execute(args);
        shell.out().flush();
        shell.err().flush();
        return exit;
    }

    GlobalOptions globals() {
        return globals;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(globals.shell().err());
        return Exit.USAGE;
    }

    private static int misused(Shell shell, GlobalOptions globals, ParameterException problem) {
        String name = problem.getCommandLine().getCommandSpec().qualifiedName();
        tell(shell, globals, Exit.USAGE, "usage", inWords(problem) + "\nTry '" + name + " --help'.");
        return Exit.USAGE;
    }

    /** What the parser says, without the names of Java's types. */
    private static String inWords(ParameterException problem) {
        return String.valueOf(problem.getMessage()).replaceFirst(" is not an? (?:long|int)$", " is not a whole number");
    }

    private static int failed(Shell shell, GlobalOptions globals, Exception failure) {
        int exit = Exit.UNEXPECTED;
        String problem = "unexpected";
        String message = String.valueOf(failure.getMessage());
        switch (failure) {
            case CommandFailed e -> {
                exit = e.exit();
                problem = e.problem();
            }
            case JournalException e -> {
                exit = e.problem() == JournalException.Problem.UNKNOWN_SESSION ? Exit.SESSION : Exit.STORE;
                problem = e.problem().name().toLowerCase(java.util.Locale.ROOT);
            }
            case AgentUnavailable e -> {
                exit = Exit.AGENT_UNAVAILABLE;
                problem = e.reason();
            }
            case HoldfastException e -> {
                exit = Exit.SESSION;
                problem = "session";
            }
            default -> {
                LoggerFactory.getLogger(Main.class).error("a command failed unexpectedly", failure);
                message = "unexpected: " + failure + "; this is a defect of Holdfast"
                        + globals.log().map(file -> ", its trace is in " + file).orElse("");
            }
        }
        tell(shell, globals, exit, problem, message);
        return exit;
    }

    private static void tell(Shell shell, GlobalOptions globals, int exit, String problem, String message) {
        var screen = new Screen(shell.err(), shell.colour(), globals.json());
        if (globals.json()) {
            screen.object(Map.of("error", Map.of("code", exit, "problem", problem, "message", message)));
        } else {
            screen.line(screen.styled(Screen.Style.RED, "holdfast: ") + TerminalText.safe(message));
        }
    }

    private static Map<String, String> exitCodes() {
        var codes = new java.util.LinkedHashMap<String, String>();
        codes.put("0", "done");
        codes.put("1", "the turn failed, was interrupted, hit a limit, or outlasted a drain; the demo broke a promise");
        codes.put("2", "wrong usage, or a value that is not allowed");
        codes.put(
                "3",
                "the store or its host: in use, not there, no answer, damaged, read-only, full disk, newer format");
        codes.put("4", "the agent cannot run here: not found, not logged in, wrong version");
        codes.put("5", "the session: unknown, parked, full, busy or closed, or it refused what was asked");
        codes.put("70", "a defect of Holdfast; its trace is in holdfast.log in the data directory");
        codes.put("130", "ended by Ctrl-C");
        codes.put("143", "ended by SIGTERM");
        return codes;
    }

    /** The version this jar was built as. */
    static String version() {
        var properties = new Properties();
        try (var in = new InputStreamReader(
                Objects.requireNonNull(
                        Main.class.getResourceAsStream("build.properties"), "build.properties is not in the jar"),
                StandardCharsets.UTF_8)) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read build.properties in the jar", e);
        }
        return properties.getProperty("version", "unknown");
    }

    /** What {@code --version} prints. */
    static final class BuiltVersion implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "holdfast " + version(),
                "Java " + Runtime.version() + " (" + System.getProperty("java.vendor", "unknown vendor") + ")"
            };
        }
    }
}
