package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.EventRecord;
import dev.holdfast.Journal;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.StoredEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What every {@link Journal} must do, whatever it is stored in. Whoever writes a store extends this class in his tests
 * and says how his stores are opened; JUnit then runs all of it. Knows the types of the API alone.
 *
 * <p>Here for senders and readers; the classes above it are for owners ({@link OwnerConformance}), batches and
 * conditions ({@link BatchConformance}), addresses ({@link AddressConformance}) and moves ({@link MoveConformance}).
 */
public abstract class JournalConformance extends MoveConformance {
    // Opening

    @Test
    @Tag("IN-16")
    public void open_twoSendersAtOnce_oneSessionAndBothMessagesOnce() {
        SessionLimits limits = SessionLimits.standard();
        List<CompletionStage<Boolean>> opened = new ArrayList<>();
        List<CompletionStage<Receipt>> receipts = new ArrayList<>();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> senders = IntStream.range(0, 2)
                .mapToObj(i -> start(() -> {
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
        senders.forEach(JournalFixture::join);
        assertThat(opened.stream().map(this::now)).containsExactlyInAnyOrder(true, false);
        assertThat(receipts.stream().map(this::now)).allMatch(Receipt.Accepted.class::isInstance);
        assertThat(arrivals(Selection.WITH_BODIES))
                .extracting(arrival -> new String(arrival.body(), UTF_8))
                .containsExactlyInAnyOrder("from 0", "from 1");
        assertThat(now(journal.sessions(Optional.empty(), 10))).hasSize(1);
    }

    @Test
    public void open_again_keepsTheFirstLimits() {
        now(journal.open(DESK, new SessionLimits(1, 100)));
        assertThat(now(journal.open(DESK, new SessionLimits(50, 5_000)))).isFalse();
        accept(message("one"));
        assertThat(accept(message("two"))).isInstanceOf(Receipt.Full.class);
    }

    @Test
    public void session_neverOpened_isAbsentAndRefusedByName() {
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
    public void accept_messages_areNumberedWithoutGapsAndThereAfterReopening() {
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
    public void accept_anyBytes_areReadBackAsTheyWere() {
        open(DESK);
        int[] sizes = {0, 1, 65_536, 65_537, 300_000, 300_000};
        List<byte[]> bodies = new ArrayList<>();
        for (int size : sizes) {
            byte[] body = new byte[size];
            for (int i = 0; i < size; i++) {
                body[i] = (byte) (i * 31);
            }
            bodies.add(body);
            accept(new Delivery(
                    DESK, messageId(), ArrivalKind.MESSAGE, Optional.empty(), new byte[0], new byte[0], body));
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
    public void accept_sameKeyAndContent_givesTheFirstReceiptForEver() {
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
                BatchDraft.after(0, "closed")
                        .taken(1, 1, 5)
                        .admitting(false, "closed by its user")
                        .summary(BatchDraft.closed("")));
        assertThat(accept(keyed("web-1", "hello"))).isEqualTo(expected);
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    public void accept_sameKeyAtOnce_isAcceptedOnceAlsoWithinOneCommit() {
        open(DESK);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            stages.add(journal.accept(keyed("same", "hello")));
        }
        List<Receipt> receipts = stages.stream().map(this::now).toList();
        assertThat(receipts.stream().filter(Receipt.Accepted.class::isInstance)).hasSize(1);
        Receipt.Accepted first = (Receipt.Accepted) receipts.getFirst();
        assertThat(receipts.stream().skip(1))
                .allMatch(new Receipt.Duplicate(first.id(), 1, first.acceptedAt())::equals);
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    public void accept_sameKeyWithOtherContent_isAConflictAndStoresNothing() {
        open(DESK);
        accept(keyed("web-1", "hello"));
        assertThat(accept(keyed("web-1", "good bye"))).isEqualTo(new Receipt.KeyConflict(1));
        assertThat(arrivals(Selection.HEADERS)).hasSize(1);
    }

    @Test
    @Tag("IN-12")
    public void accept_sameKeyToAnotherSession_isAnotherMessage() {
        SessionName other = new SessionName("other");
        open(DESK);
        open(other);
        accept(keyed("web-1", "hello"));
        assertThat(accept(delivery(other, ArrivalKind.MESSAGE, Optional.of("web-1"), "hello")))
                .isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    @Tag("MB-18")
    public void accept_atTheLimitOfMessages_refusesTheNewestOfTheCountedKinds() {
        now(journal.open(DESK, new SessionLimits(3, 1_000)));
        accept(message("1"));
        accept(delivery(DESK, ArrivalKind.STEER, Optional.empty(), "2"));
        assertThat(accept(message("3"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message("4"))).isEqualTo(new Receipt.Full(3, 3, "messages"));
        assertThat(accept(delivery(DESK, ArrivalKind.STEER, Optional.empty(), "4")))
                .isEqualTo(new Receipt.Full(3, 3, "messages"));
        for (ArrivalKind kind : ArrivalKind.values()) {
            assertThat(accept(delivery(DESK, kind, Optional.empty(), "")))
                    .as("a %s", kind)
                    .isInstanceOf(kind.counted() ? Receipt.Full.class : Receipt.Accepted.class);
        }
        assertThat(summary().unread()).isEqualTo(3);
        append(claim(), BatchDraft.after(0, "taken").taken(1, 1, 1));
        assertThat(accept(message("4"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message("5"))).isEqualTo(new Receipt.Full(3, 3, "messages"));
        assertThat(arrivals(Selection.WITH_BODIES).stream()
                        .filter(arrival -> arrival.kind().counted())
                        .map(arrival -> new String(arrival.body(), UTF_8)))
                .containsExactly("1", "2", "3", "4");
    }

    @Test
    @Tag("LV-09")
    public void accept_atTheLimitOfBytes_refusesTheNewest() {
        now(journal.open(DESK, new SessionLimits(100, 10)));
        assertThat(accept(message("0123456789x"))).isEqualTo(new Receipt.Full(0, 10, "bytes"));
        accept(message("012345"));
        assertThat(accept(message("01234"))).isEqualTo(new Receipt.Full(6, 10, "bytes"));
        assertThat(accept(message("0123"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message(""))).isInstanceOf(Receipt.Accepted.class);
        append(claim(), BatchDraft.after(0, "taken").taken(1, 1, 6));
        assertThat(accept(message("0123456"))).isEqualTo(new Receipt.Full(4, 10, "bytes"));
        assertThat(accept(message("012345"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    public void accept_whileNotAdmitting_refusesCountedKindsAndTakesTheOthers() {
        open(DESK);
        Claim claim = claim();
        append(
                claim,
                BatchDraft.after(0, "parked")
                        .admitting(false, "parked: no login")
                        .summary(new Batch.Summary("PARKED", "", Optional.empty(), OptionalLong.empty(), "")));
        assertThat(accept(message("hello"))).isEqualTo(new Receipt.Refused("parked: no login"));
        for (ArrivalKind kind : ArrivalKind.values()) {
            assertThat(accept(delivery(DESK, kind, Optional.empty(), "")))
                    .as("a %s", kind)
                    .isInstanceOf(kind.counted() ? Receipt.Refused.class : Receipt.Accepted.class);
        }
        append(claim, BatchDraft.after(1, "resumed").taken(1, 0, 0).admitting(true, ""));
        assertThat(accept(message("hello"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    public void accept_afterTheSessionIsClosedForGood_refusesEveryKind() {
        open(DESK);
        append(
                claim(),
                BatchDraft.after(0, "closed")
                        .admitting(false, "closed by its user")
                        .summary(BatchDraft.closed("")));
        reopen();
        for (ArrivalKind kind : ArrivalKind.values()) {
            assertThat(accept(delivery(DESK, kind, Optional.empty(), "x")))
                    .isEqualTo(new Receipt.Refused("closed by its user"));
        }
    }

    @Test
    @Tag("IN-05")
    public void accept_urgentKinds_areBoundToTheTurnAndThePlaceAtAcceptance() {
        open(DESK);
        accept(message("a"));
        accept(message("b"));
        accept(urgent(ArrivalKind.CANCEL));
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "turn").taken(2, 2, 2).turn(7));
        accept(urgent(ArrivalKind.CANCEL));
        accept(message("c"));
        append(claim, BatchDraft.after(1, "settled").taken(4, 2, 2));
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
    public void onAccepted_isCalledAfterTheCommit_withEachSession() throws InterruptedException {
        SessionName other = new SessionName("other");
        Set<SessionName> heard = ConcurrentHashMap.newKeySet();
        CountDownLatch both = new CountDownLatch(2);
        open(DESK);
        open(other);
        journal.onAccepted(session -> {
            throw new IllegalStateException("a listener that fails");
        });
        journal.onAccepted(session -> {
            if (heard.add(session)) {
                both.countDown();
            }
        });
        accept(message("x"));
        accept(delivery(other, ArrivalKind.MESSAGE, Optional.empty(), "x"));
        assertThat(both.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(heard).containsExactlyInAnyOrder(DESK, other);
    }

    // Reading

    @Test
    @Tag("LV-08")
    public void events_pageByPage_giveEachOnceInOrder() {
        open(DESK);
        Claim claim = claim();
        for (int i = 0; i < 10; i++) {
            append(claim, BatchDraft.after(i * 3L, "x", "y", "z"));
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
    public void events_withEveryColumn_areReadBackAsTheyWere() {
        open(DESK);
        EventRecord odd = new EventRecord("Größe\u0000", 9, OptionalLong.of(Long.MAX_VALUE), new byte[0]);
        append(claim(), BatchDraft.of(0, odd));
        EventRecord read = now(journal.events(DESK, 0, 1)).getFirst().event();
        assertThat(read.type()).isEqualTo(odd.type());
        assertThat(read.version()).isEqualTo(9);
        assertThat(read.turn()).isEqualTo(odd.turn());
        assertThat(read.body()).isEmpty();
    }

    @Test
    public void arrivals_afterANumber_giveTheRestInOrder() {
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
    public void arrivals_tenThousandUnreadThenACancel_isFoundAmongTheUrgentOnes() {
        open(DESK);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            stages.add(journal.accept(message("message number " + i)));
        }
        stages.forEach(this::now);
        assertThat(accept(message("one too many"))).isInstanceOf(Receipt.Full.class);
        assertThat(accept(urgent(ArrivalKind.CANCEL))).isInstanceOf(Receipt.Accepted.class);
        reopen();
        List<Arrival> found = now(journal.arrivals(DESK, 0, 10, Selection.URGENT_HEADERS));
        assertThat(found).extracting(Arrival::number).containsExactly(10_001L);
        assertThat(found.getFirst().kind()).isEqualTo(ArrivalKind.CANCEL);
    }

    @Test
    public void sessions_pageByPage_areInNameOrder() {
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
    public void session_summary_showsWhatWasCommitted() {
        open(DESK);
        SessionSummary fresh = summary();
        assertThat(fresh.admitting()).isTrue();
        assertThat(fresh.node()).isEmpty();
        assertThat(fresh.summary()).isEqualTo(BatchDraft.OPEN);
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
                BatchDraft.after(0, "x", "y")
                        .taken(1, 1, 1)
                        .turn(4)
                        .due(since.plusNanos(1))
                        .admitting(false, "no login")
                        .summary(words));
        SessionSummary summary = summary();
        assertThat(summary.summary()).isEqualTo(words);
        assertThat(summary.unread()).isEqualTo(1);
        assertThat(summary.takenThrough()).isEqualTo(1);
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

    // Ending

    @Test
    public void close_thenAnyCall_failsAsStopped() {
        open(DESK);
        Claim claim = claim();
        List<CompletableFuture<Receipt>> last = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            last.add(journal.accept(message("m" + i)).toCompletableFuture());
        }
        journal.close();
        assertThat(last).allMatch(CompletableFuture::isDone);
        assertThat(last.stream().map(this::now)).allMatch(Receipt.Accepted.class::isInstance);
        assertProblem(Problem.STOPPED, journal.accept(message("late")));
        assertProblem(Problem.STOPPED, journal.open(DESK, SessionLimits.standard()));
        assertProblem(Problem.STOPPED, journal.claim(DESK, NODE));
        assertProblem(Problem.STOPPED, claim.append(BatchDraft.after(0, "late").batch()));
        assertProblem(Problem.STOPPED, journal.events(DESK, 0, 1));
        assertProblem(Problem.STOPPED, journal.session(DESK));
        assertProblem(Problem.STOPPED, journal.ready(time, 1));
        journal.close();
        journal = openStore(() -> time);
        assertThat(arrivals(Selection.HEADERS)).hasSize(100);
    }

    @Test
    public void storeId_staysTheSame() {
        String id = journal.storeId();
        assertThat(id).isNotEmpty();
        reopen();
        assertThat(journal.storeId()).isEqualTo(id);
    }
}
