package dev.holdfast.cli;

import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.server.Call;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** {@code holdfast send}: a message that is durable when the command returns. */
@Command(
        name = "send",
        sortOptions = false,
        customSynopsis = {
            "holdfast send [OPTIONS] NAME TEXT...",
            "       holdfast send [OPTIONS] NAME -",
            "       holdfast send [OPTIONS] --to ADDRESS TEXT..."
        },
        description = "Sends a message, beside a running host or without one; it is durable when this returns.")
final class SendCommand extends SessionCommand {
    /** Who sends when nobody is named. */
    static final String AUTHOR = "user";

    private static final Duration POLL = Duration.ofSeconds(20);

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = "The idempotency key: sent again with it, the message is not accepted a second time.")
    private Optional<String> key = Optional.empty();

    @Option(
            names = "--policy",
            paramLabel = "POLICY",
            description = "When it is to reach the agent: next (in its place; the default), steer (into the running"
                    + " turn), after-idle, replace (cancels the open turn and runs next), refuse-if-busy.")
    private Optional<String> policy = Optional.empty();

    @Option(names = "--to", paramLabel = "ADDRESS", description = "To whoever claimed that address, instead of a NAME.")
    private Optional<String> address = Optional.empty();

    @Option(names = "--author", paramLabel = "WHO", description = "Who sends it. Default: " + AUTHOR + ".")
    private String author = AUTHOR;

    @Option(names = "--wait", description = "Waits for the answer and prints it; needs a host that runs the session.")
    private boolean wait;

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME TEXT",
            description = "The session, then the words; several arguments are joined by spaces, '-' reads them from"
                    + " standard input.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private List<String> given;

    @Override
    public Integer call() {
        if (address.isEmpty() && given.size() < 2) {
            throw new CommandFailed(
                    Exit.USAGE,
                    "usage",
                    "there is no text: holdfast send NAME TEXT, or NAME - to read it from" + " standard input");
        }
        return super.call();
    }

    @Override
    int act(Reach reach) {
        var words = given.subList(address.isEmpty() ? 1 : 0, given.size());
        String text = words.equals(List.of("-")) ? piped() : String.join(" ", words);
        var members = new LinkedHashMap<String, Object>();
        members.put("text", text);
        members.put("author", author);
        members.put("surface", "cli");
        key.ifPresent(k -> members.put("key", k));
        policy.ifPresent(p -> members.put("policy", p));
        if (address.isPresent()) {
            return sent(reach, ask(reach, Call.post(members, "addresses", address.get())));
        }
        String name = name(given.getFirst());
        if (wait && !ask(reach, Call.get("sessions", name)).path("held").asBoolean()) {
            throw new CommandFailed(
                    Exit.SESSION,
                    "not_held",
                    "no host runs session " + name + ", so nobody would answer. Nothing was sent.\nStart one with"
                            + " 'holdfast chat " + name + "', or leave --wait out: then the message waits for one.");
        }
        return sent(reach, ask(reach, Call.post(members, "sessions", name, "messages")));
    }

    private int sent(Reach reach, ObjectNode receipt) {
        String name = receipt.path("session").asString();
        long number = receipt.path("message").asLong();
        if (wait && receipt.path("held").asBoolean()) {
            return awaited(reach, name, number);
        }
        tell(
                receipt,
                receipt.path("duplicate").asBoolean()
                        ? "Message " + number + " of session " + name + " was accepted under this key before; it is not"
                                + " sent again."
                        : "Accepted as message " + number + " of session " + name + ".",
                when(reach, receipt, name));
        return Exit.OK;
    }

    /** When the message gets its turn, if that is not at once. */
    private String when(Reach reach, ObjectNode receipt, String name) {
        if (globals().json()) {
            return "";
        }
        ObjectNode status;
        try {
            status = ask(reach, Call.get("sessions", name));
        } catch (CommandFailed unknown) { // the message is accepted all the same
            return later(receipt, name, "it gets its turn");
        }
        String phase = status.path("phase").asString();
        if (!phase.equals("PAUSED") && !phase.equals("PARKED")) {
            return later(receipt, name, "it gets its turn");
        }
        String reason = status.path("phase_reason").asString();
        return "The session is " + phase.toLowerCase(Locale.ROOT) + (reason.isEmpty() ? "" : ": " + reason)
                + ". The message gets its turn after: holdfast resume " + name;
    }

    private int awaited(Reach reach, String name, long number) {
        var call = Call.get("sessions", name, "messages", Long.toString(number), "reply")
                .asking("wait", Long.toString(POLL.toSeconds()));
        var here = Thread.currentThread();
        try (var departure = Departure.atOnce()) {
            var unused = departure.asked().thenRun(here::interrupt);
            while (true) {
                try {
                    var reply = ask(reach, call, POLL.plus(Reach.PATIENCE));
                    if (!reply.path("pending").asBoolean()) {
                        return answered(reply, number);
                    }
                } catch (CommandFailed e) {
                    if (!departure.asked().isDone()) {
                        throw e;
                    }
                    return left(name, number, departure.asked().join());
                }
            }
        }
    }

    private int left(String name, long number, int exit) {
        var unused = Thread.interrupted();
        new Screen(globals().shell().err(), globals().shell().colour(), false)
                .line(
                        Screen.Style.YELLOW,
                        "leaving; message " + number + " of session " + name + " is kept and runs. Interrupt it with:"
                                + " holdfast cancel " + name + " --message " + number);
        return exit;
    }

    private int answered(ObjectNode reply, long number) {
        var outcome = Outcome.valueOf(reply.path("outcome").asString());
        tell(reply, reply.path("text").asString().stripTrailing());
        if (outcome == Outcome.ANSWERED) {
            return Exit.OK;
        }
        if (!globals().json()) {
            new Screen(globals().shell().err(), false, false)
                    .line(
                            Screen.Style.PLAIN,
                            "holdfast: message " + number + " "
                                    + EventWords.ending(
                                            outcome, reply.path("detail").asString()));
        }
        return Exit.TURN_FAILED;
    }

    /** All of standard input; one line end at its end is the shell's, not the message's. */
    private String piped() {
        byte[] bytes;
        try {
            bytes = globals().shell().in().readNBytes(Message.TEXT_BYTES_MAX + 2);
        } catch (IOException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "standard input cannot be read: " + e.getMessage());
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
        } catch (CharacterCodingException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "standard input is no text in UTF-8: nothing was sent");
        }
    }
}
