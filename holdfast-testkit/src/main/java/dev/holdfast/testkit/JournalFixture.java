package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.MessageId;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * An open {@link Journal} and the calls its tests make; the base of {@link JournalConformance} and of whatever else is
 * to be tested of a store. Knows the types of the API alone. Needs JUnit and AssertJ, which the testkit does not bring
 * along.
 */
public abstract class JournalFixture {
    public static final SessionName DESK = new SessionName("order-desk");
    public static final Node NODE = new Node("node-1");
    public static final Instant START = Instant.parse("2026-03-01T12:00:00.123456789Z");

    private static final int PATIENCE_SECONDS = 60;

    /** What the journal's clock says; a test may move it. */
    protected volatile Instant time = START;

    /** Open from before to after each test; {@link #reopen} replaces it. */
    protected Journal journal;

    /** Opens the same store each time within one test; it is closed before it is opened again. */
    protected abstract Journal openStore(InstantSource clock);

    /** Lets the store do what it was asked to. Nothing to do for a store that has threads of its own. */
    protected void advance() {}

    @BeforeEach
    public final void openTheStore() {
        journal = openStore(() -> time);
    }

    @AfterEach
    public final void closeTheStore() {
        journal.close();
    }

    protected final void reopen() {
        journal.close();
        journal = openStore(() -> time);
    }

    /** What the stage gave, once the store has done it; as {@link #outcome}. */
    protected final <T> T now(CompletionStage<T> stage) {
        advance();
        return outcome(stage);
    }

    /**
     * Waits for a stage, at most a minute.
     *
     * @throws RuntimeException what it was completed with, when that is unchecked
     */
    public static <T> T outcome(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException named) {
                throw named;
            }
            throw new CompletionException(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("the stage did not complete within " + PATIENCE_SECONDS + " s", e);
        }
    }

    /** Asserts that the stage, completed by now, failed with this problem. */
    public static void assertFails(Problem problem, CompletionStage<?> stage) {
        assertThatThrownBy(() -> outcome(stage))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(problem));
    }

    /** As {@link #assertFails}, once the store has done it. */
    protected final void assertProblem(Problem problem, CompletionStage<?> stage) {
        advance();
        assertFails(problem, stage);
    }

    public static MessageId messageId() {
        return new MessageId(unique());
    }

    static UUID unique() {
        return UUID.randomUUID();
    }

    /** With a fingerprint that is the body, and a header that names the kind. */
    public static Delivery delivery(SessionName session, ArrivalKind kind, Optional<String> key, String body) {
        byte[] bytes = body.getBytes(UTF_8);
        return new Delivery(session, messageId(), kind, key, bytes, ("h:" + kind).getBytes(UTF_8), bytes);
    }

    public static Delivery message(String body) {
        return delivery(DESK, ArrivalKind.MESSAGE, Optional.empty(), body);
    }

    public static Delivery keyed(String key, String body) {
        return delivery(DESK, ArrivalKind.MESSAGE, Optional.of(key), body);
    }

    /** Of that kind and without a body. */
    public static Delivery urgent(ArrivalKind kind) {
        return delivery(DESK, kind, Optional.empty(), "");
    }

    /** The same delivery, sent to an address. */
    public static Delivery through(String address, Delivery d) {
        return new Delivery(
                d.session(),
                d.id(),
                d.kind(),
                d.key(),
                d.fingerprint(),
                d.header(),
                d.body(),
                Optional.of(address),
                d.onlyIdle());
    }

    protected final Receipt accept(Delivery delivery) {
        return now(journal.accept(delivery));
    }

    protected final void open(SessionName session) {
        now(journal.open(session, SessionLimits.standard()));
    }

    protected final Claim claim() {
        return now(journal.claim(DESK, NODE));
    }

    protected final List<Arrival> arrivals(Selection selection) {
        return now(journal.arrivals(DESK, 0, 100_000, selection));
    }

    protected final SessionSummary summary() {
        return now(journal.session(DESK)).orElseThrow();
    }

    protected final List<SessionName> ready() {
        return now(journal.ready(time, 100));
    }

    protected final Appended append(Claim claim, BatchDraft draft) {
        return now(claim.append(draft.batch()));
    }

    /** Runs it on a thread of its own, now. */
    protected static Thread start(Runnable work) {
        return Thread.ofPlatform().start(work);
    }

    public static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
