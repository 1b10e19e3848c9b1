package dev.holdfast.runtime;

import dev.holdfast.HoldfastException;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.Subscription;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives a session by a file that anything of this user may append to: one JSON object in each line (CH-07).
 *
 * <pre>
 * {"kind":"message","text":"Run the tests.","author":"ci","key":"build-812","policy":"steer"}
 * {"kind":"cancel"}   {"kind":"cancel","turn":7}   {"kind":"cancel","message":12}
 * {"kind":"stop"}
 * {"kind":"answer","question":"deploy-1","text":"yes"}
 * </pre>
 *
 * <p>Only {@code kind} and what is meant are needed. A <b>message</b> may name a delivery policy in lower case; every line
 * may name its author and a key of its own. A <b>cancel</b> that names nothing, and a <b>stop</b>, end what runs when they
 * are accepted: the open turn, or else the message next to run. A stop never names anything; it leaves the session as it
 * is, and what waits then runs. Everything comes in through the surface {@link ControlFileOptions#SURFACE} (CH-06).
 *
 * <p><b>Exactly once.</b> Each line is given to the session under an idempotency key: its own, or one made of the file, the
 * place of the line and all that stands before it. So whatever dies between the acceptance and the acknowledgement, the
 * line is accepted once (IN-12). What became of it is then written beside the file, in {@link #acknowledgements}. A line
 * that is no command is passed over with a {@linkplain ControlFileNotice notice}; one without its newline is waited for.
 * {@code ControlFileTail} says what counts as the same line when a file is cut, rewritten or rotated. Lines are acted on in
 * order, except that cancels, stops and answers go past messages that wait for room in the inbox.
 *
 * <p>The file must be a regular file of this user to which others may not write; one that is not there yet is waited for.
 * It is looked at ten times a second, by one timer for all control files of a process: not every file system tells of
 * changes by itself. At most 1 GiB and 1,000,000 lines of one file are read; then it must be rotated. Thread-safe.
 */
public final class ControlFile implements Subscription {
    private static final Logger LOG = LoggerFactory.getLogger(ControlFile.class);

    /** Between what a crash may come. */
    enum Step {
        /** A line was read and is given to the session next. */
        READ,
        /** The session gave its receipt, which is on disk; nothing is acknowledged. */
        ACCEPTED,
        /** Acknowledgements were written and not forced. */
        WRITTEN,
        /** They are on disk. */
        ACKNOWLEDGED
    }

    private final Path file;
    private final ControlFileOptions options;
    private final ControlFileAcks acks;
    private final ControlFileTail tail;
    private final ControlFileOrders orders;

    /** Held by whoever looks at the file, and taken by {@link #close} last. */
    private final ReentrantLock looking = new ReentrantLock();
    /** Completed by {@link #close}; ends the wait for a receipt. */
    private final CompletableFuture<Receipt> closing = new CompletableFuture<>();

    private Optional<Surroundings.Alarm> next = Optional.empty(); // guarded by looking
    private boolean released; // guarded by looking
    private String hindrance = ""; // guarded by looking

    private ControlFile(
            Session session, Path file, ControlFileOptions options, Consumer<Step> steps, ControlFileGuard guard)
            throws IOException {
        this.file = file;
        this.options = options;
        this.acks = ControlFileAcks.open(acknowledgements(file), session.name(), guard);
        this.tail = new ControlFileTail(file, options, guard, acks, this::tell);
        this.orders = new ControlFileOrders(session, acks, options.author(), this::tell, steps, closing);
    }

    /** Follows the file until closed, as {@link #follow(Session, Path, ControlFileOptions)} does with the standard options. */
    public static ControlFile follow(Session session, Path file) {
        return follow(session, file, ControlFileOptions.standard());
    }

    /**
     * Follows the file until closed.
     *
     * @throws HoldfastException when the file is one that must not command a session, its directory is missing, it is
     *     followed already, or it was followed for another session
     */
    public static ControlFile follow(Session session, Path file, ControlFileOptions options) {
        var followed = follow(session, file, options, step -> {});
        followed.begin();
        return followed;
    }

    /** Does nothing by itself before {@link #begin}; {@link #look} can be called instead. */
    static ControlFile follow(Session session, Path file, ControlFileOptions options, Consumer<Step> steps) {
        var absolute = file.toAbsolutePath().normalize();
        if (absolute.getParent() == null || absolute.getFileName() == null) {
            throw new HoldfastException("the control file must have a name; got " + file);
        }
        try {
            var guard = ControlFileGuard.of(absolute.getParent());
            var real = absolute.getParent().toRealPath().resolve(absolute.getFileName());
            ControlFileStat.of(real)
                    .flatMap(stat -> guard.objection(real, stat))
                    .ifPresent(objection -> {
                        throw new HoldfastException(objection);
                    });
            var followed = new ControlFile(session, real, options, steps, guard);
            if (followed.acks.damaged() > 0) {
                followed.tell(new ControlFileNotice(
                        ControlFileNotice.Kind.UNUSABLE,
                        followed.acknowledgements(),
                        0,
                        followed.acks.damaged()
                                + " lines cannot be read; what they told is asked of the session again"));
            }
            return followed;
        } catch (IOException e) {
            throw new HoldfastException("the control file " + file + " cannot be followed: " + e, e);
        }
    }

    /** The file that is followed. */
    public Path file() {
        return file;
    }

    /**
     * Where each line's fate is written, one JSON object in each line: {@code control.ack.jsonl} for
     * {@code control.jsonl}. A line is named by {@code file}, {@code start} and {@code end}; its {@code result} is
     * {@code accepted} or {@code duplicate} with a {@code number}, {@code refused} or {@code skipped} with the reason, or
     * {@code blank}.
     */
    public Path acknowledgements() {
        return acknowledgements(file);
    }

    private static Path acknowledgements(Path file) {
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return file.resolveSibling(dot <= 0 ? name + ".ack" : name.substring(0, dot) + ".ack" + name.substring(dot));
    }

    // ---- following ------------------------------------------------------------------------------------------------

    void begin() {
        lookAt(options.surroundings().now());
    }

    private void lookAt(Instant at) {
        looking.lock();
        try {
            if (!closing.isDone()) {
                var surroundings = options.surroundings();
                next = Optional.of(
                        surroundings.at(at, () -> surroundings.toolExecutor().execute(this::lookAgain)));
            }
        } finally {
            looking.unlock();
        }
    }

    private void lookAgain() {
        try {
            look();
        } finally {
            lookAt(options.surroundings().now().plus(options.poll()));
        }
    }

    /** Looks at the file once and acts on what is new. */
    void look() {
        looking.lock();
        try {
            if (!closing.isDone()) {
                lookAndAct();
                hindrance = "";
            }
        } catch (NoSuchFileException e) {
            LOG.debug("control file {}: renamed while it was looked at, which is done again", file, e);
        } catch (IOException | RuntimeException e) {
            if (!closing.isDone() && !e.toString().equals(hindrance)) {
                hindrance = e.toString();
                LOG.debug("control file {}", file, e);
                tell(new ControlFileNotice(
                        ControlFileNotice.Kind.UNUSABLE,
                        file,
                        0,
                        ControlFileLine.printable("it cannot be read now and is tried again: " + e)));
            }
        } finally {
            looking.unlock();
        }
    }

    private void lookAndAct() throws IOException {
        if (!orders.act()) {
            return;
        }
        tail.look();
        while (orders.roomy() && !closing.isDone()) {
            var lines = tail.next();
            if (lines.isEmpty()) {
                return;
            }
            orders.take(lines);
            if (!orders.act()) {
                return;
            }
        }
    }

    private void tell(ControlFileNotice notice) {
        try {
            options.notices().accept(notice);
        } catch (RuntimeException e) {
            LOG.warn("whoever is told of control files failed with {} over: {}", e.toString(), notice);
            LOG.debug("control file {}", file, e);
        }
    }

    /** Ends the following. A line that is being given to the session is still accepted or not, once; no other is acted on. */
    @Override
    public void close() {
        closing.completeExceptionally(new CancellationException("the control file is not followed any more"));
        looking.lock();
        try {
            if (released) {
                return;
            }
            released = true;
            next.ifPresent(Surroundings.Alarm::cancel);
            try (acks;
                    tail) {
                LOG.debug("control file {} is not followed any more", file);
            } catch (IOException e) {
                LOG.warn("control file {} was not closed cleanly", file, e);
            }
        } finally {
            looking.unlock();
        }
    }
}
