package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leases of the nodes of this process. One thread with a connection of its own registers a node at its first claim
 * and prolongs its lease by the server's clock, several times in each watchdog's time: so a slow commit of others is no
 * reason to lose it, and a server that is silent is noticed. Thread-safe.
 *
 * <p>A name that is alive elsewhere is not taken over. A lease that the node itself took for lost is replaced by a new
 * registration at the next claim.
 */
final class PostgresLeases implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresLeases.class);
    /** Prolongings in one watchdog's time. */
    private static final int BEATS = 4;
    /** Nodes that have not been alive for a day are forgotten. */
    private static final long FORGOTTEN_MICROS = Duration.ofDays(1).toNanos() / 1_000;

    private static final String CLOCK = "SELECT " + PostgresSql.SERVER_NOW;
    private static final String REGISTER = "INSERT INTO node(node, incarnation, lease_until)"
            + " VALUES(?, ?, " + PostgresSql.SERVER_NOW + " + ?) ON CONFLICT(node) DO UPDATE"
            + " SET incarnation = excluded.incarnation, lease_until = excluded.lease_until"
            + " WHERE node.lease_until <= " + PostgresSql.SERVER_NOW
            + " OR node.incarnation = excluded.incarnation OR node.incarnation = ?";
    private static final String PROLONG = "UPDATE node SET lease_until = " + PostgresSql.SERVER_NOW + " + ?"
            + " WHERE node = ? AND incarnation = ? AND lease_until > " + PostgresSql.SERVER_NOW;
    private static final String END = "UPDATE node SET lease_until = 0 WHERE node = ? AND incarnation = ?";
    private static final String FORGET = "DELETE FROM node WHERE lease_until < " + PostgresSql.SERVER_NOW + " - ?";

    private final PostgresConnections connections;
    private final PostgresUrl url;
    private final PostgresOptions options;
    private final long leaseMicros;
    private final long beatNanos;
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Guarded by the lock.
    private final Map<String, PostgresLease> leases = new HashMap<>();
    private final ArrayDeque<Registering> asked = new ArrayDeque<>();
    private boolean started;
    private boolean closing;
    private boolean abandoned;

    /** The thread's alone. */
    private @Nullable Connection connection;

    PostgresLeases(PostgresConnections connections, PostgresUrl url, PostgresOptions options) {
        this.connections = connections;
        this.url = url;
        this.options = options;
        this.leaseMicros = options.lease().toNanos() / 1_000;
        this.beatNanos = options.watchdog().toNanos() / BEATS;
        this.thread = JournalThreads.leases(this::run);
    }

    /** A node that waits to be registered. */
    private static final class Registering {
        final String node;
        final CompletableFuture<PostgresLease> stage = new CompletableFuture<>();
        final long since = Monotonic.nanos();
        /** Proposed once, so that a registration whose answer was lost is recognised. */
        long incarnation;

        Registering(String node) {
            this.node = node;
        }
    }

    /**
     * The node's lease, the one it has or a new one. The stage fails with OWNED when the name is alive in another
     * process.
     */
    CompletionStage<PostgresLease> of(Node node) {
        if (node.name().indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a node name has printable characters only; this one has U+0000");
        }
        lock.lock();
        try {
            PostgresLease known = leases.get(node.name());
            if (known != null && known.holds()) {
                return CompletableFuture.completedFuture(known);
            }
            if (closing) {
                return CompletableFuture.failedFuture(
                        new JournalException(Problem.STOPPED, "the journal in " + url + " is closed"));
            }
            for (Registering other : asked) {
                if (other.node.equals(node.name())) {
                    return other.stage;
                }
            }
            Registering registering = new Registering(node.name());
            asked.add(registering);
            if (!started) {
                started = true;
                thread.start();
            }
            changed.signal();
            return registering.stage;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a registration is one of this process. */
    boolean ours(PostgresLookups.NodeRow row) {
        lock.lock();
        try {
            PostgresLease known = leases.get(row.node());
            return known != null && known.incarnation() == row.incarnation();
        } finally {
            lock.unlock();
        }
    }

    /** Names of the nodes of this process. */
    Collection<String> names() {
        lock.lock();
        try {
            return List.copyOf(leases.keySet());
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        PostgresBackoff backoff = new PostgresBackoff();
        long nextBeat = Monotonic.nanos() + beatNanos;
        boolean reached = true;
        while (true) {
            List<Registering> registrations = waitUntil(nextBeat, reached);
            if (over()) {
                break;
            }
            try {
                for (Registering registering : registrations) {
                    register(registering);
                }
                if (Monotonic.nanos() - nextBeat >= 0) {
                    beat();
                    nextBeat = Monotonic.nanos() + beatNanos;
                }
                backoff.reset();
                reached = true;
            } catch (SQLException e) {
                reached = false;
                LOG.debug("the leases in {} could not be prolonged", url, e);
                disconnect();
                giveUp(PostgresProblems.of(e, "registering a node", url), PostgresProblems.mayPass(e));
                nextBeat = Monotonic.nanos() + Math.min(beatNanos, backoff.nanos());
            } catch (RuntimeException | Error e) { // nobody may wait for a thread that is gone
                reached = false;
                LOG.error("the leases in {} could not be prolonged", url, e);
                disconnect();
                giveUp(new JournalException(Problem.FAILED, "registering a node in " + url + " failed: " + e), false);
                nextBeat = Monotonic.nanos() + Math.min(beatNanos, backoff.nanos());
            }
        }
        finish();
    }

    private boolean over() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Registrations to be done; at the latest at the given time, then perhaps none.
     *
     * @param atOnce whether a registration is a reason to return before that time
     */
    private List<Registering> waitUntil(long nanos, boolean atOnce) {
        lock.lock();
        try {
            long left = nanos - Monotonic.nanos();
            while (!closing && left > 0 && !(atOnce && !asked.isEmpty())) {
                left = changed.awaitNanos(left);
            }
            return List.copyOf(asked);
        } catch (InterruptedException e) {
            // The thread is ours; nobody has a reason to interrupt it.
            return List.of();
        } finally {
            lock.unlock();
        }
    }

    private PostgresSql sql() throws SQLException {
        Connection open = connection;
        if (open == null) {
            Duration answer = options.watchdog().dividedBy(2);
            open = connections.apart(answer.compareTo(options.statement()) < 0 ? answer : options.statement());
            connection = open;
        }
        return new PostgresSql(open);
    }

    private void register(Registering registering) throws SQLException {
        PostgresLease before = lease(registering.node);
        long asking = Monotonic.nanos();
        PostgresSql sql = sql();
        if (registering.incarnation == 0) {
            sql.bind(FORGET, FORGOTTEN_MICROS).executeUpdate();
            try (ResultSet row = sql.bind(CLOCK).executeQuery()) {
                row.next();
                registering.incarnation = row.getLong(1);
            }
        }
        PreparedStatement insert = sql.bind(
                REGISTER,
                registering.node,
                registering.incarnation,
                leaseMicros,
                before == null ? registering.incarnation : before.incarnation());
        boolean registered = insert.executeUpdate() == 1;
        lock.lock();
        try {
            asked.remove(registering);
            if (registered) {
                PostgresLease lease = new PostgresLease(
                        registering.node,
                        registering.incarnation,
                        options.watchdog().toNanos(),
                        Monotonic::nanos,
                        asking);
                leases.put(registering.node, lease);
                registering.stage.complete(lease);
            }
        } finally {
            lock.unlock();
        }
        if (!registered) {
            registering.stage.completeExceptionally(new JournalException(
                    Problem.OWNED,
                    "node '" + registering.node + "' is alive in another process: give each process a name of its own;"
                            + " after a crash the name is free when its lease has run out, within " + options.lease()));
        }
    }

    private @Nullable PostgresLease lease(String node) {
        lock.lock();
        try {
            return leases.get(node);
        } finally {
            lock.unlock();
        }
    }

    private void beat() throws SQLException {
        List<PostgresLease> all;
        lock.lock();
        try {
            all = new ArrayList<>(leases.values());
        } finally {
            lock.unlock();
        }
        for (PostgresLease lease : all) {
            if (!lease.holds()) {
                continue;
            }
            long asking = Monotonic.nanos();
            int prolonged = sql().bind(PROLONG, leaseMicros, lease.node(), lease.incarnation())
                    .executeUpdate();
            if (prolonged == 1) {
                lease.prolonged(asking);
            } else {
                lease.lost("the server says that it is over");
            }
        }
    }

    /** Fails the registrations that have waited long enough, or all when waiting does not help. */
    private void giveUp(JournalException why, boolean mayPass) {
        List<Registering> failed = new ArrayList<>();
        lock.lock();
        try {
            for (Registering registering : List.copyOf(asked)) {
                if (!mayPass
                        || Monotonic.nanos() - registering.since
                                >= options.patience().toNanos()) {
                    asked.remove(registering);
                    failed.add(registering);
                }
            }
        } finally {
            lock.unlock();
        }
        failed.forEach(registering -> registering.stage.completeExceptionally(why));
    }

    private void disconnect() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (SQLException e) {
                LOG.debug("the leases' connection to {} was not closed cleanly", url, e);
            }
        }
    }

    /** Ends the leases, so that others need not wait for them to run out. */
    private void finish() {
        List<PostgresLease> all;
        List<Registering> left;
        boolean end;
        lock.lock();
        try {
            all = new ArrayList<>(leases.values());
            left = List.copyOf(asked);
            asked.clear();
            end = !abandoned;
        } finally {
            lock.unlock();
        }
        left.forEach(registering -> registering.stage.completeExceptionally(
                new JournalException(Problem.STOPPED, "the journal in " + url + " is closed")));
        if (end) {
            try {
                for (PostgresLease lease : all) {
                    lease.ended();
                    sql().bind(END, lease.node(), lease.incarnation()).executeUpdate();
                }
            } catch (SQLException e) {
                LOG.warn("the leases in {} were not given back and run out by themselves: {}", url, e.toString());
            }
        }
        disconnect();
    }

    /** Stops prolonging without giving anything back, as a process that was killed or stands still. For tests. */
    void abandon() {
        end(true);
    }

    /** Gives the leases back. Claims must have ended, or be allowed to. */
    @Override
    public void close() {
        end(false);
    }

    private void end(boolean abandon) {
        boolean running;
        lock.lock();
        try {
            closing = true;
            abandoned |= abandon;
            running = started;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (running && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
