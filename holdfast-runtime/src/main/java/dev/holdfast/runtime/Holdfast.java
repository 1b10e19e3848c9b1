package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.Author;
import dev.holdfast.ChatMessages;
import dev.holdfast.Drained;
import dev.holdfast.HoldfastException;
import dev.holdfast.Inbox;
import dev.holdfast.Journal;
import dev.holdfast.Mailbox;
import dev.holdfast.Node;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SessionSummary;
import dev.holdfast.core.Core;
import dev.holdfast.core.Settings.Taker;
import dev.holdfast.runtime.SessionLife.Taking;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds sessions of agents on one journal. Thread-safe. Close it to end every agent process and give the sessions back;
 * what was accepted and not done is done by the next host that opens the journal.
 *
 * <pre>{@code
 * try (var holdfast = Holdfast.open(SqliteJournal.at(Path.of("data")))) {
 *     var session = holdfast.session("support-42", ClaudeCode.agent().tools(new OrderTools()));
 *     Reply reply = session.ask(Message.of("Where is order 7?").key("web-8812"));
 * }
 * }</pre>
 */
public final class Holdfast implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Holdfast.class);
    private static final Duration SWEEP = Duration.ofSeconds(1);
    private static final int SWEEP_PAGE = 10_000;

    private final Parts parts;
    private final Sessions sessions;
    private volatile boolean closed;
    private volatile Optional<Surroundings.Alarm> sweep = Optional.empty();
    private volatile Optional<Surroundings.Alarm> ownership = Optional.empty();

    /** What every session of this host shares. */
    record Parts(
            Journal journal,
            Options options,
            Node node,
            Path home,
            EventCodec codec,
            Envelope envelope,
            Transcript transcript,
            Slots slots,
            Sessions sessions) {}

    private Holdfast(Journal journal, Options options) {
        var surroundings = options.surroundings();
        var codec = new EventCodec();
        var envelope = new Envelope(surroundings);
        var node = new Node(
                "host-" + ProcessHandle.current().pid() + "-" + HexFormat.of().formatHex(surroundings.random(4)));
        var home = options.home()
                .or(journal::directory)
                .orElseThrow(() -> new IllegalArgumentException(
                        "the journal has no directory of its own: name a home with Options.home"));
        parts = new Parts(
                journal,
                options,
                node,
                home,
                codec,
                envelope,
                new Transcript(journal, codec, envelope),
                new Slots(options.processes(), options.slotWait(), surroundings),
                new Sessions());
        sessions = parts.sessions();
        journal.onAccepted(name -> surroundings.executor().execute(() -> signal(name)));
        sweepLater();
        watchOwnership();
    }

    /** Takes over the journal: closing this host closes it. */
    public static Holdfast open(Journal journal) {
        return open(journal, Options.standard());
    }

    /** As {@link #open(Journal)}, with options of one's own. */
    public static Holdfast open(Journal journal, Options options) {
        return new Holdfast(journal, options);
    }

    /**
     * Opens the session, or takes it up again: unread messages run, an open turn is gone on with, and a parked session is
     * resumed. Called again for one name, with an agent and a policy that are bound alike, the same session is given; it keeps
     * the code of tools and hooks that it has.
     *
     * @throws IllegalArgumentException for a bad name, or tools that cannot be bound
     * @throws dev.holdfast.BindingMismatch when it is taken up here with another binding or policy: every difference is
     *     named and nothing is changed; {@link #release} it first (HS-03). One that is not taken up here, or with the agent of
     *     {@link Options#agents}, has the new agent from its next process on, and an event says so (HN-09)
     */
    public Session session(String name, Agent agent) {
        return session(new SessionName(name), agent);
    }

    /** As {@link #session(String, Agent)}. */
    public Session session(SessionName name, Agent agent) {
        return session(name, agent, SessionPolicy.standard());
    }

    /** As {@link #session(String, Agent)}, with a policy for its mail. */
    public Session session(SessionName name, Agent agent, SessionPolicy policy) {
        return Blocking.await("opening session " + name, sessionAsync(name, agent, policy));
    }

    /** As {@link #session(String, Agent)}, without blocking. */
    public CompletionStage<Session> sessionAsync(SessionName name, Agent agent) {
        return sessionAsync(name, agent, SessionPolicy.standard());
    }

    /** As {@link #session(SessionName, Agent, SessionPolicy)}, without blocking. */
    public CompletionStage<Session> sessionAsync(SessionName name, Agent agent, SessionPolicy policy) {
        return sessionAsync(name, Taking.agent(agent, policy));
    }

    private CompletionStage<Session> sessionAsync(SessionName name, Taking taking) {
        return taken(name, taking)
                .thenCompose(session -> parts.journal()
                        .session(name)
                        .thenComposeAsync(
                                summary -> takeUp(session, summary),
                                parts.options().surroundings().executor()));
    }

    /** Those taken up here, by an agent or a reader. */
    public Optional<Session> open(SessionName name) {
        return sessions.find(name).filter(LiveSession::isTakenUp).map(Session.class::cast);
    }

    /**
     * A session that nobody here takes the mail of: for sending, closing, draining and watching it. When it is taken up
     * here, that session is given.
     *
     * @throws HoldfastException when it was never opened
     */
    public Session mail(SessionName name) {
        return Blocking.await("looking for session " + name, mailAsync(name));
    }

    /** As {@link #mail}, without blocking. */
    public CompletionStage<Session> mailAsync(SessionName name) {
        var known = sessions.find(name);
        if (known.isPresent()) {
            return CompletableFuture.completedFuture(known.get());
        }
        return Blocking.on(executor(), parts.journal().session(name)).thenApply(found -> {
            if (found.isEmpty()) {
                throw new HoldfastException("there is no session '" + name + "': open it first");
            }
            return sessions.findOrAdd(name, n -> new LiveSession(n, Taking.without(Taker.NOBODY), parts));
        });
    }

    /** Opens a session without an agent and reads it (IN-04). Fails when it is read already (CH-09). */
    public CompletionStage<Inbox> inbox(SessionName name) {
        return reading(name, "inbox").thenApply(r -> new InboxReader(r.session(), r.reading()));
    }

    /** Opens a session without an agent as a chat. Fails when it is read already (CH-09). */
    public CompletionStage<ChatMessages> chat(SessionName name) {
        return reading(name, "chat").thenApply(r -> new ChatReader(r.session(), r.reading()));
    }

    /** Opens a session without an agent as a mailbox; it gives nothing before its first feed. Fails as {@link #inbox}. */
    public CompletionStage<Mailbox> mailbox(SessionName name) {
        return unopened(name, "mailbox")
                .thenApply(r -> new MailboxReader(
                        r.session(), r.reading(), parts.options().surroundings()));
    }

    private record Opened(LiveSession session, Reading reading) {}

    private CompletionStage<Opened> reading(SessionName name, String surface) {
        return unopened(name, surface)
                .thenCompose(r -> r.reading()
                        .open()
                        .handleAsync(
                                (opened, failure) -> {
                                    if (failure != null) {
                                        r.reading().close(); // so that it is not in the way of another
                                        throw new CompletionException(Blocking.failure(failure));
                                    }
                                    return r;
                                },
                                executor()));
    }

    /** A session that was drained for another host is read again, as {@link #takeUp} does for agents. */
    private CompletionStage<Opened> unopened(SessionName name, String surface) {
        return taken(name, Taking.without(Taker.READER)).thenCompose(session -> {
            var reading = new Reading(session, surface);
            session.read(reading);
            return parts.journal()
                    .session(name)
                    .thenComposeAsync(
                            summary -> summary.filter(Holdfast::drained).isPresent()
                                    ? session.resumed()
                                    : CompletableFuture.completedFuture(false),
                            executor())
                    .whenComplete((resumed, failure) -> {
                        if (failure != null) {
                            reading.close(); // so that it is not in the way of another
                        }
                    })
                    .thenApply(resumed -> new Opened(session, reading));
        });
    }

    /** The one session object of this host, which takes the mail in that way from now on. */
    private CompletionStage<LiveSession> taken(SessionName name, Taking taking) {
        return parts.journal()
                .open(name, parts.options().unread())
                .thenComposeAsync(
                        created -> {
                            if (closed) {
                                throw new HoldfastException("this host is closed");
                            }
                            var session = sessions.findOrAdd(name, n -> new LiveSession(n, taking, parts));
                            return session.become(taking).thenApply(became -> {
                                if (closed) {
                                    var unused = session.leave();
                                    throw new HoldfastException("this host is closed");
                                }
                                return session;
                            });
                        },
                        executor());
    }

    private Executor executor() {
        return parts.options().surroundings().executor();
    }

    /**
     * Lets the session go, so that another host may take it up (IN-18): drains it, then gives it back. Mail is accepted
     * all the while, and whoever has the session in hand here can go on sending and watching. Taking it up here again while
     * that is under way waits until it was let go.
     *
     * @param within how long an open turn may still run; it goes on with the next owner
     */
    public CompletionStage<Drained> release(SessionName name, Duration within) {
        var session = sessions.find(name)
                .filter(LiveSession::isTakenUp)
                .orElseThrow(() -> new HoldfastException("session " + name + " is not taken up here"));
        return session.release(within);
    }

    /** Everything of a session as one document (MB-22): versioned, checksummed, whole. Best made of a drained session. */
    public CompletionStage<byte[]> exportSession(SessionName name) {
        return Blocking.on(executor(), parts.journal().image(name)).thenApply(SessionDocument::write);
    }

    /**
     * Takes in an exported session under a free name (MB-22).
     *
     * @throws HoldfastException when the document is damaged, newer than this version, no owner could take it up, or the
     *     name is taken: nothing was stored
     */
    public CompletionStage<Void> importSession(byte[] document, SessionName name) {
        return restored(SessionDocument.read(document, name)).thenApply(as -> null);
    }

    /** As {@link #importSession(byte[], SessionName)}, under the name it had, which is given back. */
    public CompletionStage<SessionName> importSession(byte[] document) {
        return restored(SessionDocument.read(document));
    }

    private CompletionStage<SessionName> restored(SessionImage image) {
        SessionDocument.check(image, parts.options().core(), parts.codec(), parts.envelope());
        return Blocking.on(executor(), parts.journal().restore(image)).thenApply(stored -> {
            if (!stored) {
                throw new HoldfastException(
                        "a session '" + image.name() + "' exists or existed here: import it under another name");
            }
            return image.name();
        });
    }

    /**
     * Accepts what came to an address (IN-01). The session need not be taken up here.
     *
     * @return a receipt; {@link Receipt.Released} when nobody has the address
     */
    public CompletionStage<Receipt> deliver(String address, Payload payload, Author author, Optional<String> key) {
        var receipt = parts.journal()
                .address(address)
                .thenCompose(known -> known.isEmpty()
                        ? CompletableFuture.<Receipt>completedFuture(new Receipt.Released(address))
                        : parts.journal()
                                .accept(parts.envelope()
                                        .payload(known.get().session(), payload, author, key, Optional.of(address))));
        return Blocking.on(executor(), receipt);
    }

    private CompletionStage<Session> takeUp(LiveSession session, Optional<SessionSummary> known) {
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(session);
        }
        var summary = known.get();
        var phase = summary.summary().phase();
        if (phase.equals("PARKED") || drained(summary)) {
            return session.resume().thenApply(receipt -> session);
        }
        if (summary.unread() > 0
                || summary.openTurn().isPresent()
                || summary.dueAt().isPresent()) {
            session.signal();
        }
        return CompletableFuture.completedFuture(session);
    }

    private static boolean drained(SessionSummary summary) {
        return summary.summary().phase().equals("PAUSED")
                && Core.drained(summary.summary().phaseReason());
    }

    private void signal(SessionName name) {
        var known = sessions.find(name);
        known.ifPresent(LiveSession::arrived);
        resolve(name, known);
    }

    /** Finds what no signal announced: each second, level-triggered (IN-21). */
    private void sweepLater() {
        var surroundings = parts.options().surroundings();
        sweep = Optional.of(surroundings.at(surroundings.now().plus(SWEEP), this::sweepNow));
    }

    /** Looked at apart from the store, which may be what cannot be reached (P3). */
    private void watchOwnership() {
        var surroundings = parts.options().surroundings();
        ownership = Optional.of(surroundings.at(surroundings.now().plus(SWEEP), () -> {
            if (!closed) {
                sessions.all().forEach(LiveSession::endIfLost);
                watchOwnership();
            }
        }));
    }

    private void sweepNow() {
        if (closed) {
            return;
        }
        parts.journal().ready(parts.options().surroundings().now(), SWEEP_PAGE).whenComplete((names, failure) -> {
            try {
                if (failure != null) {
                    LOG.warn("the journal cannot be asked for ready sessions", failure);
                } else {
                    names.forEach(this::sweep);
                    sessions.all().forEach(LiveSession::poll);
                }
            } finally {
                if (!closed) {
                    sweepLater();
                }
            }
        });
    }

    private void sweep(SessionName name) {
        var known = sessions.find(name);
        known.ifPresent(LiveSession::sweep);
        resolve(name, known);
    }

    /**
     * A session with work that nobody took up here: taken up when the host was told which agent is for it. One that was let
     * go is another host's.
     */
    private void resolve(SessionName name, Optional<LiveSession> known) {
        if (closed || known.filter(s -> s.isTakenUp() || s.isLetGo()).isPresent()) {
            return;
        }
        try {
            parts.options()
                    .agents()
                    .apply(name)
                    .ifPresent(agent -> sessionAsync(
                                    name,
                                    Taking.agent(agent, SessionPolicy.standard())
                                            .found(true))
                            .whenComplete((session, failure) -> {
                                if (failure != null) {
                                    LOG.warn("session {} cannot be taken up", name, failure);
                                }
                            }));
        } catch (RuntimeException e) { // somebody else's code, asked again at the next sweep
            LOG.warn("which agent is for session {} cannot be told", name, e);
        }
    }

    /** Stops and releases all tools of all sessions of this host's home directory (TL-04). */
    public ToolSwitch tools() {
        return ToolSwitch.in(parts.home());
    }

    /** How many agent processes are held now. */
    public int processes() {
        return parts.slots().inUse();
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        sweep.ifPresent(Surroundings.Alarm::cancel);
        ownership.ifPresent(Surroundings.Alarm::cancel);
        var leaving = sessions.all().stream().map(LiveSession::leave).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(leaving).get(parts.options().stopWait().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.warn(
                    "some agents did not end within {}; their processes are seen dead before their sessions go on",
                    parts.options().stopWait());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            LOG.warn("a session did not end well", e.getCause());
        }
        sessions.harnesses().forEach(h -> h.release(parts.home()));
        sessions.all().forEach(LiveSession::stop);
        parts.journal().close();
    }
}
