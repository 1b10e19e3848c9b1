package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.EventRecord;
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
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every {@link Journal} must do, whatever it is stored in. Knows the types of the API alone. */
abstract class JournalConformance {
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

    static EventRecord event(String type) {
        return new EventRecord(type, 1, OptionalLong.empty(), ("{" + type + "}").getBytes(UTF_8));
    }

    static final Batch.Summary OPEN = new Batch.Summary("OPEN", "", Optional.empty(), OptionalLong.empty(), "");

    /** A batch in the making; what is not said is unchanged or absent. */
    record Draft(
            UUID id,
            long expectedSeq,
            List<EventRecord> events,
            Optional<Batch.Admission> admission,
            long takenThrough,
            long done,
            long doneBytes,
            OptionalLong quiet,
            Optional<Instant> due,
            OptionalLong turn,
            Batch.Summary summary,
            Optional<SnapshotRecord> snapshot) {
        static Draft after(long seq, String... types) {
            return new Draft(
                    UUID.randomUUID(),
                    seq,
                    Arrays.stream(types).map(JournalConformance::event).toList(),
                    Optional.empty(),
                    0,
                    0,
                    0,
                    OptionalLong.empty(),
                    Optional.empty(),
                    OptionalLong.empty(),
                    OPEN,
                    Optional.empty());
        }

        Draft admitting(boolean open, String reason) {
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    Optional.of(new Batch.Admission(open, reason)),
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    due,
                    turn,
                    summary,
                    snapshot);
        }

        Draft taken(long through, long count, long bytes) {
            return new Draft(
                    id, expectedSeq, events, admission, through, count, bytes, quiet, due, turn, summary, snapshot);
        }

        Draft quiet(long through) {
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    OptionalLong.of(through),
                    due,
                    turn,
                    summary,
                    snapshot);
        }

        Draft due(Instant at) {
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    Optional.of(at),
                    turn,
                    summary,
                    snapshot);
        }

        Draft turn(long number) {
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    due,
                    OptionalLong.of(number),
                    summary,
                    snapshot);
        }

        Draft summary(Batch.Summary next) {
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    due,
                    turn,
                    next,
                    snapshot);
        }

        Draft snapshot(String state) {
            SnapshotRecord record = new SnapshotRecord(expectedSeq + events.size(), 3, state.getBytes(UTF_8));
            return new Draft(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    due,
                    turn,
                    summary,
                    Optional.of(record));
        }

        Batch batch() {
            return new Batch(
                    id,
                    expectedSeq,
                    events,
                    admission,
                    takenThrough,
                    done,
                    doneBytes,
                    quiet,
                    due,
                    turn,
                    summary,
                    snapshot);
        }
    }

    static Appended append(Claim claim, Draft draft) {
        return now(claim.append(draft.batch()));
    }

    static void assertProblem(Problem problem, CompletionStage<?> stage) {
        assertThatThrownBy(() -> now(stage))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(problem));
    }

    // Opening

    @Test
    @Tag("IN-16")
    void open_twoSendersAtOnce_oneSessionAndBothMessagesOnce() {
        SessionLimits limits = SessionLimits.standard();
        List<CompletionStage<Boolean>> opened = new ArrayList<>();
        List<CompletionStage<Receipt>> receipts = new ArrayList<>();
        Thread.Builder threads = Thread.ofPlatform();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> senders = IntStream.range(0, 2)
                .mapToObj(i -> threads.start(() -> {
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    synchronized (opened) {
                        opened.add(journal.open(DESK, limits));
                        receipts.add(journal.accept(message("from " + i)));
                    }
                }))
                .toList();
        go.countDown();
        senders.forEach(JournalConformance::join);
        assertThat(opened.stream().map(JournalConformance::now)).containsExactlyInAnyOrder(true, false);
        assertThat(receipts.stream().map(JournalConformance::now)).allMatch(Receipt.Accepted.class::isInstance);
        assertThat(arrivals(Selection.WITH_BODIES))
                .extracting(arrival -> new String(arrival.body(), UTF_8))
                .containsExactlyInAnyOrder("from 0", "from 1");
        assertThat(now(journal.sessions(Optional.empty(), 10))).hasSize(1);
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void open_again_keepsTheFirstLimits() {
        now(journal.open(DESK, new SessionLimits(1, 100)));
        assertThat(now(journal.open(DESK, new SessionLimits(50, 5_000)))).isFalse();
        accept(message("one"));
        assertThat(accept(message("two"))).isInstanceOf(Receipt.Full.class);
    }

    @Test
    void session_neverOpened_isAbsentAndRefusedByName() {
        assertThat(now(journal.session(DESK))).isEmpty();
        assertThat(accept(message("hello"))).isEqualTo(new Receipt.UnknownSession(DESK));
        assertProblem(Problem.UNKNOWN_SESSION, journal.claim(DESK, NODE));
        assertProblem(Problem.UNKNOWN_SESSION, journal.events(DESK, 0, 10));
        assertProblem(Problem.UNKNOWN_SESSION, journal.arrivals(DESK, 0, 10, Selection.HEADERS));
        open(DESK);
        assertThat(accept(message("hello"))).isInstanceOf(Receipt.Accepted.class);
    }

    // Accepting

    @Test
    @Tag("P1")
    void accept_messages_areNumberedWithoutGapsAndThereAfterReopening() {
        open(DESK);
        for (int i = 1; i <= 5; i++) {
            Delivery sent = message("text " + i);
            assertThat(accept(sent))
                    .isInstanceOfSatisfying(Receipt.Accepted.class, receipt -> {
                        assertThat(receipt.id()).isEqualTo(sent.id());
                        assertThat(receipt.acceptedAt())
                                .isBeforeOrEqualTo(START)
                                .isAfter(START.minusMillis(1));
                    })
                    .extracting(receipt -> ((Receipt.Accepted) receipt).number())
                    .isEqualTo((long) i);
        }
        reopen();
        List<Arrival> kept = arrivals(Selection.WITH_BODIES);
        assertThat(kept).extracting(Arrival::number).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(new String(kept.get(4).body(), UTF_8)).isEqualTo("text 5");
        assertThat(new String(kept.get(4).header(), UTF_8)).isEqualTo("h:MESSAGE");
        assertThat(kept.get(4).kind()).isEqualTo(ArrivalKind.MESSAGE);
        assertThat(kept.get(4).bytes()).isEqualTo(6);
        assertThat(((Receipt.Accepted) accept(message("text 6"))).number()).isEqualTo(6);
    }

    @Test
    void accept_anyBytes_areReadBackAsTheyWere() {
        open(DESK);
        int[] sizes = {0, 1, 65_536, 65_537, 300_000, 300_000};
        List<byte[]> bodies = new ArrayList<>();
        for (int size : sizes) {
            byte[] body = new byte[size];
            for (int i = 0; i < size; i++) {
                body[i] = (byte) (i * 31);
            }
            bodies.add(body);
            MessageId id = new MessageId(UUID.randomUUID());
            accept(new Delivery(DESK, id, ArrivalKind.MESSAGE, Optional.empty(), new byte[0], new byte[0], body));
        }
        List<Arrival> read = arrivals(Selection.WITH_BODIES);
        for (int i = 0; i < sizes.length; i++) {
            assertThat(read.get(i).body()).isEqualTo(bodies.get(i));
            assertThat(read.get(i).bytes()).isEqualTo(sizes[i]);
            assertThat(read.get(i).header()).isEmpty();
        }
        List<Arrival> headers = arrivals(Selection.HEADERS);
        assertThat(headers).allMatch(arrival -> arrival.body().length == 0);
        assertThat(headers).extracting(Arrival::bytes).containsExactly(0L, 1L, 65_536L, 65_537L, 300_000L, 300_000L);
    }

    @Test
    @Tag("IN-12")
    void accept_sameKeyAndContent_givesTheFirstReceiptForEver() {
        open(DESK);
        Receipt.Accepted first = (Receipt.Accepted) accept(keyed("web-1", "hello"));
        time = START.plusSeconds(3600);
        Receipt.Duplicate expected = new Receipt.Duplicate(first.id(), first.number(), first.acceptedAt());
        assertThat(accept(keyed("web-1", "hello"))).isEqualTo(expected);
        reopen();
        assertThat(accept(keyed("web-1", "hello"))).isEqualTo(expected);
        Claim claim = claim();
        append(
                claim,
                Draft.after(0, "closed")
                        .taken(1, 1, 5)
                        .admitting(false, "closed by its user")
                        .summary(new Batch.Summary("CLOSED", "closed", Optional.empty(), OptionalLong.empty(), "")));
        assertThat(accept(keyed("web-1", "hello"))).isEqualTo(expected);
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    void accept_sameKeyAtOnce_isAcceptedOnceAlsoWithinOneCommit() {
        open(DESK);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            stages.add(journal.accept(keyed("same", "hello")));
        }
        List<Receipt> receipts = stages.stream().map(JournalConformance::now).toList();
        assertThat(receipts.stream().filter(Receipt.Accepted.class::isInstance)).hasSize(1);
        Receipt.Accepted first = (Receipt.Accepted) receipts.getFirst();
        assertThat(receipts.stream().skip(1))
                .allMatch(new Receipt.Duplicate(first.id(), 1, first.acceptedAt())::equals);
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    void accept_sameKeyWithOtherContent_isAConflictAndStoresNothing() {
        open(DESK);
        accept(keyed("web-1", "hello"));
        assertThat(accept(keyed("web-1", "good bye"))).isEqualTo(new Receipt.KeyConflict(1));
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    void accept_sameKeyToAnotherSession_isAnotherMessage() {
        SessionName other = new SessionName("other");
        open(DESK);
        open(other);
        accept(keyed("web-1", "hello"));
        assertThat(accept(delivery(other, ArrivalKind.MESSAGE, Optional.of("web-1"), "hello")))
                .isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    @Tag("MB-18")
    void accept_atTheLimitOfMessages_refusesTheNewestAndLetsUrgentKindsThrough() {
        now(journal.open(DESK, new SessionLimits(3, 1_000)));
        accept(message("1"));
        accept(delivery(DESK, ArrivalKind.STEER, Optional.empty(), "2"));
        assertThat(accept(message("3"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message("4"))).isEqualTo(new Receipt.Full(3, 3, "messages"));
        assertThat(accept(delivery(DESK, ArrivalKind.STEER, Optional.empty(), "4")))
                .isEqualTo(new Receipt.Full(3, 3, "messages"));
        for (ArrivalKind kind : ArrivalKind.values()) {
            if (kind.urgent()) {
                assertThat(accept(urgent(kind))).isInstanceOf(Receipt.Accepted.class);
            }
        }
        assertThat(summary().unread()).isEqualTo(3);
        append(claim(), Draft.after(0, "taken").taken(1, 1, 1));
        assertThat(accept(message("4"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message("5"))).isEqualTo(new Receipt.Full(3, 3, "messages"));
        assertThat(arrivals(Selection.WITH_BODIES).stream()
                        .filter(arrival -> !arrival.kind().urgent())
                        .map(arrival -> new String(arrival.body(), UTF_8)))
                .containsExactly("1", "2", "3", "4");
    }

    @Test
    @Tag("LV-09")
    void accept_atTheLimitOfBytes_refusesTheNewest() {
        now(journal.open(DESK, new SessionLimits(100, 10)));
        assertThat(accept(message("0123456789x"))).isEqualTo(new Receipt.Full(0, 10, "bytes"));
        accept(message("012345"));
        assertThat(accept(message("01234"))).isEqualTo(new Receipt.Full(6, 10, "bytes"));
        assertThat(accept(message("0123"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message(""))).isInstanceOf(Receipt.Accepted.class);
        append(claim(), Draft.after(0, "taken").taken(1, 1, 6));
        assertThat(accept(message("0123456"))).isEqualTo(new Receipt.Full(4, 10, "bytes"));
        assertThat(accept(message("012345"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    void accept_whileNotAdmitting_refusesOrdinaryKindsAndTakesUrgentOnes() {
        open(DESK);
        Claim claim = claim();
        append(
                claim,
                Draft.after(0, "parked")
                        .admitting(false, "parked: no login")
                        .summary(new Batch.Summary("PARKED", "", Optional.empty(), OptionalLong.empty(), "")));
        assertThat(accept(message("hello"))).isEqualTo(new Receipt.Refused("parked: no login"));
        assertThat(accept(delivery(DESK, ArrivalKind.STEER, Optional.empty(), "x")))
                .isInstanceOf(Receipt.Refused.class);
        assertThat(accept(urgent(ArrivalKind.RESUME))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(urgent(ArrivalKind.CLOSE))).isInstanceOf(Receipt.Accepted.class);
        append(claim, Draft.after(1, "resumed").taken(1, 0, 0).admitting(true, ""));
        assertThat(accept(message("hello"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    void accept_afterTheSessionIsClosedForGood_refusesEveryKind() {
        open(DESK);
        append(
                claim(),
                Draft.after(0, "closed")
                        .admitting(false, "closed by its user")
                        .summary(new Batch.Summary("CLOSED", "", Optional.empty(), OptionalLong.empty(), "")));
        reopen();
        for (ArrivalKind kind : ArrivalKind.values()) {
            assertThat(accept(delivery(DESK, kind, Optional.empty(), "x")))
                    .isEqualTo(new Receipt.Refused("closed by its user"));
        }
    }

    @Test
    @Tag("IN-05")
    void accept_urgentKinds_areBoundToTheTurnAndThePlaceAtAcceptance() {
        open(DESK);
        accept(message("a"));
        accept(message("b"));
        accept(urgent(ArrivalKind.CANCEL));
        Claim claim = claim();
        append(claim, Draft.after(0, "turn").taken(2, 2, 2).turn(7));
        accept(urgent(ArrivalKind.CANCEL));
        accept(message("c"));
        append(claim, Draft.after(1, "settled").taken(4, 2, 2));
        reopen();
        accept(urgent(ArrivalKind.CANCEL));
        List<Arrival> found = now(journal.arrivals(DESK, 0, 10, Selection.URGENT_HEADERS));
        assertThat(found).extracting(Arrival::number).containsExactly(3L, 4L, 6L);
        assertThat(found)
                .extracting(Arrival::boundTurn)
                .containsExactly(OptionalLong.empty(), OptionalLong.of(7), OptionalLong.empty());
        assertThat(found).extracting(Arrival::boundAfter).containsExactly(0L, 2L, 4L);
        Arrival ordinary = arrivals(Selection.HEADERS).get(4);
        assertThat(ordinary.boundTurn()).isEmpty();
        assertThat(ordinary.boundAfter()).isZero();
    }

    @Test
    void onAccepted_isCalledAfterTheCommit_withEachSession() {
        SessionName other = new SessionName("other");
        Set<SessionName> heard = ConcurrentHashMap.newKeySet();
        open(DESK);
        open(other);
        journal.onAccepted(session -> {
            throw new IllegalStateException("a listener that fails");
        });
        journal.onAccepted(heard::add);
        accept(message("x"));
        accept(delivery(other, ArrivalKind.MESSAGE, Optional.empty(), "x"));
        org.awaitility.Awaitility.await().until(() -> heard.equals(Set.of(DESK, other)));
    }

    // Owning

    @Test
    @Tag("P3")
    void claim_raisesTheEpochAndFencesTheOlderClaim() {
        open(DESK);
        Claim first = claim();
        assertThat(first.epoch()).isEqualTo(1);
        assertThat(append(first, Draft.after(0, "a"))).isEqualTo(new Appended.Committed(1));
        Claim second = now(journal.claim(DESK, new Node("node-2")));
        assertThat(second.epoch()).isEqualTo(2);
        assertThat(append(first, Draft.after(1, "stale"))).isEqualTo(new Appended.Fenced(2));
        assertThat(append(second, Draft.after(1, "b"))).isEqualTo(new Appended.Committed(2));
        now(first.resign(Optional.of(new SnapshotRecord(2, 1, "stale".getBytes(UTF_8)))));
        reopen();
        Claim third = claim();
        assertThat(third.epoch()).isEqualTo(3);
        assertThat(third.recovered().snapshot()).isEmpty();
        assertThat(third.recovered().tail())
                .extracting(stored -> stored.event().type())
                .containsExactly("a", "b");
        assertThat(third.recovered().tail()).extracting(StoredEvent::epoch).containsExactly(1L, 2L);
        assertThat(summary().node()).isEqualTo("node-1");
    }

    @Test
    void append_sameBatchAgain_isRecognisedAndStoredOnce() {
        open(DESK);
        Claim claim = claim();
        Batch batch = Draft.after(0, "a", "b").batch();
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(2));
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(2));
        assertThat(now(journal.events(DESK, 0, 10))).hasSize(2);
        assertThat(append(claim, Draft.after(2, "c"))).isEqualTo(new Appended.Committed(3));
    }

    @Test
    @Tag("P3")
    void append_withAnotherSequenceUnderTheSameEpoch_failsAndStoresNothing() {
        open(DESK);
        Claim claim = claim();
        append(claim, Draft.after(0, "a"));
        assertProblem(Problem.FAILED, claim.append(Draft.after(0, "b").batch()));
        assertProblem(Problem.FAILED, claim.append(Draft.after(5, "b").batch()));
        assertThat(now(journal.events(DESK, 0, 10))).hasSize(1);
        assertThat(append(claim, Draft.after(1, "b"))).isEqualTo(new Appended.Committed(2));
    }

    @Test
    void append_thatContradictsTheStore_failsAndHarmsNothingElse() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        assertProblem(
                Problem.FAILED, claim.append(Draft.after(0, "a").taken(2, 1, 1).batch()));
        assertProblem(
                Problem.FAILED, claim.append(Draft.after(0, "a").taken(1, 2, 1).batch()));
        assertProblem(
                Problem.FAILED, claim.append(Draft.after(0, "a").taken(1, 1, 2).batch()));
        Batch batch = Draft.after(0, "a").snapshot("x").batch();
        Batch wrong = new Batch(
                batch.id(),
                0,
                List.of(event("a"), event("b")),
                batch.admission(),
                0,
                0,
                0,
                OptionalLong.empty(),
                Optional.empty(),
                OptionalLong.empty(),
                OPEN,
                batch.snapshot());
        assertProblem(Problem.FAILED, claim.append(wrong));
        assertThat(append(claim, Draft.after(0, "a").taken(1, 1, 1))).isEqualTo(new Appended.Committed(1));
        assertProblem(
                Problem.FAILED, claim.append(Draft.after(1, "b").taken(0, 1, 1).batch()));
    }

    @Test
    void claim_afterASnapshot_givesItAndTheEventsBehindIt() {
        open(DESK);
        Claim claim = claim();
        append(claim, Draft.after(0, "a", "b").snapshot("state 2"));
        append(claim, Draft.after(2, "c"));
        reopen();
        Claim.Recovered recovered = claim().recovered();
        assertThat(recovered.seq()).isEqualTo(3);
        assertThat(recovered.snapshot()).hasValueSatisfying(snapshot -> {
            assertThat(snapshot.seq()).isEqualTo(2);
            assertThat(snapshot.version()).isEqualTo(3);
            assertThat(new String(snapshot.body(), UTF_8)).isEqualTo("state 2");
        });
        assertThat(recovered.tail()).extracting(StoredEvent::seq).containsExactly(3L);
    }

    @Test
    void resign_keepsTheLastSnapshot_andTheClaimIsUnusable() {
        open(DESK);
        Claim claim = claim();
        append(claim, Draft.after(0, "a", "b"));
        now(claim.resign(Optional.of(new SnapshotRecord(2, 1, "asleep".getBytes(UTF_8)))));
        assertProblem(Problem.FAILED, claim.append(Draft.after(2, "c").batch()));
        assertProblem(Problem.FAILED, claim.resign(Optional.empty()));
        Claim next = claim();
        assertThat(next.recovered().snapshot())
                .hasValueSatisfying(snapshot ->
                        assertThat(new String(snapshot.body(), UTF_8)).isEqualTo("asleep"));
        assertThat(next.recovered().tail()).isEmpty();
        assertThat(next.recovered().seq()).isEqualTo(2);
        assertThat(append(next, Draft.after(2, "c"))).isEqualTo(new Appended.Committed(3));
    }

    // Reading

    @Test
    @Tag("LV-08")
    void events_pageByPage_giveEachOnceInOrder() {
        open(DESK);
        Claim claim = claim();
        for (int i = 0; i < 10; i++) {
            append(claim, Draft.after(i * 3L, "x", "y", "z"));
        }
        List<StoredEvent> all = new ArrayList<>();
        List<StoredEvent> page = now(journal.events(DESK, 0, 7));
        while (!page.isEmpty()) {
            all.addAll(page);
            page = now(journal.events(DESK, all.getLast().seq(), 7));
        }
        assertThat(all)
                .extracting(StoredEvent::seq)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 30).mapToObj(Long::valueOf).toList());
        assertThat(all.get(1).event().type()).isEqualTo("y");
        assertThat(new String(all.get(1).event().body(), UTF_8)).isEqualTo("{y}");
        assertThat(all.get(1).at()).isBetween(START.minusMillis(1), START);
    }

    @Test
    void events_withEveryColumn_areReadBackAsTheyWere() {
        open(DESK);
        EventRecord odd = new EventRecord("Größe\u0000", 9, OptionalLong.of(Long.MAX_VALUE), new byte[0]);
        Draft draft = Draft.after(0, "a");
        Batch batch = new Batch(
                draft.id(),
                0,
                List.of(odd),
                Optional.empty(),
                0,
                0,
                0,
                OptionalLong.empty(),
                Optional.empty(),
                OptionalLong.empty(),
                OPEN,
                Optional.empty());
        now(claim().append(batch));
        EventRecord read = now(journal.events(DESK, 0, 1)).getFirst().event();
        assertThat(read.type()).isEqualTo(odd.type());
        assertThat(read.version()).isEqualTo(9);
        assertThat(read.turn()).isEqualTo(odd.turn());
        assertThat(read.body()).isEmpty();
    }

    @Test
    void arrivals_afterANumber_giveTheRestInOrder() {
        open(DESK);
        for (int i = 0; i < 5; i++) {
            accept(message("m" + i));
        }
        assertThat(now(journal.arrivals(DESK, 2, 2, Selection.WITH_BODIES)))
                .extracting(Arrival::number)
                .containsExactly(3L, 4L);
        assertThat(now(journal.arrivals(DESK, 5, 2, Selection.HEADERS))).isEmpty();
        assertThat(now(journal.arrivals(DESK, 99, 2, Selection.HEADERS))).isEmpty();
    }

    @Test
    @Tag("IN-05")
    void arrivals_tenThousandUnreadThenACancel_isFoundAmongTheUrgentOnes() {
        open(DESK);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            stages.add(journal.accept(message("message number " + i)));
        }
        stages.forEach(JournalConformance::now);
        assertThat(accept(message("one too many"))).isInstanceOf(Receipt.Full.class);
        assertThat(accept(urgent(ArrivalKind.CANCEL))).isInstanceOf(Receipt.Accepted.class);
        reopen();
        List<Arrival> found = now(journal.arrivals(DESK, 0, 10, Selection.URGENT_HEADERS));
        assertThat(found).extracting(Arrival::number).containsExactly(10_001L);
        assertThat(found.getFirst().kind()).isEqualTo(ArrivalKind.CANCEL);
    }

    @Test
    void sessions_pageByPage_areInNameOrder() {
        List<String> names = List.of("B", "a", "a-1", "a.1", "a_1", "b", "c10", "c9");
        names.forEach(name -> open(new SessionName(name)));
        List<String> listed = new ArrayList<>();
        List<SessionSummary> page = now(journal.sessions(Optional.empty(), 3));
        while (!page.isEmpty()) {
            page.forEach(summary -> listed.add(summary.name().value()));
            page = now(journal.sessions(Optional.of(page.getLast().name()), 3));
        }
        assertThat(listed).containsExactlyElementsOf(names.stream().sorted().toList());
    }

    @Test
    void session_summary_showsWhatWasCommitted() {
        open(DESK);
        SessionSummary fresh = summary();
        assertThat(fresh.admitting()).isTrue();
        assertThat(fresh.node()).isEmpty();
        assertThat(fresh.summary()).isEqualTo(OPEN);
        assertThat(fresh.seq() + fresh.epoch() + fresh.lastArrival() + fresh.unread())
                .isZero();
        accept(message("a"));
        accept(message("b"));
        accept(urgent(ArrivalKind.CANCEL));
        Instant since = Instant.parse("2026-03-01T12:00:00Z");
        Batch.Summary words =
                new Batch.Summary("PARKED", "no login", Optional.of(since), OptionalLong.of(1_234), "Order 7 is ✓");
        append(
                claim(),
                Draft.after(0, "x", "y")
                        .taken(1, 1, 1)
                        .turn(4)
                        .due(since.plusNanos(1))
                        .admitting(false, "no login")
                        .summary(words));
        SessionSummary summary = summary();
        assertThat(summary.summary()).isEqualTo(words);
        assertThat(summary.unread()).isEqualTo(1);
        assertThat(summary.lastArrival()).isEqualTo(3);
        assertThat(summary.seq()).isEqualTo(2);
        assertThat(summary.epoch()).isEqualTo(1);
        assertThat(summary.openTurn()).hasValue(4);
        assertThat(summary.admitting()).isFalse();
        assertThat(summary.admissionReason()).isEqualTo("no login");
        assertThat(summary.node()).isEqualTo("node-1");
        assertThat(summary.dueAt())
                .hasValueSatisfying(due -> assertThat(due).isBetween(since.plusNanos(1), since.plusMillis(1)));
    }

    // Ready

    List<SessionName> ready() {
        return now(journal.ready(time, 100));
    }

    @Test
    @Tag("IN-21")
    void ready_isMarkedByTheAcceptingCommit_andClearedOnlyByTheOwnerWhenNothingIsUnread() {
        open(DESK);
        assertThat(ready()).isEmpty();
        accept(message("a"));
        assertThat(ready()).containsExactly(DESK);
        Claim claim = claim();
        append(claim, Draft.after(0, "taken").taken(1, 1, 1));
        assertThat(ready()).containsExactly(DESK);
        accept(message("b"));
        append(claim, Draft.after(1, "settled").taken(1, 1, 1).quiet(1));
        assertThat(ready())
                .as("an arrival came after the one the owner knew of")
                .containsExactly(DESK);
        reopen();
        assertThat(ready()).containsExactly(DESK);
        append(claim(), Draft.after(2, "settled").taken(2, 2, 2).quiet(2));
        assertThat(ready()).isEmpty();
        accept(urgent(ArrivalKind.EVICT));
        assertThat(ready()).containsExactly(DESK);
    }

    @Test
    @Tag("IN-21")
    void ready_findsWhatIsDueAndWhatIsInFlight() {
        open(DESK);
        Claim claim = claim();
        Instant due = START.plusSeconds(60);
        append(claim, Draft.after(0, "waits").due(due));
        assertThat(now(journal.ready(due.minusMillis(1), 10))).isEmpty();
        assertThat(now(journal.ready(due.plusMillis(1), 10))).containsExactly(DESK);
        append(claim, Draft.after(1, "turn").turn(1));
        assertThat(ready()).containsExactly(DESK);
        append(claim, Draft.after(2, "settled"));
        assertThat(now(journal.ready(due.plus(Duration.ofDays(1)), 10))).isEmpty();
    }

    @Test
    void ready_closedForGood_onlyWhileAnArrivalHasNoEvent() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        Batch.Summary closed = new Batch.Summary("CLOSED", "", Optional.empty(), OptionalLong.empty(), "");
        append(
                claim,
                Draft.after(0, "closed").admitting(false, "closed").due(START).summary(closed));
        assertThat(ready()).containsExactly(DESK);
        append(
                claim,
                Draft.after(1, "refused").taken(1, 1, 1).quiet(1).due(START).summary(closed));
        assertThat(ready()).isEmpty();
    }

    @Test
    void ready_moreThanAskedFor_givesThoseThatHaveWaitedLongest() {
        for (int i = 5; i > 0; i--) {
            SessionName name = new SessionName("s" + i);
            open(name);
            time = time.plusSeconds(1);
            accept(delivery(name, ArrivalKind.MESSAGE, Optional.empty(), "x"));
        }
        assertThat(now(journal.ready(time, 2))).extracting(SessionName::value).containsExactly("s5", "s4");
        assertThat(now(journal.ready(time, 100))).hasSize(5);
    }

    // Ending

    @Test
    void close_thenAnyCall_failsAsStopped() {
        open(DESK);
        Claim claim = claim();
        List<CompletableFuture<Receipt>> last = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            last.add(journal.accept(message("m" + i)).toCompletableFuture());
        }
        journal.close();
        assertThat(last).allMatch(CompletableFuture::isDone);
        assertThat(last.stream().map(JournalConformance::now)).allMatch(Receipt.Accepted.class::isInstance);
        assertProblem(Problem.STOPPED, journal.accept(message("late")));
        assertProblem(Problem.STOPPED, journal.open(DESK, SessionLimits.standard()));
        assertProblem(Problem.STOPPED, journal.claim(DESK, NODE));
        assertProblem(Problem.STOPPED, claim.append(Draft.after(0, "late").batch()));
        assertProblem(Problem.STOPPED, journal.events(DESK, 0, 1));
        assertProblem(Problem.STOPPED, journal.session(DESK));
        assertProblem(Problem.STOPPED, journal.ready(time, 1));
        journal.close();
        journal = openStore(() -> time);
        assertThat(arrivals(Selection.HEADERS)).hasSize(100);
    }

    @Test
    void storeId_staysTheSame() {
        String id = journal.storeId();
        assertThat(id).isNotEmpty();
        reopen();
        assertThat(journal.storeId()).isEqualTo(id);
    }
}
