package dev.holdfast.journal;

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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** An open {@link Journal} and the calls its tests make. Knows the types of the API alone. */
abstract class JournalFixture {
    static final SessionName DESK = new SessionName("order-desk");
    static final Node NODE = new Node("node-1");
    static final Instant START = Instant.parse("2026-03-01T12:00:00.123456789Z");

    /** The clock the journal is opened with; a test may move it. */
    volatile Instant time = START;

    Journal journal;

    /** Opens the same store each time; it is closed before it is opened again. */
    abstract Journal openStore(InstantSource clock);

    @BeforeEach
    void openTheStore() {
        journal = openStore(() -> time);
    }

    @AfterEach
    void closeTheStore() {
        journal.close();
    }

    void reopen() {
        journal.close();
        journal = openStore(() -> time);
    }

    static <T> T now(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof RuntimeException named) {
                throw named;
            }
            throw new CompletionException(e.getCause());
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new AssertionError("the stage did not complete", e);
        }
    }

    static Delivery delivery(SessionName session, ArrivalKind kind, Optional<String> key, String body) {
        byte[] bytes = body.getBytes(UTF_8);
        return new Delivery(
                session, new MessageId(UUID.randomUUID()), kind, key, bytes, ("h:" + kind).getBytes(UTF_8), bytes);
    }

    static Delivery message(String body) {
        return delivery(DESK, ArrivalKind.MESSAGE, Optional.empty(), body);
    }

    static Delivery keyed(String key, String body) {
        return delivery(DESK, ArrivalKind.MESSAGE, Optional.of(key), body);
    }

    static Delivery urgent(ArrivalKind kind) {
        return delivery(DESK, kind, Optional.empty(), "");
    }

    Receipt accept(Delivery delivery) {
        return now(journal.accept(delivery));
    }

    void open(SessionName session) {
        now(journal.open(session, SessionLimits.standard()));
    }

    Claim claim() {
        return now(journal.claim(DESK, NODE));
    }

    List<Arrival> arrivals(Selection selection) {
        return now(journal.arrivals(DESK, 0, 100_000, selection));
    }

    SessionSummary summary() {
        return now(journal.session(DESK)).orElseThrow();
    }

    static Appended append(Claim claim, Draft draft) {
        return now(claim.append(draft.batch()));
    }

    static void assertProblem(Problem problem, CompletionStage<?> stage) {
        assertThatThrownBy(() -> now(stage))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(problem));
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    List<SessionName> ready() {
        return now(journal.ready(time, 100));
    }
}
