package dev.holdfast.cli;

import dev.holdfast.Author;
import dev.holdfast.HoldfastException;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalReader;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.Subscription;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.core.Core;
import dev.holdfast.runtime.ControlFile;
import dev.holdfast.runtime.ControlFileNotice;
import dev.holdfast.runtime.ControlFileOptions;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.server.Api;
import dev.holdfast.server.Door;
import dev.holdfast.server.DoorLimits;
import dev.holdfast.server.HostFacts;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.LoggerFactory;

/**
 * One session in a host of this process, with its live answers, and the host's door open for other commands. Closing ends
 * the agent's process; the session is kept.
 */
final class Hosted implements AutoCloseable {
    private static final Set<String> UNAVAILABLE = Set.of("not_found", "not_logged_in", "wrong_version");

    /** Tries to take a store that is in use, a tenth of a second apart. */
    private static final int PATIENCE = 20;

    private final SessionName name;
    private final Path data;
    private final Journal journal;
    private final Holdfast host;
    private final Session session;
    private final LiveAnswer live;
    private final Subscription subscription;
    private final CompletableFuture<Optional<Door>> door;
    private Optional<ControlFile> control = Optional.empty();

    private Hosted(
            SessionName name,
            Path data,
            Journal journal,
            Holdfast host,
            Session session,
            LiveAnswer live,
            Subscription subscription,
            CompletableFuture<Optional<Door>> door) {
        this.name = name;
        this.data = data;
        this.journal = journal;
        this.host = host;
        this.session = session;
        this.live = live;
        this.subscription = subscription;
        this.door = door;
    }

    /**
     * Takes the store and takes the session up, or begins it.
     *
     * @param data what of this host lies beside the store: its log, its door
     * @param rules adds what the command was told about how the host is to run
     */
    static Hosted open(
            GlobalOptions globals,
            Path data,
            Store store,
            SessionName name,
            Function<JournalReader, ClaudeCodeAgent> agent,
            UnaryOperator<Options> rules,
            LiveAnswer live) {
        GlobalOptions.logNowhere();
        var options = rules.apply(Options.standard());
        var journal = opened(data, store);
        Holdfast host;
        ClaudeCodeAgent chosen;
        Optional<SessionSummary> before;
        try {
            GlobalOptions.makePrivate(data);
            globals.logInto(data);
            before = Waiting.on(journal.session(name));
            chosen = agent.apply(journal);
            host = Holdfast.open(journal, journal.directory().isPresent() ? options : options.home(data));
        } catch (RuntimeException e) {
            journal.close();
            throw e;
        }
        // Beside the start of the agent, which takes longer.
        var door = CompletableFuture.supplyAsync(() -> door(host, journal, data, store, globals.shell()));
        try {
            var session = host.session(name, chosen);
            before.flatMap(Hosted::heldBack).ifPresent(live::warn);
            long seen = before.map(SessionSummary::seq).orElse(0L);
            return new Hosted(name, data, journal, host, session, live, session.events(seen, live), door);
        } catch (RuntimeException e) {
            door.join().ifPresent(Door::close);
            host.close();
            throw e;
        }
    }

    /** What keeps turns from beginning although the session is taken up; a drained or parked one is resumed by that. */
    private static Optional<String> heldBack(SessionSummary session) {
        var state = session.summary();
        if (!state.phase().equals("PAUSED") || Core.drained(state.phaseReason())) {
            return Optional.empty();
        }
        String reason = TerminalText.line(state.phaseReason(), 200);
        return Optional.of("the session is paused" + (reason.isEmpty() ? "" : ": " + reason)
                + "; what is sent waits for: holdfast resume " + session.name());
    }

    /** Another command has the store for a moment only; a host, which has a door, has it for long. */
    private static Journal opened(Path data, Store store) {
        for (int attempt = 0; ; attempt++) {
            try {
                return store.open();
            } catch (JournalException e) {
                if (e.problem() != JournalException.Problem.IN_USE) {
                    throw e;
                }
                if (attempt == PATIENCE || answers(data)) {
                    throw new CommandFailed(
                            Exit.STORE,
                            "in_use",
                            inUse(e) + ". Beside it work ps, show, events, send, cancel, interrupt, drain and the"
                                    + " like;\nto run a session here, stop that process first.");
                }
                Reach.pause();
            }
        }
    }

    private static boolean answers(Path data) {
        var client = Door.find(data).flatMap(DoorClient::connect);
        client.ifPresent(DoorClient::close);
        return client.isPresent();
    }

    /** Which directory is in use by whom. */
    static String inUse(JournalException e) {
        String message = String.valueOf(e.getMessage());
        int advice = message.indexOf(';');
        return advice < 0 ? message : message.substring(0, advice);
    }

    /** The door of the host; one that cannot be opened leaves the host without one, which is said. */
    private static Optional<Door> door(Holdfast host, Journal journal, Path data, Store store, Shell shell) {
        var facts = new HostFacts(ProcessHandle.current().pid(), store.name(), Main.version());
        try {
            return Optional.of(Door.open(Api.of(host, journal, facts), data, DoorLimits.standard()));
        } catch (HoldfastException e) {
            LoggerFactory.getLogger(Hosted.class).warn("this host has no door", e);
            var errors = new Screen(shell.err(), shell.colour(), false);
            errors.line(
                    Screen.Style.YELLOW,
                    "holdfast: commands beside this one (send, cancel, ...) will not reach it: " + e.getMessage());
            return Optional.empty();
        }
    }

    /** Acts on what is written to the file from now on, and on what stands in it and was not acted on, until closed. */
    void follow(Path file, Author author) {
        try {
            var options =
                    ControlFileOptions.standard().author(author.name()).notices(notice -> live.warn(words(notice)));
            control = Optional.of(ControlFile.follow(session, file, options));
        } catch (HoldfastException e) {
            throw new CommandFailed(Exit.USAGE, "control_file", String.valueOf(e.getMessage()));
        }
    }

    private static String words(ControlFileNotice notice) {
        return notice.file().getFileName() + ", byte " + notice.offset() + ": "
                + switch (notice.kind()) {
                    case SKIPPED -> "skipped: ";
                    case REFUSED -> "refused: ";
                    case WAITING -> "waits: ";
                    case UNUSABLE, REWRITTEN, ROTATED -> "";
                }
                + notice.text();
    }

    JournalReader journal() {
        return journal;
    }

    Session session() {
        return session;
    }

    Path data() {
        return data;
    }

    /** The number under which the message was accepted, now or when its key was first used. */
    Receipt send(Message message) {
        return session.send(message);
    }

    long accepted(Receipt receipt) {
        return switch (receipt) {
            case Receipt.Stored r -> r.number();
            case Receipt.Refusal r -> throw refused(r.problem(), r.message());
        };
    }

    private CommandFailed refused(String problem, String why) {
        return new CommandFailed(Exit.SESSION, problem, "session " + name + " did not take the message: " + why);
    }

    /** The committed end of a message, or what keeps it from ending now. */
    CompletableFuture<Reply> end(long number, boolean fromHistory) {
        var end = fromHistory ? session.reply(number).toCompletableFuture() : live.end(number);
        var parked = live.parked().thenApply(reason -> {
            throw new CompletionException(parked(reason, number));
        });
        return CompletableFuture.anyOf(end, parked).thenApply(Reply.class::cast);
    }

    private CommandFailed parked(String reason, long number) {
        int colon = reason.indexOf(": ");
        String word = colon < 0 ? "" : reason.substring(0, colon);
        String kept = "\nMessage " + number + " is kept in session " + name
                + " and runs when you next talk to it (run, chat).";
        return UNAVAILABLE.contains(word)
                ? new CommandFailed(Exit.AGENT_UNAVAILABLE, word, reason.substring(colon + 2) + "." + kept)
                : new CommandFailed(Exit.SESSION, "parked", "session " + name + " is parked: " + reason + "." + kept);
    }

    @Override
    public void close() {
        control.ifPresent(ControlFile::close);
        subscription.close();
        door.join().ifPresent(Door::close);
        host.close();
    }
}
