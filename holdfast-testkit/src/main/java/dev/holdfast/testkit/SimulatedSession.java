package dev.holdfast.testkit;

import dev.holdfast.Address;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** What is on the simulated disk of one session, and the rules of accepting and appending. */
final class SimulatedSession {
    final SessionName name;
    final SessionLimits limits;
    final List<Arrival> arrivals = new ArrayList<>();
    /** By the digest of the sender's key, in hexadecimal digits. */
    final Map<String, Arrival> keys = new HashMap<>();

    final Map<Long, byte[]> fingerprints = new HashMap<>();
    final List<StoredEvent> events = new ArrayList<>();
    /** Everything done to it, in the order in which it was done: what an observer judges by. */
    final List<Happening> history = new ArrayList<>();

    private final Optional<SeededBug> bug;
    /** Who holds the claim, until it is given back. */
    Optional<VirtualTime.Group> holder = Optional.empty();
    /** Those whose claim was taken over and who have written nothing since, so that they may not know. */
    final Set<VirtualTime.Group> overtaken = new HashSet<>();

    Optional<SnapshotRecord> snapshot = Optional.empty();
    Batch.Admission admission = new Batch.Admission(true, "");
    long epoch;
    String node = "";
    UUID lastBatch = new UUID(0, 0);
    long takenThrough;
    long ordinary;
    long ordinaryBytes;
    long lastUrgent;
    long ordinaryDone;
    long ordinaryDoneBytes;
    Optional<Instant> readyAt = Optional.empty();
    OptionalLong openTurn = OptionalLong.empty();
    Optional<Instant> due = Optional.empty();
    Batch.Summary summary = new Batch.Summary("OPEN", "", Optional.empty(), OptionalLong.empty(), "");

    /** One thing that was done to a session. */
    sealed interface Happening {
        record Accepted(Arrival arrival, Delivery delivery) implements Happening {}

        record Refused(Delivery delivery, Receipt.Refusal why) implements Happening {}

        record Recorded(StoredEvent event) implements Happening {}

        record AddressClaimed(Address address) implements Happening {}

        record AddressesReleased(List<String> tokens) implements Happening {}
    }

    SimulatedSession(SessionName name, SessionLimits limits) {
        this(name, limits, Optional.empty());
    }

    /** @param bug a mistake it makes on purpose */
    SimulatedSession(SessionName name, SessionLimits limits, Optional<SeededBug> bug) {
        this.name = name;
        this.limits = limits;
        this.bug = bug;
    }

    private boolean has(SeededBug mistake) {
        return bug.filter(mistake::equals).isPresent();
    }

    /** To try something on that is kept whole or not at all. */
    SimulatedSession copy() {
        var copy = new SimulatedSession(name, limits, bug);
        copy.history.addAll(history);
        copy.holder = holder;
        copy.arrivals.addAll(arrivals);
        copy.keys.putAll(keys);
        copy.fingerprints.putAll(fingerprints);
        copy.events.addAll(events);
        copy.snapshot = snapshot;
        copy.admission = admission;
        copy.epoch = epoch;
        copy.node = node;
        copy.lastBatch = lastBatch;
        copy.takenThrough = takenThrough;
        copy.ordinary = ordinary;
        copy.ordinaryBytes = ordinaryBytes;
        copy.lastUrgent = lastUrgent;
        copy.ordinaryDone = ordinaryDone;
        copy.ordinaryDoneBytes = ordinaryDoneBytes;
        copy.readyAt = readyAt;
        copy.openTurn = openTurn;
        copy.due = due;
        copy.summary = summary;
        return copy;
    }

    static String digest(String key) {
        try {
            var sha = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha.digest(key.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256; this one says it has not", e);
        }
    }

    boolean closed() {
        return !admission.open() && summary.phase().equals("CLOSED");
    }

    void add(Arrival arrival, Optional<String> key, byte[] fingerprint) {
        arrivals.add(arrival);
        fingerprints.put(arrival.number(), fingerprint);
        key.ifPresent(k -> keys.put(k, arrival));
        if (arrival.kind().counted()) {
            ordinary++;
            ordinaryBytes += arrival.bytes();
        }
        if (arrival.kind().urgent()) {
            lastUrgent = arrival.number();
        }
    }

    long unread() {
        return ordinary - ordinaryDone;
    }

    /** Why a delivery that wants an idle session is refused; absent when the session is idle. */
    Optional<Receipt> busy() {
        return openTurn.isPresent() || unread() > 0
                ? Optional.of(new Receipt.Busy(openTurn, unread()))
                : Optional.empty();
    }

    /** The receipt the same key was given before. */
    Optional<Receipt> earlier(Delivery d) {
        return d.key()
                .map(SimulatedSession::digest)
                .map(keys::get)
                .map(first -> Arrays.equals(fingerprints.get(first.number()), d.fingerprint())
                        ? new Receipt.Duplicate(first.id(), first.number(), first.acceptedAt())
                        : new Receipt.KeyConflict(first.number()));
    }

    /**
     * @param addresses all of the store
     * @param busy why it is refused when it wants an idle session
     */
    Receipt accept(Delivery d, Instant now, Map<String, Address> addresses, Optional<Receipt> busy) {
        var answer = earlier(d)
                .or(() -> addressed(d, addresses))
                .or(() -> closed() || (!admission.open() && d.kind().counted() && !has(SeededBug.ACCEPTED_AFTER_FINISH))
                        ? Optional.of(new Receipt.Refused(admission.reason()))
                        : Optional.empty())
                .or(() -> d.onlyIdle() && !has(SeededBug.ACCEPTED_THOUGH_BUSY) ? busy : Optional.empty())
                .or(() -> has(SeededBug.ACCEPTED_OVER_BOUND) ? Optional.empty() : full(d));
        if (answer.isPresent()) {
            if (answer.get() instanceof Receipt.Refusal why) {
                history.add(new Happening.Refused(d, why));
            }
            return answer.get();
        }
        boolean urgent = d.kind().urgent();
        var arrival = new Arrival(
                arrivals.size() + 1L,
                d.id(),
                d.kind(),
                now,
                urgent ? openTurn : OptionalLong.empty(),
                urgent ? takenThrough : 0,
                d.header(),
                d.body(),
                d.body().length);
        add(arrival, d.key().map(SimulatedSession::digest), d.fingerprint());
        history.add(new Happening.Accepted(arrival, d));
        readyAt = readyAt.or(() -> Optional.of(now));
        d.address().map(addresses::get).filter(a -> a.terms().once()).ifPresent(a -> {
            var released = new Address(a.token(), name, a.terms(), OptionalLong.of(arrival.number()));
            addresses.put(a.token(), released);
        });
        return new Receipt.Accepted(arrival.id(), arrival.number(), arrival.acceptedAt());
    }

    private Optional<Receipt> addressed(Delivery d, Map<String, Address> addresses) {
        if (d.address().isEmpty()) {
            return Optional.empty();
        }
        var address = addresses.get(d.address().get());
        if (address == null
                || !address.session().equals(name)
                || (address.releasedThrough().isPresent() && !has(SeededBug.RELEASED_ADDRESS_ACCEPTS))) {
            return Optional.of(new Receipt.Released(d.address().get()));
        }
        var accepts = address.terms().accepts();
        return accepts.contains(d.kind())
                ? Optional.empty()
                : Optional.of(new Receipt.Refused("the address takes "
                        + accepts.stream().sorted().map(SimulatedSession::word).collect(Collectors.joining(", "))
                        + ", not " + word(d.kind())));
    }

    private static String word(ArrivalKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private Optional<Receipt> full(Delivery d) {
        if (!d.kind().counted()) {
            return Optional.empty();
        }
        if (unread() >= limits.unreadMessages()) {
            return Optional.of(new Receipt.Full(unread(), limits.unreadMessages(), "messages"));
        }
        long bytes = ordinaryBytes - ordinaryDoneBytes;
        return d.body().length > limits.unreadBytes() - bytes
                ? Optional.of(new Receipt.Full(bytes, limits.unreadBytes(), "bytes"))
                : Optional.empty();
    }

    Claim.Recovered recovered() {
        long from = snapshot.map(SnapshotRecord::seq).orElse(0L);
        return new Claim.Recovered(
                has(SeededBug.IN_FLIGHT_NOT_IN_CHECKPOINT) ? snapshot.map(SeededBug::withoutInFlight) : snapshot,
                events.stream().filter(e -> e.seq() > from).toList(),
                events.size());
    }

    /** @param stale whether an owner that was fenced may append, which breaks P3 */
    Appended append(Batch batch, long byEpoch, Instant now, boolean stale) {
        if (lastBatch.equals(batch.id())) {
            return new Appended.Committed(events.size());
        }
        if (!stale) {
            if (epoch != byEpoch) {
                return new Appended.Fenced(epoch);
            }
            check(batch);
        }
        boolean behind =
                batch.urgentThrough().isPresent() && batch.urgentThrough().getAsLong() < lastUrgent;
        boolean asks = batch.events().stream().anyMatch(e -> e.type().equals("QuestionAsked"));
        if (behind && !has(SeededBug.CANCEL_LOSES_TO_RESULT) && !(asks && has(SeededBug.ANSWER_FROM_BEFORE))) {
            return new Appended.Behind(lastUrgent);
        }
        batch.events().forEach(e -> {
            var stored = new StoredEvent(events.size() + 1L, byEpoch, now, e);
            events.add(stored);
            history.add(new Happening.Recorded(stored));
        });
        batch.admission().ifPresent(a -> admission = a);
        batch.snapshot().ifPresent(s -> snapshot = Optional.of(s));
        lastBatch = batch.id();
        takenThrough = batch.takenThrough();
        ordinaryDone = batch.ordinaryDone();
        ordinaryDoneBytes = batch.ordinaryDoneBytes();
        openTurn = batch.openTurn();
        due = batch.dueAt();
        summary = batch.summary();
        boolean nothingSince = has(SeededBug.LOST_WAKE_UP)
                || (batch.quietThrough().isPresent() && batch.quietThrough().getAsLong() == arrivals.size());
        if (batch.quietThrough().isPresent() && nothingSince) {
            readyAt = Optional.empty();
        }
        return new Appended.Committed(events.size());
    }

    private void check(Batch batch) {
        refuse(
                batch.expectedSeq() != events.size(),
                "it expects event " + batch.expectedSeq() + " to be the last and " + events.size() + " is");
        refuse(
                batch.takenThrough() < takenThrough || batch.takenThrough() > arrivals.size(),
                "takenThrough is " + batch.takenThrough() + ", it was " + takenThrough + " and the last arrival is "
                        + arrivals.size());
        refuse(
                batch.ordinaryDone() < 0 || batch.ordinaryDone() > ordinary,
                "ordinaryDone is " + batch.ordinaryDone() + " and " + ordinary + " were accepted");
        refuse(
                batch.ordinaryDoneBytes() < 0 || batch.ordinaryDoneBytes() > ordinaryBytes,
                "ordinaryDoneBytes is " + batch.ordinaryDoneBytes() + " and " + ordinaryBytes + " were accepted");
        long last = batch.expectedSeq() + batch.events().size();
        refuse(
                batch.snapshot().filter(s -> s.seq() != last).isPresent(),
                "its snapshot is not of its last event, " + last);
    }

    private void refuse(boolean wrong, String why) {
        if (wrong) {
            throw new JournalException(Problem.FAILED, "a batch of session '" + name + "' was not appended: " + why);
        }
    }

    /** When it became ready, is due or began its turn, if it is ready by {@code now}; the earliest of them. */
    Optional<Instant> waitsSince(Instant now) {
        if (closed()) {
            return readyAt;
        }
        var since = new ArrayList<Instant>();
        readyAt.ifPresent(since::add);
        due.filter(d -> !d.isAfter(now)).ifPresent(since::add);
        if (openTurn.isPresent()) {
            since.add(summary.turnSince().orElse(Instant.EPOCH));
        }
        return since.stream().min(Instant::compareTo);
    }

    /** Whether it is paused or parked, with nothing due. */
    boolean rests(Instant now) {
        var phase = summary.phase();
        boolean isDue = due.filter(d -> !d.isAfter(now)).isPresent();
        return !isDue && (phase.equals("PAUSED") || phase.equals("PARKED"));
    }

    SessionSummary summary() {
        return new SessionSummary(
                name,
                admission.open(),
                admission.reason(),
                unread(),
                takenThrough,
                arrivals.size(),
                events.size(),
                epoch,
                node,
                openTurn,
                due,
                summary);
    }
}
