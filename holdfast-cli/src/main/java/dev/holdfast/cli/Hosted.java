package dev.holdfast.cli;

import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.Subscription;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** One session in a host of this process, with its live answers. Closing ends the agent's process; the session is kept. */
final class Hosted implements AutoCloseable {
    private static final Set<String> UNAVAILABLE = Set.of("not_found", "not_logged_in", "wrong_version");

    private final SessionName name;
    private final Path data;
    private final SqliteJournal journal;
    private final Holdfast host;
    private final Session session;
    private final LiveAnswer live;
    private final Subscription subscription;

    private Hosted(
            SessionName name,
            Path data,
            SqliteJournal journal,
            Holdfast host,
            Session session,
            LiveAnswer live,
            Subscription subscription) {
        this.name = name;
        this.data = data;
        this.journal = journal;
        this.host = host;
        this.session = session;
        this.live = live;
        this.subscription = subscription;
    }

    /** Takes the data directory and takes the session up, or begins it. */
    static Hosted open(
            GlobalOptions globals,
            Path data,
            SessionName name,
            Function<SqliteJournal, ClaudeCodeAgent> agent,
            LiveAnswer live) {
        globals.logNowhere();
        var journal = SqliteJournal.at(data);
        Holdfast host;
        ClaudeCodeAgent chosen;
        long seen;
        try {
            globals.logInto(data);
            seen = Waiting.on(journal.session(name)).map(SessionSummary::seq).orElse(0L);
            chosen = agent.apply(journal);
            host = Holdfast.open(journal, Options.standard());
        } catch (RuntimeException e) {
            journal.close();
            throw e;
        }
        try {
            var session = host.session(name, chosen);
            return new Hosted(name, data, journal, host, session, live, session.events(seen, live));
        } catch (RuntimeException e) {
            host.close();
            throw e;
        }
    }

    SqliteJournal journal() {
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
        subscription.close();
        host.close();
    }
}
