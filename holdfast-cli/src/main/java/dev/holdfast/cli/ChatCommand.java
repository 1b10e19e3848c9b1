package dev.holdfast.cli;

import dev.holdfast.Author;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast chat}: a conversation at the terminal, or line by line through a pipe. */
@Command(
        name = "chat",
        sortOptions = false,
        description = "Talks to a session. Ctrl-C interrupts the turn, Ctrl-D leaves; the session is kept.")
final class ChatCommand implements Callable<Integer> {
    private static final int SHOWN = 20;
    private static final Author USER = new Author(SendCommand.AUTHOR, "cli");

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Parameters(paramLabel = "NAME", description = "The session; begun when there is none of that name.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Mixin
    private final AgentOptions agent = new AgentOptions();

    @Option(
            names = "--control",
            paramLabel = "FILE",
            description = "Meanwhile acts on the JSON lines that other programs append to FILE (message, cancel, stop,"
                    + " answer), once each; what became of them is written beside it.")
    private Optional<Path> control = Optional.empty();

    @Override
    public Integer call() throws IOException {
        var globals = main.globals();
        var name = GlobalOptions.name(session);
        return globals.shell().terminal() && !globals.json() ? typed(globals, name) : piped(globals, name);
    }

    private Hosted open(GlobalOptions globals, SessionName name, LiveAnswer live) {
        return Hosted.open(
                globals,
                globals.data(),
                globals.store(),
                name,
                journal -> agent.agent(globals.shell(), globals.data(), name, journal),
                agent::guarded,
                live);
    }

    // ---- at the terminal ------------------------------------------------------------------------------------------

    private int typed(GlobalOptions globals, SessionName name) throws IOException {
        try (Terminal terminal = TerminalBuilder.builder().name("holdfast").build()) {
            var screen = new Screen(terminal.writer(), globals.shell().colour(), false);
            var live = new LiveAnswer(screen, screen, EventWords::notice, true);
            try (var hosted = open(globals, name, live);
                    var departure = Departure.ofSystem()) {
                control.ifPresent(file -> hosted.follow(file, USER));
                terminal.handle(Terminal.Signal.INT, signal -> {
                    var unused = hosted.session().interruptAsync();
                });
                var history = History.last(SHOWN, name, hosted.journal());
                history.print(screen);
                screen.line(
                        Screen.Style.DIM,
                        (history.entries().isEmpty() ? "A new session '" : "Session '") + name
                                + "'. Ctrl-C interrupts the turn, Ctrl-D leaves, /help tells more.");
                return converse(hosted, history, prompt(terminal, hosted, departure, screen), departure, screen);
            }
        }
    }

    private static Lines prompt(Terminal terminal, Hosted hosted, Departure departure, Screen screen) {
        LineReader reader = LineReaderBuilder.builder()
                .terminal(terminal)
                .appName("holdfast")
                .variable(LineReader.HISTORY_FILE, hosted.data().resolve("chat-history"))
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, "       ")
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .build();
        return new Prompt(reader, departure, screen);
    }

    /** The prompt. A wish to leave interrupts the reading thread, but only while it reads. */
    private static final class Prompt implements Lines {
        private final LineReader reader;
        private final Departure departure;
        private final Screen screen;
        private final Thread thread = Thread.currentThread();
        private boolean reading;

        Prompt(LineReader reader, Departure departure, Screen screen) {
            this.reader = reader;
            this.departure = departure;
            this.screen = screen;
            var unused = departure.asked().thenRun(this::wake);
        }

        private synchronized void wake() {
            if (reading) {
                thread.interrupt();
            }
        }

        private synchronized boolean begin() {
            reading = !departure.asked().isDone();
            return reading;
        }

        private synchronized void end() {
            reading = false;
            var unused = Thread.interrupted();
        }

        @Override
        public Optional<String> next() {
            while (begin()) {
                try {
                    return Optional.of(reader.readLine(screen.styled(Screen.Style.BOLD, "you    ")));
                } catch (UserInterruptException e) {
                    if (!departure.asked().isDone()) {
                        screen.line(Screen.Style.DIM, "       Nothing runs. Ctrl-D leaves.");
                    }
                } catch (EndOfFileException e) {
                    return Optional.empty();
                } finally {
                    end();
                }
            }
            return Optional.empty();
        }
    }

    // ---- through a pipe -------------------------------------------------------------------------------------------

    private int piped(GlobalOptions globals, SessionName name) {
        var shell = globals.shell();
        var screen = globals.screen();
        var live = new LiveAnswer(screen, new Screen(shell.err(), false, false), EventWords::notice, false);
        try (var hosted = open(globals, name, live);
                var departure = Departure.watching(() -> {
                    var unused = hosted.session().interruptAsync();
                })) {
            control.ifPresent(file -> hosted.follow(file, USER));
            var history = History.last(SHOWN, name, hosted.journal());
            return converse(hosted, history, Lines.piped(shell.in()), departure, screen);
        }
    }

    // ---- both -----------------------------------------------------------------------------------------------------

    private int converse(Hosted hosted, History history, Lines lines, Departure departure, Screen screen) {
        for (long number : history.open()) {
            if (!await(hosted.end(number, false), departure, screen)) {
                return departure.asked().join();
            }
        }
        while (true) {
            var line = lines.next();
            if (departure.asked().isDone()) {
                return departure.asked().join();
            }
            if (line.isEmpty() || line.get().strip().equals("/quit")) {
                return Exit.OK;
            }
            if (line.get().strip().equals("/help")) {
                help(screen);
            } else if (!line.get().isBlank()) {
                var message = message(line.get());
                if (message.isPresent()) {
                    long number = hosted.accepted(hosted.send(message.get()));
                    if (!await(hosted.end(number, false), departure, screen)) {
                        return departure.asked().join();
                    }
                }
            }
        }
    }

    private Optional<Message> message(String line) {
        try {
            return Optional.of(Message.of(line).author(USER));
        } catch (IllegalArgumentException e) {
            var shell = main.globals().shell();
            new Screen(new PrintWriter(shell.err(), true), shell.colour(), false)
                    .line(Screen.Style.RED, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    /** False when the command is to end first. */
    private boolean await(CompletableFuture<Reply> end, Departure departure, Screen screen) {
        var leaving = departure.asked().thenApply(Optional::<Object>of);
        if (!(Waiting.on(CompletableFuture.anyOf(end, leaving)) instanceof Reply reply)) {
            return false;
        }
        var shell = main.globals().shell();
        if (screen.json()) {
            screen.object(RunCommand.members(session, reply, false));
        } else if (!shell.terminal()) {
            String ending = reply.outcome() == Outcome.ANSWERED
                    ? ""
                    : "(" + EventWords.ending(reply.outcome(), reply.detail()) + ")";
            screen.line(Screen.Style.PLAIN, (reply.text().stripTrailing() + " " + ending).strip());
        }
        return true;
    }

    private static void help(Screen screen) {
        screen.line(Screen.Style.DIM, """
                       /help   this
                       /quit   leaves, as Ctrl-D does; the session and what is in its queue are kept
                       Ctrl-C  interrupts the turn
                       All else, also with a slash in front, goes to the agent as words.""");
    }
}
