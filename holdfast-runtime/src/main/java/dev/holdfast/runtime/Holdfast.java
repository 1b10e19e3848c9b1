package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.Author;
import dev.holdfast.HoldfastException;
import dev.holdfast.Journal;
import dev.holdfast.Node;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
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
    private final Map<SessionName, HeldSession> sessions = new ConcurrentHashMap<>();
    private volatile boolean closed;
    private volatile Optional<Surroundings.Alarm> sweep = Optional.empty();

    /** What every session of this host shares. */
    record Parts(
            Journal journal,
            Options options,
            Node node,
            Path home,
            EventCodec codec,
            Envelope envelope,
            Transcript transcript,
            Slots slots) {}

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
                new Slots(options.processes(), options.slotWait(), surroundings));
        journal.onAccepted(name -> surroundings.executor().execute(() -> signal(name)));
        sweepLater();
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
     * resumed. Called twice for one name, the same session is given and the second agent is ignored.
     *
     * @throws IllegalArgumentException for a bad name, or tools that cannot be bound
     */
    public Session session(String name, Agent agent) {
        return session(new SessionName(name), agent);
    }

    /** As {@link #session(String, Agent)}. */
    public Session session(SessionName name, Agent agent) {
        return Blocking.await("opening session " + name, sessionAsync(name, agent));
    }

    /** As {@link #session(String, Agent)}, without blocking. */
    public CompletionStage<Session> sessionAsync(SessionName name, Agent agent) {
        if (closed) {
            return CompletableFuture.failedFuture(new HoldfastException("this host is closed"));
        }
        var tools = Tools.of(agent.tools());
        return parts.journal()
                .open(name, parts.options().unread())
                .thenCompose(created -> parts.journal().session(name))
                .thenComposeAsync(
                        summary -> {
                            var session = sessions.computeIfAbsent(name, n -> new HeldSession(n, agent, tools, parts));
                            if (closed) {
                                return session.leave().thenApply(gone -> {
                                    throw new HoldfastException("this host is closed");
                                });
                            }
                            return takeUp(session, summary);
                        },
                        parts.options().surroundings().executor());
    }

    /** The session of that name, when this host has taken it up. */
    public Optional<Session> open(SessionName name) {
        return Optional.ofNullable(sessions.get(name));
    }

    /** A handle without an agent: it can send and read, and never runs a turn. */
    public Session mail(SessionName name) {
        return open(name).orElseThrow(Holdfast::notBuilt);
    }

    /** Gives a payload to whoever claimed the address (IN-01). */
    public CompletionStage<Receipt> deliver(String token, Payload payload, Author author, Optional<String> key) {
        return CompletableFuture.failedFuture(notBuilt());
    }

    /** The whole session as one document (MB-22). */
    public CompletionStage<byte[]> exportSession(SessionName name) {
        return CompletableFuture.failedFuture(notBuilt());
    }

    /** Stores an exported session under a free name (MB-22). */
    public CompletionStage<?> importSession(byte[] document, SessionName as) {
        return CompletableFuture.failedFuture(notBuilt());
    }

    private static UnsupportedOperationException notBuilt() {
        return new UnsupportedOperationException("not built yet");
    }

    private static CompletionStage<Session> takeUp(HeldSession session, Optional<SessionSummary> known) {
        if (known.isEmpty()) {
            return CompletableFuture.completedFuture(session);
        }
        var summary = known.get();
        if (summary.summary().phase().equals("PARKED")) {
            return session.resume().thenApply(receipt -> session);
        }
        if (summary.unread() > 0
                || summary.openTurn().isPresent()
                || summary.dueAt().isPresent()) {
            session.signal();
        }
        return CompletableFuture.completedFuture(session);
    }

    private void signal(SessionName name) {
        Optional.ofNullable(sessions.get(name)).ifPresent(HeldSession::signal);
    }

    /** Finds what no signal announced: each second, level-triggered (IN-21). */
    private void sweepLater() {
        var surroundings = parts.options().surroundings();
        sweep = Optional.of(surroundings.at(surroundings.now().plus(SWEEP), this::sweepNow));
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
                }
            } finally {
                if (!closed) {
                    sweepLater();
                }
            }
        });
    }

    private void sweep(SessionName name) {
        Optional.ofNullable(sessions.get(name)).ifPresent(HeldSession::sweep);
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
        var leaving = sessions.values().stream().map(HeldSession::leave).toArray(CompletableFuture[]::new);
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
        sessions.values().stream().map(HeldSession::harness).distinct().forEach(h -> h.release(parts.home()));
        parts.journal().close();
    }
}
