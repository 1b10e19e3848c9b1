package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal in a directory of the local disk, on SQLite. One process owns the directory (LV-07); any number may read
 * beside it, see {@link #readOnly}.
 *
 * <p><b>Durability.</b> Each commit is one fsync of the write-ahead log; whatever waits shares it, over all sessions.
 * The number of the last commit is kept in the file {@code head} beside the database, and a database that is behind it
 * is refused with the numbers that are missing (LV-09). Each row has a checksum, checked at every read.
 *
 * <p><b>Failures.</b> A write that fails for want of space fails alone with FULL_DISK. Every other failed write stops
 * the journal: from then on each call fails with STOPPED and names the cause.
 *
 * <p><b>Threads.</b> Thread-safe. Writes complete on the committer's thread, reads and claims on a reader's thread:
 * what depends on a stage must not block there, and must not close the journal there.
 *
 * <p><b>Pages.</b> A page of events or arrivals may be shorter than asked for, since it also ends at 16 MiB of payload;
 * only an empty page is the end.
 */
public final class SqliteJournal extends StoreReading implements Journal {
    private static final Logger LOG = LoggerFactory.getLogger(SqliteJournal.class);

    private final DataDirectory directory;
    private final JournalOptions options;
    private final String storeId;
    private final Committer committer;
    private final ReadPool reads;
    /** Open until after the writing connection is closed; see {@link Database}. */
    private final Statements keeper;

    private boolean closed;

    private SqliteJournal(
            DataDirectory directory,
            JournalOptions options,
            String storeId,
            Committer committer,
            ReadPool reads,
            Statements keeper) {
        this.directory = directory;
        this.options = options;
        this.storeId = storeId;
        this.committer = committer;
        this.reads = reads;
        this.keeper = keeper;
    }

    /**
     * Opens the store in {@code directory}, or creates it, with {@link JournalOptions#standard()}.
     *
     * @throws JournalException IN_USE, READ_ONLY, FULL_DISK, DAMAGED or NEWER_FORMAT; nothing was overwritten
     */
    public static SqliteJournal at(Path directory) {
        return at(directory, JournalOptions.standard());
    }

    /** As {@link #at(Path)}, with options. */
    public static SqliteJournal at(Path directory, JournalOptions options) {
        return open(directory, options, Step.NONE);
    }

    /**
     * Opens the store in {@code directory} for reading, also while another process owns it. Nothing is created or
     * changed but SQLite's own {@code -shm} file.
     *
     * @throws JournalException NOT_FOUND, DAMAGED, NEWER_FORMAT, or READ_ONLY when the store was not closed cleanly and
     *     its directory does not let SQLite make the {@code -shm} file it needs for that
     */
    public static SqliteReader readOnly(Path directory) {
        return SqliteReader.open(directory);
    }

    static SqliteJournal open(Path path, JournalOptions options, Step step) {
        DataDirectory directory = DataDirectory.own(path);
        Opened opened = new Opened();
        boolean done = false;
        try {
            directory.sweep();
            System.setProperty("org.sqlite.tmpdir", directory.run().toString());
            SqliteJournal journal = opened.open(directory, options, step);
            done = true;
            return journal;
        } catch (SQLException e) {
            throw Problems.of(e, "opening the store", directory.path());
        } catch (IOException e) {
            throw Problems.of(e, "opening the store", directory.path());
        } finally {
            if (!done) {
                opened.undo();
                directory.release(!directory.killed());
            }
        }
    }

    /** What was opened so far, so that a failure half-way leaves nothing open. */
    private static final class Opened {
        private @Nullable Statements keeper;
        private @Nullable Statements writer;
        private @Nullable HeadFile head;

        SqliteJournal open(DataDirectory directory, JournalOptions options, Step step)
                throws SQLException, IOException {
            Path path = directory.path();
            if (isNew(path)) {
                create(directory);
            } else {
                check(directory);
                keeper = Database.reading(path);
                Database.check(keeper, Database.head(path), path);
            }
            Statements sql = Database.writing(path);
            writer = sql;
            Migrations.apply(sql, path);
            HeadFile headFile = HeadFile.open(DataDirectory.head(path));
            head = headFile;
            WriteStore store = new WriteStore(sql, headFile, path, step);
            store.begin(options.clock().instant());
            store.changed();
            store.commit(0);
            String storeId = Database.meta(sql, "store_id");
            Statements kept = keeper == null ? Database.reading(path) : keeper;
            keeper = kept;
            Database.number(kept, "commit_no", path);
            Committer committer = new Committer(store, path, options);
            ReadPool reads = new ReadPool(
                    () -> new ReadPool.Connected(Database.reading(path), false),
                    path,
                    options.readers(),
                    committer::ended);
            committer.start();
            return new SqliteJournal(directory, options, storeId, committer, reads, kept);
        }

        void undo() {
            close(writer);
            close(keeper);
            close(head);
        }

        private static void close(@Nullable AutoCloseable open) {
            if (open != null) {
                try {
                    open.close();
                } catch (Exception e) {
                    LOG.warn("not closed cleanly after a failed start: {}", e.toString());
                }
            }
        }
    }

    /** Whether nothing was ever committed here. A database of any size without a head file is not new. */
    private static boolean isNew(Path path) throws IOException {
        OptionalLong head = HeadFile.read(DataDirectory.head(path));
        Path database = DataDirectory.database(path);
        long size = Files.exists(database) ? Files.size(database) : 0;
        Path wal = DataDirectory.wal(path);
        if (size > 0 || (Files.exists(wal) && Files.size(wal) > 0)) {
            return false;
        }
        if (head.orElse(0) > 0) {
            throw new JournalException(
                    Problem.DAMAGED,
                    "the database " + database + " is missing or empty; commits 1 to " + head.getAsLong()
                            + " were acknowledged. Restore it together with its -wal file, or move the file head away"
                            + " to begin with an empty store");
        }
        return true;
    }

    /** The head file is there before the database, so that a database without one has lost it. */
    private static void create(DataDirectory directory) throws IOException {
        Path path = directory.path();
        Path head = DataDirectory.head(path);
        DataDirectory.createPrivately(head);
        Files.write(head, new byte[Long.BYTES], StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
        directory.force();
        DataDirectory.createPrivately(DataDirectory.database(path));
        directory.force();
    }

    /**
     * Checks the whole database where its log cannot be trusted to complete it: the {@code -wal} file is missing, which
     * a clean end leaves behind empty, or the last owner was killed and the log does not begin as one. It may have held
     * commits, and the database may have been left in the middle of a checkpoint.
     */
    private static void check(DataDirectory directory) throws SQLException, IOException {
        Path path = directory.path();
        Path wal = DataDirectory.wal(path);
        boolean missing = !Files.exists(wal);
        if (!missing && (!directory.killed() || WalFile.begins(wal))) {
            return;
        }
        try (Statements sql = Database.readingUntouched(path)) {
            if (Database.check(sql, Database.head(path), path) == 0) {
                return;
            }
            String state = missing ? " is missing" : " holds nothing that SQLite would read";
            Verification found = Verifier.verify(sql, path);
            if (!found.sound()) {
                throw new JournalException(
                        Problem.DAMAGED,
                        wal + state + " and the database alone is not whole: " + String.join("; ", found.problems()));
            }
            LOG.warn(
                    "{}{}; all {} arrivals and {} events were checked and are whole",
                    wal,
                    state,
                    found.arrivals(),
                    found.events());
        }
    }

    /** Hands any write to the committer. */
    <R> CompletionStage<R> submit(Write<R> write) {
        return committer.submit(write);
    }

    @Override
    public String storeId() {
        return storeId;
    }

    @Override
    public Optional<Path> directory() {
        return Optional.of(directory.path());
    }

    /** Commits since this journal was opened: each is one fsync. For benchmarks and tests of group commit. */
    public long commits() {
        return committer.commits();
    }

    /** Reads every row and checks checksums, numbers and sums; for {@code doctor}. Takes long on a large store. */
    public CompletionStage<Verification> verify() {
        return reads.read("verifying", sql -> Verifier.verify(sql, directory.path()));
    }

    @Override
    public CompletionStage<Boolean> open(SessionName name, SessionLimits limits) {
        return submit(new Opening(name, limits));
    }

    /**
     * {@inheritDoc}
     *
     * <p>When too much waits for the disk, or the body is larger than {@link JournalOptions#bodyBytes()}, the receipt
     * is {@link Receipt.Refused}. A session that is not admitting still takes kinds that are not counted, until it is
     * closed for good: not admitting and in phase CLOSED.
     *
     * @throws IllegalArgumentException when the header has more than 65,536 bytes
     */
    @Override
    public CompletionStage<Receipt> accept(Delivery delivery) {
        return submit(new Acceptance(delivery, options.bodyBytes()));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Whether the session is idle, for a delivery that wants that, is looked at before the first of them. All share
     * one commit, whatever their size.
     *
     * @throws IllegalArgumentException when there are none or too many, when they go to several sessions, or when a
     *     header has more than 65,536 bytes
     */
    @Override
    public CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries) {
        return submit(new AcceptanceOfAll(deliveries, options.bodyBytes()));
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
        return submit(new AddressClaiming(session, token, terms));
    }

    @Override
    public CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens) {
        return submit(new AddressRelease(session, tokens));
    }

    /**
     * {@inheritDoc}
     *
     * <p>The whole session is held in memory, bodies included. Addresses that were given up are among its addresses,
     * unless another session has claimed them since.
     */
    @Override
    public CompletionStage<SessionImage> image(SessionName name) {
        return reads.read("reading session '" + name + "' as a whole", sql -> ImageReads.image(sql, name));
    }

    /**
     * {@inheritDoc}
     *
     * <p>The stage fails with DAMAGED, naming what is wrong, when the image is not whole, and with FAILED when another
     * session has one of its addresses. Nothing is stored then. All is written in one commit, which others wait for.
     */
    @Override
    public CompletionStage<Boolean> restore(SessionImage image) {
        Restoring restoring;
        try {
            restoring = new Restoring(image);
        } catch (JournalException e) {
            return CompletableFuture.failedFuture(e);
        }
        return submit(restoring);
    }

    @Override
    public CompletionStage<Claim> claim(SessionName name, Node node) {
        return submit(new Taking(name, node))
                .thenCompose(epoch -> reads.read(
                        "recovering session '" + name + "'",
                        sql -> new SqliteClaim(committer, name, epoch, Reads.recovered(sql, name))));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Those that have waited longest come first. A session closed for good is among them only while one of its
     * arrivals is not named by an event yet (IN-22).
     */
    @Override
    public CompletionStage<List<SessionName>> ready(Instant now, int max) {
        atLeastOne(max);
        return reads.read("looking for ready sessions", sql -> Reads.ready(sql, now, max));
    }

    @Override
    public void onAccepted(Consumer<SessionName> listener) {
        committer.listen(listener);
    }

    @Override
    <R> CompletionStage<R> read(String what, Query<R> query) {
        return reads.read(what, query::of);
    }

    /** Commits what waits, folds the log into the database, and gives the directory back. Idempotent. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        committer.close();
        closed = true;
        reads.close();
        try {
            keeper.close();
        } catch (SQLException e) {
            LOG.warn("the last connection to {} was not closed cleanly: {}", directory.path(), e.toString());
        }
        directory.release(committer.endedCleanly());
    }
}
