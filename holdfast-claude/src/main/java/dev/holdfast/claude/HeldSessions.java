package dev.holdfast.claude;

import dev.holdfast.process.ChildSpec;
import dev.holdfast.process.Ladder;
import dev.holdfast.process.Reaper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds Claude Code processes and runs turns on them, without a journal: a handle names a conversation, its process is
 * started at the first turn, kept warm between turns, given up when it is not used or its place is needed, and started
 * again, resuming the conversation, when the handle is used next.
 *
 * <p>The one authority over its own processes (HS-23), and without static state: two in one JVM do not know each other
 * (HS-16). Thread-safe. Closing ends every process.
 */
public final class HeldSessions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HeldSessions.class);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(60);

    private final HeldHost host;
    private final HeldDirectory directory;
    private final Spares spares;
    private final Runnable atEnd;
    private final Map<String, HeldSession> sessions = new ConcurrentHashMap<>();
    private final Troubles troubles = new Troubles();
    private volatile boolean closed;

    private HeldSessions(
            HeldOptions options,
            HeldDirectory directory,
            AgentProcess.Source source,
            Background background,
            MemoryGauge gauge,
            Runnable atEnd) {
        this.directory = directory;
        this.atEnd = atEnd;
        var codec = new StreamJson(ChildSpec.DEFAULT_LINE_LIMIT);
        this.host = new HeldHost(
                options,
                directory.store(),
                directory.epoch(),
                new AtomicLong(),
                source,
                background,
                gauge,
                new StartGate(),
                codec,
                new HeldPool(options.processes(), options.waiting(), background),
                new HandleBook(directory.path().resolve("handles"), codec),
                new Whole());
        this.spares = new Spares(host);
    }

    /**
     * Opens the directory of the options and ends what an earlier life in it has left running (HS-08, HS-21). Starts no
     * process but the spares asked for.
     *
     * @throws dev.holdfast.HoldfastException when another {@code HeldSessions} has the directory, or it cannot be used
     */
    public static HeldSessions open(HeldOptions options) {
        HeldDirectory directory = HeldDirectory.open(options.directory());
        var source = new SpawnedAgents();
        boolean opened = false;
        try {
            new Reaper(directory.path().resolve("run"))
                    .reap(
                            marker -> marker.store().equals(directory.store()) && marker.epoch() < directory.epoch(),
                            Ladder.standard());
            var held = open(
                    options, directory, source, new SystemBackground(), MemoryGauge.ofThisMachine(), source::close);
            opened = true;
            return held;
        } finally {
            if (!opened) {
                source.close();
                directory.close();
            }
        }
    }

    static HeldSessions open(
            HeldOptions options,
            HeldDirectory directory,
            AgentProcess.Source source,
            Background background,
            MemoryGauge gauge,
            Runnable atEnd) {
        var held = new HeldSessions(options, directory, source, background, gauge, atEnd);
        held.spares.fill();
        return held;
    }

    /** A new handle that nobody can guess. Starts nothing. */
    public SessionHandle handle() {
        return new SessionHandle(host.background().newId().toString());
    }

    /**
     * Runs a turn and waits for its result. An interrupt of the calling thread cancels the turn.
     *
     * @param agent what the process is started with; a live one with another binding refuses (HS-03)
     * @throws HeldFailure when the agent gave no result
     */
    public HeldResult run(SessionHandle handle, ClaudeCodeAgent agent, String text) throws InterruptedException {
        return run(handle, agent, TurnRequest.of(text));
    }

    /** Like {@link #run(SessionHandle, ClaudeCodeAgent, String)}, with everything a turn can be told. */
    public HeldResult run(SessionHandle handle, ClaudeCodeAgent agent, TurnRequest request)
            throws InterruptedException {
        return start(handle, agent, request).await();
    }

    /**
     * Starts a turn and does not wait. What goes wrong is in the turn's result.
     *
     * @throws IllegalArgumentException when the agent's tools are none that a held session can run
     */
    public HeldTurn start(SessionHandle handle, ClaudeCodeAgent agent, TurnRequest request) {
        BoundAgent bound = agent.bound();
        boolean cancelled = request.cancel().filter(TurnCancel::isCancelled).isPresent();
        boolean needsExecutor =
                !bound.onlyDescribed().isEmpty() && request.executor().isEmpty();
        boolean refused = closed || cancelled || needsExecutor;
        HeldSession session = refused ? new HeldSession(host, Optional.of(handle)) : session(handle, bound);
        var turn = new HeldTurn(session, bound, request, host.options().executor());
        if (cancelled) {
            turn.fail(new HeldFailure.Cancelled(handle, false));
        } else if (closed) {
            turn.fail(allClosed());
        } else if (needsExecutor) {
            turn.fail(new HeldFailure.NoExecutor(bound.onlyDescribed()));
        } else {
            session.submit(turn);
        }
        return turn;
    }

    private static HeldFailure allClosed() {
        return new HeldFailure.Closed("these HeldSessions are closed");
    }

    private HeldSession session(SessionHandle handle, BoundAgent bound) {
        HeldSession known = sessions.get(handle.id());
        if (known != null) {
            return known;
        }
        Optional<HeldSession> spare = troubles.has(handle) ? Optional.empty() : spares.take(handle, bound);
        HeldSession made = spare.orElseGet(() -> new HeldSession(host, Optional.of(handle)));
        known = sessions.computeIfAbsent(handle.id(), unused -> {
            spare.ifPresent(each -> each.claim(handle));
            return made;
        });
        if (known == made) {
            made.settle();
        } else if (spare.isPresent()) {
            var unused = made.close(true); // never named, so that it writes nothing down for the handle
        }
        if (closed) { // while it was being made: close() may have missed it
            var unused = known.close(true);
        }
        return known;
    }

    /** Control over the session's live process. */
    public HeldControl control(SessionHandle handle) {
        HeldSession known = sessions.get(handle.id());
        HeldSession session = known == null ? new HeldSession(host, Optional.of(handle)) : known;
        return new HeldControl(session, host.options().executor());
    }

    /**
     * Ends the session's process: a turn in flight fails with {@link HeldFailure.Closed} at once, its agent is interrupted
     * and then ended (HS-08). Does nothing for a handle without a process. The handle works again afterwards.
     *
     * @return completes when the process and all it has started are gone
     */
    public CompletionStage<Void> close(SessionHandle handle) {
        HeldSession session = sessions.get(handle.id());
        if (session == null) {
            var unused = troubles.take(handle);
            return CompletableFuture.completedStage(null);
        }
        return HeldTurn.handedOut(session.close(false), host.options().executor());
    }

    /** Lets a parked session start again (HS-13). */
    public void unpark(SessionHandle handle) {
        HeldSession session = sessions.get(handle.id());
        if (session == null) {
            var unused = troubles.take(handle);
        } else {
            session.unpark();
        }
    }

    /** How many places for processes are taken, spares included. */
    public int processes() {
        return host.pool().inUse();
    }

    /** How many spares are ready to be claimed. */
    int sparesReady() {
        return spares.ready();
    }

    /** How many sessions are more than a file: those with a process or with turns that wait. */
    int awake() {
        return sessions.size();
    }

    /**
     * Ends every process, fails every turn with {@link HeldFailure.Closed}, and waits for it, at most a minute.
     *
     * @throws IllegalStateException when called from within {@link HeldTurn#whenEnded}
     */
    @Override
    public void close() {
        Telling.mayWait("HeldSessions.close");
        closed = true;
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        spares.close().forEach(spare -> ends.add(spare.close(true)));
        sessions.values().forEach(session -> ends.add(session.close(true)));
        try {
            CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new))
                    .get(CLOSE_PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("closing held sessions left something unfinished", e);
        }
        atEnd.run();
        directory.close();
    }

    private final class Whole implements HeldHost.Sessions {
        @Override
        public void retire(SessionHandle handle, HeldSession session, Restarts trouble) {
            if (!trouble.untroubled()) {
                troubles.put(handle, trouble);
            }
            sessions.remove(handle.id(), session);
        }

        @Override
        public Restarts trouble(SessionHandle handle) {
            return troubles.take(handle);
        }

        @Override
        public void again(HeldTurn turn, SessionHandle handle, HeldSession retired) {
            sessions.remove(handle.id(), retired);
            if (closed) {
                turn.fail(allClosed());
            } else {
                turn.moveTo(session(handle, turn.bound()));
            }
        }

        @Override
        public void spareLost(HeldSession spare, Spares.Lost how) {
            spares.lost(spare, how);
        }
    }
}
