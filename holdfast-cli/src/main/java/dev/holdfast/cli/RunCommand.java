package dev.holdfast.cli;

import dev.holdfast.Author;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Usage;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast run}: one message, its answer, and its committed end. */
@Command(
        name = "run",
        sortOptions = false,
        description = "Sends a message and waits for the committed end of its turn. Ctrl-C interrupts the turn.")
final class RunCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Option(
            names = "--session",
            required = true,
            paramLabel = "NAME",
            description = "The session; begun when there is none of that name.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = "The message's idempotency key: run again with it, the message is not sent twice and its"
                    + " answer is found.")
    private Optional<String> key = Optional.empty();

    @Option(
            names = "--control",
            paramLabel = "FILE",
            description = "Meanwhile acts on the JSON lines that other programs append to FILE (message, cancel, stop,"
                    + " answer), once each; what became of them is written beside it.")
    private Optional<Path> control = Optional.empty();

    @Mixin
    private final AgentOptions agent = new AgentOptions();

    @Parameters(
            arity = "1..*",
            paramLabel = "TEXT",
            description = "The words for the agent; several arguments are joined by spaces.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String[] text;

    @Override
    public Integer call() {
        var globals = main.globals();
        var shell = globals.shell();
        var name = GlobalOptions.name(session);
        var message = message();
        var screen = globals.screen();
        var errors = new Screen(shell.err(), shell.colour(), false);
        var live = new LiveAnswer(screen, errors, EventWords::notice, shell.terminal() && !globals.json());
        try (var hosted = Hosted.open(
                globals,
                globals.data(),
                globals.store(),
                name,
                journal -> agent.agent(shell, globals.data(), name, journal),
                agent::guarded,
                live)) {
            control.ifPresent(file -> hosted.follow(file, message.author()));
            var interrupted = new AtomicBoolean();
            try (var departure = Departure.watching(() -> {
                interrupted.set(true);
                var unused = hosted.session().interruptAsync();
            })) {
                var receipt = hosted.send(message);
                var end = hosted.end(hosted.accepted(receipt), receipt instanceof Receipt.Duplicate);
                var leaving = departure.asked().thenApply(Optional::<Object>of);
                var first = Waiting.on(CompletableFuture.anyOf(end, leaving));
                if (first instanceof Reply reply) {
                    show(reply, receipt, screen, shell.terminal());
                    return exit(reply, interrupted.get());
                }
                errors.line(
                        Screen.Style.YELLOW,
                        "leaving; message " + hosted.accepted(receipt) + " is kept and runs when you next talk to "
                                + name);
                return departure.asked().join();
            }
        }
    }

    private Message message() {
        try {
            var words = Message.of(String.join(" ", text)).author(new Author(SendCommand.AUTHOR, "cli"));
            return key.map(words::key).orElse(words);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(Exit.USAGE, "usage", String.valueOf(e.getMessage()));
        }
    }

    private static int exit(Reply reply, boolean interrupted) {
        if (reply.outcome() == Outcome.ANSWERED) {
            return Exit.OK;
        }
        return interrupted && reply.outcome() == Outcome.CANCELLED ? Exit.INTERRUPTED : Exit.TURN_FAILED;
    }

    private void show(Reply reply, Receipt receipt, Screen screen, boolean streamed) {
        boolean duplicate = receipt instanceof Receipt.Duplicate;
        if (screen.json()) {
            screen.object(members(session, reply, duplicate));
            return;
        }
        if ((!streamed || duplicate) && !reply.text().isEmpty()) {
            screen.line(Screen.Style.PLAIN, reply.text().stripTrailing());
        }
        if (reply.outcome() != Outcome.ANSWERED && (!streamed || duplicate)) {
            var errors = new Screen(main.globals().shell().err(), false, false);
            errors.line(
                    Screen.Style.PLAIN,
                    "holdfast: message " + reply.number() + " " + EventWords.ending(reply.outcome(), reply.detail()));
        }
    }

    /** A reply for programs. */
    static Map<String, Object> members(String session, Reply reply, boolean duplicate) {
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session);
        members.put("message", reply.number());
        members.put("duplicate", duplicate);
        members.put("turn", reply.turn());
        members.put("outcome", reply.outcome().name());
        members.put("text", reply.text());
        members.put("detail", reply.detail());
        members.put("usage", usage(reply.usage()));
        return members;
    }

    private static Map<String, ?> usage(Usage usage) {
        var members = new LinkedHashMap<String, Object>();
        members.put("input_tokens", usage.inputTokens());
        members.put("output_tokens", usage.outputTokens());
        members.put("cache_read_tokens", usage.cacheReadTokens());
        members.put("cache_creation_tokens", usage.cacheCreationTokens());
        usage.costMicros().ifPresent(micros -> members.put("cost_micros", micros));
        return members;
    }
}
