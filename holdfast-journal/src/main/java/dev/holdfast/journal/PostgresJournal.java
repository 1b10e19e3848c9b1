package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The journal on PostgreSQL 15 or newer. Any number of processes may share a database: each accepts for every session,
 * and each session has one owner (P3).
 *
 * <p><b>Durability.</b> A receipt is given after the server has committed, with {@code synchronous_commit} on.
 * Whatever waits in this process shares a commit, over all sessions. Each row has a checksum, checked at every read.
 * What a server forgets as a whole, because it was restored from an old copy or a standby that was behind was
 * promoted, nobody can tell: use synchronous standbys.
 *
 * <p><b>Failures.</b> A connection that is lost is replaced, and what became of a commit that was not answered is
 * looked up, as long as {@link PostgresOptions#patience()} lasts; then the stage fails. A row that somebody else
 * holds delays its own session only. Nothing waits without a limit, and the server frees the locks of a process that
 * is gone.
 *
 * <p><b>Owners.</b> A node owns sessions as long as the server's clock says that its lease is valid. It is registered
 * at its first claim, prolonged in the background and given back by {@link #close}. A node that could not prolong it
 * in time knows before the others do: its claims do not hold any more and their appends are answered as fenced.
 *
 * <p><b>Threads.</b> Thread-safe. Writes complete on a committer's thread, reads and claims on a reader's thread: what
 * depends on a stage must not block there, and must not close the journal there.
 *
 * <p><b>Pages.</b> A page of events or arrivals may be shorter than asked for, since it also ends at 16 MiB of payload;
 * only an empty page is the end.
 */
public final class PostgresJournal extends StoreReading implements Journal {
    /** As {@link Reads#READY}, without the sessions of other nodes that are alive. */
    static final String READY = "SELECT s.name FROM (" + Reads.WORK
            + ") w JOIN session s ON s.sid = w.sid JOIN journal_head h ON h.sid = w.sid"
            + " WHERE (s.admission < 2 OR (s.admission = 2 AND w.unread = 1)) AND NOT EXISTS (SELECT 1 FROM node n"
            + " WHERE n.node = h.node AND n.lease_until > " + PostgresSql.SERVER_NOW + " AND n.node <> ALL (?))"
            + " GROUP BY s.sid, s.name ORDER BY " + Reads.RESTS + ", min(w.since), s.sid LIMIT ?";

    private final PostgresOptions options;
    private final String storeId;
    private final PostgresConnections connections;
    private final PostgresCommitter committer;
    private final PostgresReadPool reads;
    private final PostgresLeases leases;
    /** The newest claim of each session that this process holds. */
    private final Map<SessionName, PostgresClaim> claims = new ConcurrentHashMap<>();

    private boolean closed;

    private PostgresJournal(PostgresUrl url, PostgresOptions options, String storeId, PostgresStep step) {
        this.options = options;
        this.storeId = storeId;
        int threads = options.journal().readers() + 1 + PostgresCommitter.STRAGGLERS;
        this.connections = new PostgresConnections(url, options, threads);
        this.committer = new PostgresCommitter(connections, url, options, step);
        this.reads = new PostgresReadPool(connections, url, options, committer::ended);
        this.leases = new PostgresLeases(connections, url, options);
        committer.start();
    }

    /**
     * Opens the store in a database, or creates it there, with {@link PostgresOptions#standard()}.
     *
     * @param url {@code postgresql://user:password@host:port/database}, or {@code jdbc:postgresql:…}
     * @throws JournalException NOT_FOUND, READ_ONLY, NEWER_FORMAT, DAMAGED, or FAILED when the server cannot be
     *     reached, does not let the user in or is too old; nothing was overwritten
     * @throws IllegalArgumentException when it is no such address
     */
    public static PostgresJournal at(String url) {
        return at(url, PostgresOptions.standard());
    }

    /** As {@link #at(String)}, with options. */
    public static PostgresJournal at(String url, PostgresOptions options) {
        return open(url, options, PostgresStep.NONE);
    }

    /**
     * Opens a store for reading: nothing is made or changed.
     *
     * @throws JournalException as {@link #at(String)}; NOT_FOUND also when there is no store in the database
     * @throws IllegalArgumentException when it is no such address
     */
    public static PostgresReader readOnly(String url, PostgresOptions options) {
        return PostgresReader.open(url, options);
    }

    static PostgresJournal open(String url, PostgresOptions options, PostgresStep step) {
        PostgresUrl where = PostgresUrl.of(url);
        String storeId;
        try (Connection connection = PostgresConnections.opened(where, options.schema(), options.statement())) {
            storeId = PostgresMigrations.apply(connection, options.schema(), where);
        } catch (SQLException e) {
            throw PostgresProblems.of(e, "opening the store", where);
        }
        return new PostgresJournal(where, options, storeId, step);
    }

    /** Hands any write to the committer. */
    <R> CompletionStage<R> submit(PostgresWrite<R> write) {
        return committer.submit(write);
    }

    @Override
    public String storeId() {
        return storeId;
    }

    @Override
    public Optional<Path> directory() {
        return Optional.empty();
    }

    /** Commits since this journal was opened. For benchmarks and tests of group commit. */
    public long commits() {
        return committer.commits();
    }

    @Override
    public CompletionStage<Boolean> open(SessionName name, SessionLimits limits) {
        return submit(new PostgresOpening(name, limits));
    }

    /**
     * {@inheritDoc}
     *
     * <p>When too much waits for the server, or the body is larger than {@link JournalOptions#bodyBytes()}, the
     * receipt is {@link Receipt.Refused}. A session that is not admitting still takes urgent kinds, until it is
     * closed for good: not admitting and in phase CLOSED. When the stage fails, the message says whether the delivery
     * may have been stored nevertheless.
     *
     * @throws IllegalArgumentException when the header has more than 65,536 bytes
     */
    @Override
    public CompletionStage<Receipt> accept(Delivery delivery) {
        return submit(new PostgresAccepting(
                        delivery.session(), List.of(delivery), options.journal().bodyBytes()))
                .thenApply(List::getFirst);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Whether the session is idle, for a delivery that wants that, is looked at before the first of them.
     *
     * @throws IllegalArgumentException when there are none or too many, when they go to several sessions, or when a
     *     header has more than 65,536 bytes
     */
    @Override
    public CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries) {
        AcceptanceOfAll.check(deliveries);
        return submit(new PostgresAccepting(
                deliveries.getFirst().session(), deliveries, options.journal().bodyBytes()));
    }

    /**
     * {@inheritDoc}
     *
     * <p>An address that the session has already keeps its place in the order of claims and gets these terms. The stage
     * fails with UNKNOWN_SESSION, and with FAILED when the session is closed for good.
     *
     * @throws IllegalArgumentException when the token is blank or longer than {@link Address#TOKEN_MAX}
     */
    @Override
    public CompletionStage<AddressClaim> claimAddress(SessionName session, String token, AddressTerms terms) {
        return submit(new PostgresAddressClaiming(session, token, terms));
    }

    @Override
    public CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens) {
        return submit(new PostgresReleasing(session, tokens));
    }

    /**
     * {@inheritDoc}
     *
     * <p>The whole session is held in memory, bodies included. Addresses that were given up are among its addresses,
     * unless another session has claimed them since.
     */
    @Override
    public CompletionStage<SessionImage> image(SessionName name) {
        return reads.readAtOnce("reading session '" + name + "' as a whole", sql -> ImageReads.read(sql, name));
    }

    /**
     * {@inheritDoc}
     *
     * <p>The stage fails with DAMAGED, naming what is wrong, when the image is not whole, and with FAILED when another
     * session has one of its addresses. Nothing is stored then.
     */
    @Override
    public CompletionStage<Boolean> restore(SessionImage image) {
        PostgresRestoring restoring;
        try {
            restoring = new PostgresRestoring(image);
        } catch (JournalException e) {
            return CompletableFuture.failedFuture(e);
        }
        return submit(restoring);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Nodes of this journal are one process, which knows who of them owns what: a claim for one fences the claim of
     * another. The stage fails with OWNED as well when the node's name is alive in another process.
     */
    @Override
    public CompletionStage<Claim> claim(SessionName name, Node node) {
        JournalException end = committer.ended();
        if (end != null) {
            return CompletableFuture.failedFuture(end);
        }
        return leases.of(node)
                .thenCompose(lease -> submit(new PostgresTaking(name, lease, leases))
                        .thenCompose(epoch -> reads.read(
                                "recovering session '" + name + "'",
                                sql -> held(new PostgresClaim(
                                        committer,
                                        name,
                                        epoch,
                                        Reads.recovered(sql, name),
                                        lease,
                                        given -> claims.remove(name, given))))));
    }

    private Claim held(PostgresClaim claim) {
        claims.merge(claim.session(), claim, (known, other) -> {
            PostgresClaim newest = known.epoch() > other.epoch() ? known : other;
            (newest == known ? other : known).fence();
            return newest;
        });
        return claim;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Those of another node that is alive are not among them. A session closed for good is among them only while one of
     * its arrivals is not named by an event yet (IN-22).
     */
    @Override
    public CompletionStage<List<SessionName>> ready(Instant now, int max) {
        atLeastOne(max);
        return reads.read(
                "looking for ready sessions",
                sql -> Reads.names(sql.bind(READY, Micros.of(now), sql.texts(leases.names()), max)));
    }

    /** {@inheritDoc} What other processes accept is not announced here: {@link #ready} finds it. */
    @Override
    public void onAccepted(Consumer<SessionName> listener) {
        committer.listen(listener);
    }

    /** Reads every row and checks checksums, numbers and sums; for {@code doctor}. Takes long on a large store. */
    public CompletionStage<Verification> verify() {
        return reads.read("verifying", sql -> Verifier.verify(sql, "schema " + options.schema()));
    }

    /** Does not prolong leases any more nor give them back, as a process that stands still; writes go on. For tests. */
    void abandonLeases() {
        leases.abandon();
    }

    @Override
    <R> CompletionStage<R> read(String what, Query<R> query) {
        return reads.read(what, query::of);
    }

    /** Commits what waits, as far as its patience lasts, and gives the leases back. Idempotent. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        committer.close();
        closed = true;
        reads.close();
        leases.close();
        connections.close();
    }
}
