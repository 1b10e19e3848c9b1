package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.StoredEvent;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every {@link Journal} must do with a session that moves: read as a whole, stored whole or not at all. */
public abstract class MoveConformance extends AddressConformance {
    private static final SessionName OTHER = new SessionName("other");
    private static final AddressTerms OPEN = AddressTerms.open();

    /** Where sessions move to; open from before to after each test. */
    protected Journal target;

    /** Opens a second store, which shares nothing with the first and is empty when a test begins. */
    protected abstract Journal openTarget(InstantSource clock);

    @BeforeEach
    public final void openTheTarget() {
        target = openTarget(() -> time);
    }

    @AfterEach
    public final void closeTheTarget() {
        target.close();
    }

    private SessionImage image() {
        return now(journal.image(DESK));
    }

    private boolean restored(SessionImage image) {
        return now(target.restore(image));
    }

    private SessionSummary moved() {
        return now(target.session(DESK)).orElseThrow();
    }

    /** A session with one of everything, and a turn in flight. */
    private void fill() {
        now(journal.open(DESK, new SessionLimits(5, 1_000_000)));
        accept(keyed("k1", "one"));
        accept(message("x".repeat(70_000)));
        for (String token : List.of("b", "gone", "a")) {
            now(journal.claimAddress(DESK, token, OPEN));
        }
        now(journal.claimAddress(DESK, "call", AddressTerms.toolRun()));
        append(claim(), BatchDraft.after(0, "one", "two").taken(1, 1, 3).snapshot("state"));
        Claim second = claim();
        append(second, BatchDraft.after(2, "turn").taken(2, 2, 70_003).turn(1));
        accept(urgent(ArrivalKind.CANCEL));
        now(journal.releaseAddresses(DESK, List.of("gone")));
        accept(through("call", delivery(DESK, ArrivalKind.TOOL_RUN, Optional.of("k2"), "result")));
        append(
                second,
                BatchDraft.after(3, "more")
                        .taken(3, 2, 70_003)
                        .turn(1)
                        .due(START.plusSeconds(60))
                        .summary(new Batch.Summary(
                                "OPEN", "why", Optional.of(START.minusSeconds(1)), OptionalLong.of(7), "words")));
    }

    private static void assertSame(SessionImage found, SessionImage wanted) {
        assertThat(facts(found)).isEqualTo(facts(wanted));
    }

    /** All that an image says, in a form that can be compared. */
    private static List<Object> facts(SessionImage image) {
        List<Object> facts = new ArrayList<>(List.of(
                image.name(),
                image.limits(),
                image.admitting(),
                image.admissionReason(),
                image.head(),
                image.addresses()));
        for (StoredArrival stored : image.arrivals()) {
            Arrival arrival = stored.arrival();
            facts.add(List.of(
                    arrival.number(),
                    arrival.id(),
                    arrival.kind(),
                    arrival.acceptedAt(),
                    arrival.boundTurn(),
                    arrival.boundAfter(),
                    ByteBuffer.wrap(arrival.header()),
                    ByteBuffer.wrap(arrival.body()),
                    arrival.bytes()));
            facts.add(List.of(stored.keyHash().map(ByteBuffer::wrap), ByteBuffer.wrap(stored.fingerprint())));
        }
        for (StoredEvent event : image.events()) {
            facts.add(List.of(event.seq(), event.epoch(), event.at()));
            facts.add(List.of(
                    event.event().type(),
                    event.event().version(),
                    event.event().turn(),
                    ByteBuffer.wrap(event.event().body())));
        }
        return facts;
    }

    @Test
    @Tag("MB-22")
    public void image_restoredElsewhere_isTheSameThere() {
        fill();
        SessionImage image = image();
        assertThat(image.arrivals()).hasSize(4);
        assertThat(image.events()).extracting(StoredEvent::epoch).containsExactly(1L, 1L, 2L, 2L);
        assertThat(image.head().epoch()).isEqualTo(2);
        assertThat(image.head().takenThrough()).isEqualTo(3);
        assertThat(image.head().openTurn()).hasValue(1);
        assertThat(image.limits()).isEqualTo(new SessionLimits(5, 1_000_000));
        assertThat(image.addresses())
                .containsExactly(
                        new Address("b", DESK, OPEN, OptionalLong.empty()),
                        new Address("gone", DESK, OPEN, OptionalLong.of(3)),
                        new Address("a", DESK, OPEN, OptionalLong.empty()),
                        new Address("call", DESK, AddressTerms.toolRun(), OptionalLong.of(4)));
        assertThat(restored(image)).isTrue();
        assertSame(now(target.image(DESK)), image);
        SessionSummary there = moved();
        assertThat(there.unread()).isEqualTo(1);
        assertThat(there.node()).isEmpty();
        assertThat(there).usingRecursiveComparison().ignoringFields("node").isEqualTo(summary());
        assertSame(image(), image);
        List<Arrival> bodies = now(target.arrivals(DESK, 0, 10, Selection.WITH_BODIES));
        assertThat(new String(bodies.get(3).body(), UTF_8)).isEqualTo("result");
        assertThat(bodies.get(2).boundTurn()).hasValue(1);
    }

    @Test
    @Tag("MB-22")
    public void restored_session_isOwnedUnderTheNextEpochAndRebuiltFromEveryEvent() {
        fill();
        assertThat(restored(image())).isTrue();
        Claim claim = now(target.claim(DESK, NODE));
        assertThat(claim.epoch()).isEqualTo(3);
        assertThat(claim.recovered().snapshot()).isEmpty();
        assertThat(claim.recovered().tail())
                .extracting(stored -> stored.event().type())
                .containsExactly("one", "two", "turn", "more");
        assertThat(now(claim.append(BatchDraft.after(4, "x")
                        .taken(3, 2, 70_003)
                        .ifUrgentThrough(2)
                        .batch())))
                .as("the last urgent arrival is known")
                .isEqualTo(new Appended.Behind(3));
        assertThat(now(claim.append(BatchDraft.after(4, "x")
                        .taken(4, 3, 70_009)
                        .ifUrgentThrough(3)
                        .batch())))
                .isEqualTo(new Appended.Committed(5));
        assertThat(now(target.events(DESK, 3, 10)))
                .extracting(StoredEvent::epoch)
                .containsExactly(2L, 3L);
    }

    @Test
    @Tag("MB-22")
    @Tag("IN-12")
    public void restored_session_goesOnAcceptingWhereItWas() {
        fill();
        Receipt.Duplicate first = (Receipt.Duplicate) accept(keyed("k1", "one"));
        assertThat(restored(image())).isTrue();
        assertThat(now(target.accept(keyed("k1", "one")))).isEqualTo(first);
        assertThat(now(target.accept(keyed("k1", "two")))).isEqualTo(new Receipt.KeyConflict(1));
        assertThat(now(target.accept(through("a", message("next")))))
                .isInstanceOfSatisfying(
                        Receipt.Accepted.class,
                        receipt -> assertThat(receipt.number()).isEqualTo(5));
        assertThat(now(target.accept(through("gone", message("x"))))).isEqualTo(new Receipt.Released("gone"));
        assertThat(now(target.accept(through("call", delivery(DESK, ArrivalKind.TOOL_RUN, Optional.empty(), "x")))))
                .isEqualTo(new Receipt.Released("call"));
        for (int i = 0; i < 3; i++) {
            assertThat(now(target.accept(message("m" + i)))).isInstanceOf(Receipt.Accepted.class);
        }
        assertThat(now(target.accept(message("one too many")))).isEqualTo(new Receipt.Full(5, 5, "messages"));
        assertThat(now(target.addresses(DESK))).extracting(Address::token).containsExactly("b", "a");
        assertThat(now(target.claimAddress(DESK, "new", OPEN))).isEqualTo(new AddressClaim.Claimed("new"));
        assertThat(now(target.addresses(DESK))).extracting(Address::token).containsExactly("b", "a", "new");
    }

    @Test
    @Tag("MB-22")
    @Tag("IN-21")
    public void restored_session_isReadyWhenSomethingIsUnreadInFlightOrDue() {
        open(DESK);
        accept(message("unread"));
        SessionImage unread = image();
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "x").taken(1, 1, 6).turn(1).quiet(1));
        SessionImage inFlight = image();
        append(claim, BatchDraft.after(1, "y").taken(1, 1, 6).due(START.plusSeconds(60)));
        SessionImage quiet = image();
        List<SessionImage> images =
                List.of(named(unread, "unread"), named(inFlight, "in-flight"), named(quiet, "quiet"));
        images.forEach(image -> assertThat(restored(image)).isTrue());
        assertThat(now(target.ready(time, 10)))
                .extracting(SessionName::value)
                .containsExactlyInAnyOrder("unread", "in-flight");
        assertThat(now(target.ready(START.plusSeconds(61), 10))).hasSize(3);
    }

    @Test
    @Tag("MB-22")
    @Tag("IN-21")
    public void restored_session_isReadyWhateverTheImageSaysWhileAnArrivalIsUnread() {
        open(DESK);
        accept(message("unread"));
        SessionImage image = image();
        assertThat(restored(withHead(image, head -> head(head, head.epoch(), head.seq(), 0, 0, false))))
                .isTrue();
        assertThat(now(target.ready(time, 10))).containsExactly(DESK);
    }

    @Test
    @Tag("MB-22")
    public void restored_session_thatWasClosedOrShut_staysSo() {
        open(DESK);
        Claim claim = claim();
        Batch.Summary parked = new Batch.Summary("PARKED", "login", Optional.empty(), OptionalLong.empty(), "");
        append(claim, BatchDraft.after(0, "a").admitting(false, "not now").summary(parked));
        assertThat(restored(named(image(), "parked"))).isTrue();
        append(claim, BatchDraft.after(1, "b").admitting(false, "over").summary(BatchDraft.closed("")));
        assertThat(restored(image())).isTrue();
        assertThat(now(target.accept(urgent(ArrivalKind.RESUME)))).isEqualTo(new Receipt.Refused("over"));
        SessionName name = new SessionName("parked");
        assertThat(now(target.accept(delivery(name, ArrivalKind.MESSAGE, Optional.empty(), "x"))))
                .isEqualTo(new Receipt.Refused("not now"));
        assertThat(now(target.accept(delivery(name, ArrivalKind.RESUME, Optional.empty(), ""))))
                .isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    @Tag("MB-22")
    public void restore_underATakenName_isRefusedAndChangesNothing() {
        fill();
        SessionImage image = image();
        now(target.open(DESK, SessionLimits.standard()));
        SessionImage there = now(target.image(DESK));
        assertThat(restored(image)).isFalse();
        assertSame(now(target.image(DESK)), there);
        assertThat(now(target.address("a"))).isEmpty();
        assertThat(now(journal.restore(image))).isFalse();
        assertSame(image(), image);
    }

    @Test
    @Tag("MB-22")
    public void restore_twiceAtOnce_storesOne() {
        fill();
        SessionImage image = image();
        List<CompletionStage<Boolean>> stages = List.of(target.restore(image), target.restore(image));
        assertThat(stages.stream().map(this::now)).containsExactly(true, false);
        assertSame(now(target.image(DESK)), image);
    }

    @Test
    @Tag("MB-22")
    public void restore_ofAnImageThatIsNotWhole_failsByNameAndStoresNothing() {
        fill();
        SessionImage whole = image();
        SessionImage.Head head = whole.head();
        List<UnaryOperator<SessionImage>> damages = List.of(
                image -> withArrivals(image, without(image.arrivals(), 1)),
                image -> withArrivals(image, without(image.arrivals(), 0)),
                image -> withArrivals(image, without(image.arrivals(), 3)),
                image -> withArrivals(image, swapped(image.arrivals())),
                image -> withArrivals(image, sameKeys(image.arrivals())),
                image -> withArrivals(image, halfABody(image.arrivals())),
                image -> withEvents(image, without(image.events(), 0)),
                image -> withEvents(image, without(image.events(), 3)),
                image -> withEvents(image, swapped(image.events())),
                image -> withHead(image, h -> head(h, 1, h.seq(), h.takenThrough(), h.ordinaryDone(), true)),
                image -> withHead(image, h -> head(h, h.epoch(), 5, h.takenThrough(), h.ordinaryDone(), true)),
                image -> withHead(image, h -> head(h, h.epoch(), h.seq(), 5, h.ordinaryDone(), true)),
                image -> withHead(image, h -> head(h, h.epoch(), h.seq(), -1, h.ordinaryDone(), true)),
                image -> withHead(image, h -> head(h, h.epoch(), h.seq(), h.takenThrough(), 4, true)),
                image -> withAddresses(
                        image,
                        List.of(image.addresses().get(0), image.addresses().get(0))),
                image -> withAddresses(image, List.of(new Address("z", OTHER, OPEN, OptionalLong.empty()))),
                image -> withAddresses(image, List.of(new Address("z", DESK, OPEN, OptionalLong.of(99)))));
        for (int i = 0; i < damages.size(); i++) {
            SessionImage damaged = damages.get(i).apply(whole);
            assertThatThrownBy(() -> now(target.restore(damaged)))
                    .as("damage %d", i)
                    .isInstanceOfSatisfying(
                            JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.DAMAGED))
                    .hasMessageContaining("order-desk");
            assertThat(now(target.session(DESK))).isEmpty();
        }
        assertThat(now(target.address("a"))).isEmpty();
        assertThat(head).isEqualTo(whole.head());
        assertThat(restored(whole)).as("and whole it is taken").isTrue();
    }

    @Test
    @Tag("MB-22")
    @Tag("IN-08")
    public void restore_withAnAddressThatIsClaimedThere_failsByNameAndStoresNothing() {
        fill();
        now(target.open(OTHER, SessionLimits.standard()));
        now(target.claimAddress(OTHER, "a", OPEN));
        assertThatThrownBy(() -> now(target.restore(image())))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("'other'");
        assertThat(now(target.session(DESK))).isEmpty();
        assertThat(now(target.address("b"))).isEmpty();
        now(target.releaseAddresses(OTHER, List.of("a")));
        now(target.claimAddress(OTHER, "gone", OPEN));
        assertThat(restored(image())).as("'gone' was given up here").isTrue();
        assertThat(now(target.address("a")).orElseThrow().session()).isEqualTo(DESK);
        assertThat(now(target.address("gone")).orElseThrow().session()).isEqualTo(OTHER);
        assertThat(now(target.image(DESK)).addresses())
                .extracting(Address::token)
                .containsExactly("b", "a", "call");
    }

    @Test
    @Tag("MB-22")
    public void image_ofNoSession_failsByName() {
        assertProblem(Problem.UNKNOWN_SESSION, journal.image(DESK));
    }

    @Test
    @Tag("MB-22")
    public void image_keys_areKeptAsTheirSha256InEveryStore() throws NoSuchAlgorithmException {
        open(DESK);
        accept(keyed("web-ü", "x"));
        accept(message("y"));
        byte[] digest = MessageDigest.getInstance("SHA-256").digest("web-ü".getBytes(UTF_8));
        List<StoredArrival> arrivals = image().arrivals();
        assertThat(arrivals.get(0).keyHash())
                .hasValueSatisfying(hash -> assertThat(hash).isEqualTo(digest));
        assertThat(arrivals.get(0).fingerprint()).isEqualTo("x".getBytes(UTF_8));
        assertThat(arrivals.get(1).keyHash()).isEmpty();
    }

    @Test
    @Tag("MB-22")
    public void image_whileTheSessionGoesOn_isOfOneMoment() {
        open(DESK);
        int before = 8;
        for (int i = 0; i < before; i++) {
            accept(message("x".repeat(1_000_000))); // so that reading them takes longer than a commit
        }
        Claim claim = claim();
        List<CompletionStage<SessionImage>> images = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            if (i % 6 == 0) {
                images.add(journal.image(DESK));
            }
            accept(message("m" + i));
            append(claim, BatchDraft.after(i, "e" + i).taken(i, 0, 0));
        }
        for (CompletionStage<SessionImage> stage : images) {
            SessionImage image = now(stage);
            assertThat(image.events()).hasSize((int) image.head().seq());
            assertThat(image.arrivals().size() - before - image.events().size())
                    .as("an arrival, then an event, then an arrival and so on")
                    .isBetween(0, 1);
        }
        assertThat(restored(image())).isTrue();
    }

    private static <T> List<T> without(List<T> list, int index) {
        List<T> copy = new ArrayList<>(list);
        copy.remove(index);
        return copy;
    }

    private static <T> List<T> swapped(List<T> list) {
        List<T> copy = new ArrayList<>(list);
        copy.addFirst(copy.remove(1));
        return copy;
    }

    private static List<StoredArrival> sameKeys(List<StoredArrival> arrivals) {
        return arrivals.stream()
                .map(a -> new StoredArrival(a.arrival(), arrivals.getFirst().keyHash(), a.fingerprint()))
                .toList();
    }

    private static List<StoredArrival> halfABody(List<StoredArrival> arrivals) {
        List<StoredArrival> copy = new ArrayList<>(arrivals);
        Arrival a = copy.getFirst().arrival();
        Arrival half = new Arrival(
                a.number(),
                a.id(),
                a.kind(),
                a.acceptedAt(),
                a.boundTurn(),
                a.boundAfter(),
                a.header(),
                new byte[1],
                a.bytes());
        copy.set(
                0,
                new StoredArrival(
                        half, copy.getFirst().keyHash(), copy.getFirst().fingerprint()));
        return copy;
    }

    private static SessionImage.Head head(
            SessionImage.Head h, long epoch, long seq, long takenThrough, long done, boolean ready) {
        return new SessionImage.Head(
                epoch, seq, takenThrough, done, h.ordinaryDoneBytes(), h.dueAt(), h.openTurn(), ready, h.summary());
    }

    private static SessionImage of(
            SessionImage i,
            SessionName name,
            List<StoredArrival> arrivals,
            List<StoredEvent> events,
            SessionImage.Head head,
            List<Address> addresses) {
        return new SessionImage(
                name, i.limits(), i.admitting(), i.admissionReason(), arrivals, events, head, addresses);
    }

    private static SessionImage named(SessionImage i, String name) {
        return of(i, new SessionName(name), i.arrivals(), i.events(), i.head(), i.addresses());
    }

    private static SessionImage withArrivals(SessionImage i, List<StoredArrival> arrivals) {
        return of(i, i.name(), arrivals, i.events(), i.head(), i.addresses());
    }

    private static SessionImage withEvents(SessionImage i, List<StoredEvent> events) {
        return of(i, i.name(), i.arrivals(), events, i.head(), i.addresses());
    }

    private static SessionImage withHead(SessionImage i, UnaryOperator<SessionImage.Head> change) {
        return of(i, i.name(), i.arrivals(), i.events(), change.apply(i.head()), i.addresses());
    }

    private static SessionImage withAddresses(SessionImage i, List<Address> addresses) {
        return of(i, i.name(), i.arrivals(), i.events(), i.head(), addresses);
    }
}
