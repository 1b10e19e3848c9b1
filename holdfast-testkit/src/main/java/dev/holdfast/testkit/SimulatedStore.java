package dev.holdfast.testkit;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.Batch;
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
import dev.holdfast.SessionSummary;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import dev.holdfast.testkit.SimulatedSession.Happening;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in memory with the promises of the real one and a disk that loses what was not synced: operations gather until a
 * commit takes them all, answers come in a later step, and a host may die at either side of it. Not thread-safe.
 */
public final class SimulatedStore {
    /** How many arrivals an observer reads at once. */
    private static final int OBSERVERS_PAGE = 200;

    private static final Logger LOG = LoggerFactory.getLogger(SimulatedStore.class);
    private static final Duration LEASE = Duration.ofSeconds(10);

    private final Map<SessionName, SimulatedSession> sessions = new TreeMap<>();
    /** In the order of claims. */
    private final Map<String, Address> addresses = new LinkedHashMap<>();
    /** Addresses that a session only says it has. */
    private final List<Address> leaked = new ArrayList<>();

    private final Random random;
    private final Traits traits;

    /**
     * What kind of store it is.
     *
     * @param leased a claim is refused while its holder lives, as in a store for several hosts; else it is always given, as
     *     where a lock keeps other hosts out
     * @param signalsLost how many of the signals that mail came in get lost, from 0 to 1 (IN-21)
     * @param bug a mistake it makes on purpose
     */
    record Traits(boolean leased, double signalsLost, Optional<SeededBug> bug) {
        static Traits sound() {
            return new Traits(false, 0, Optional.empty());
        }

        boolean has(SeededBug mistake) {
            return bug.filter(mistake::equals).isPresent();
        }
    }

    /** A store without mistakes for one host at a time. */
    public SimulatedStore() {
        this(new Random(0), Traits.sound());
    }

    /** A store for one host at a time that makes this mistake on purpose, if it is one of a store. */
    public SimulatedStore(SeededBug mistake) {
        this(new Random(0), new Traits(false, 0, Optional.of(mistake)));
    }

    SimulatedStore(Random random, Traits traits) {
        this.random = random;
        this.traits = traits;
    }

    /** What an observer may see: everything that is on disk now. */
    SimulatedSession contents(SessionName session) {
        return sessions.getOrDefault(session, new SimulatedSession(session, SessionLimits.standard()));
    }

    /** The store as one host sees it. */
    public Journal open(VirtualTime.Group host) {
        if (traits.has(SeededBug.KEY_FORGOTTEN_AFTER_RESTART)) {
            sessions.values().forEach(s -> s.keys.clear());
        }
        return new View(host);
    }

    private record Operation<T>(Supplier<T> work, CompletableFuture<T> answer) {}

    private final class View implements Journal {
        private final VirtualTime.Group host;
        private final List<Operation<?>> gathered = new ArrayList<>();
        private final Deque<List<Runnable>> unanswered = new ArrayDeque<>();
        private final List<Consumer<SessionName>> listeners = new ArrayList<>();
        private boolean committing;
        private boolean closed;

        View(VirtualTime.Group host) {
            this.host = host;
        }

        private <T> CompletionStage<T> write(Supplier<T> work) {
            if (closed) {
                return stopped();
            }
            var answer = new CompletableFuture<T>();
            gathered.add(new Operation<>(work, answer));
            if (!committing) {
                committing = true;
                host.executor().execute(this::commit);
            }
            return answer;
        }

        private <T> CompletionStage<T> read(Supplier<T> work) {
            if (closed) {
                return stopped();
            }
            var answer = new CompletableFuture<T>();
            host.executor()
                    .execute(() -> complete(new Operation<>(work, answer)).run());
            return answer;
        }

        private <T> CompletionStage<T> stopped() {
            return CompletableFuture.failedFuture(new JournalException(Problem.STOPPED, "this view was closed"));
        }

        private void commit() {
            committing = false;
            var batch = List.copyOf(gathered);
            gathered.clear();
            var answers = new ArrayList<Runnable>();
            batch.forEach(o -> answers.add(complete(o)));
            unanswered.add(answers);
            host.executor().execute(this::answer); // after the sync, in a step of its own
        }

        private void answer() {
            var answers = unanswered.poll();
            if (answers != null) {
                answers.forEach(Runnable::run);
            }
        }

        private <T> Runnable complete(Operation<T> operation) {
            try {
                var value = operation.work().get();
                return () -> operation.answer().complete(value);
            } catch (JournalException e) {
                return () -> operation.answer().completeExceptionally(e);
            }
        }

        private SimulatedSession of(SessionName name) {
            var session = sessions.get(name);
            if (session == null) {
                throw new JournalException(Problem.UNKNOWN_SESSION, "session " + name + " was never opened");
            }
            return session;
        }

        @Override
        public String storeId() {
            return "simulated";
        }

        @Override
        public Optional<Path> directory() {
            return Optional.of(Path.of("/simulated"));
        }

        @Override
        public CompletionStage<Boolean> open(SessionName name, SessionLimits limits) {
            return write(() -> sessions.putIfAbsent(name, new SimulatedSession(name, limits, traits.bug())) == null);
        }

        @Override
        public CompletionStage<Receipt> accept(Delivery delivery) {
            if (traits.has(SeededBug.ACK_BEFORE_COMMIT) && sessions.containsKey(delivery.session())) {
                long next = of(delivery.session()).arrivals.size() + 1L + gathered.size();
                write(() -> accepted(delivery));
                return CompletableFuture.completedFuture(new Receipt.Accepted(delivery.id(), next, host.now()));
            }
            return write(() -> accepted(delivery));
        }

        private Receipt accepted(Delivery d) {
            var session = sessions.get(d.session());
            if (session == null) {
                return new Receipt.UnknownSession(d.session());
            }
            var receipt = session.accept(d, host.now(), addresses, session.busy());
            if (receipt instanceof Receipt.Accepted) {
                announce(d.session());
            }
            return receipt;
        }

        private void announce(SessionName session) {
            if (traits.signalsLost() > 0 && random.nextDouble() < traits.signalsLost()) {
                return;
            }
            host.executor()
                    .execute(() -> listeners.forEach(listener -> {
                        try {
                            listener.accept(session);
                        } catch (RuntimeException e) {
                            LOG.warn("a listener for arrivals failed for session '{}'", session, e);
                        }
                    }));
        }

        @Override
        public CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries) {
            if (deliveries.isEmpty() || deliveries.size() > 1_000) {
                throw new IllegalArgumentException("a batch has 1 to 1,000 deliveries, not " + deliveries.size());
            }
            if (deliveries.stream().map(Delivery::session).distinct().count() > 1) {
                throw new IllegalArgumentException("a batch goes to one session");
            }
            return write(() -> allAccepted(deliveries));
        }

        private List<Receipt> allAccepted(List<Delivery> deliveries) {
            var name = deliveries.getFirst().session();
            var session = sessions.get(name);
            if (session == null) {
                return Collections.nCopies(deliveries.size(), new Receipt.UnknownSession(name));
            }
            var after = session.copy();
            var addressesAfter = new LinkedHashMap<>(addresses);
            var receipts = new ArrayList<Receipt>();
            for (Delivery d : deliveries) {
                var receipt = after.accept(d, host.now(), addressesAfter, session.busy());
                if (receipt instanceof Receipt.Refusal refusal) {
                    if (traits.has(SeededBug.BATCH_TORN)) {
                        sessions.put(name, after);
                    }
                    return refused(session, deliveries, receipts.size(), refusal);
                }
                receipts.add(receipt);
            }
            sessions.put(name, after);
            addresses.putAll(addressesAfter);
            if (after.arrivals.size() > session.arrivals.size()) {
                announce(name);
            }
            return receipts;
        }

        private static List<Receipt> refused(
                SimulatedSession session, List<Delivery> deliveries, int at, Receipt.Refusal why) {
            Receipt others =
                    new Receipt.Refused("delivery " + (at + 1) + " of this batch was refused: " + why.message());
            var receipts = new ArrayList<Receipt>();
            for (int i = 0; i < deliveries.size(); i++) {
                receipts.add(i == at ? why : session.earlier(deliveries.get(i)).orElse(others));
            }
            return receipts;
        }

        @Override
        public CompletionStage<AddressClaim> claimAddress(SessionName session, String token, AddressTerms terms) {
            var wanted = new Address(token, session, terms, OptionalLong.empty());
            return write(() -> claimed(wanted));
        }

        private AddressClaim claimed(Address wanted) {
            if (of(wanted.session()).closed()) {
                throw new JournalException(
                        Problem.FAILED, "session '" + wanted.session() + "' is closed and can claim no address");
            }
            var known = addresses.get(wanted.token());
            if (known != null && known.releasedThrough().isEmpty()) {
                if (!known.session().equals(wanted.session())) {
                    if (traits.has(SeededBug.CLAIM_LEAKED_ON_FAILURE)) {
                        leaked.add(wanted);
                    }
                    return new AddressClaim.Owned(wanted.token(), known.session());
                }
                addresses.put(wanted.token(), wanted); // in its place
                of(wanted.session()).history.add(new Happening.AddressClaimed(wanted));
                return new AddressClaim.Claimed(wanted.token());
            }
            if (claimedBy(wanted.session()).size() >= Address.PER_SESSION_MAX) {
                return new AddressClaim.TooMany(wanted.token(), Address.PER_SESSION_MAX);
            }
            addresses.remove(wanted.token());
            addresses.put(wanted.token(), wanted);
            of(wanted.session()).history.add(new Happening.AddressClaimed(wanted));
            return new AddressClaim.Claimed(wanted.token());
        }

        private List<Address> claimedBy(SessionName session) {
            return Stream.concat(addresses.values().stream(), leaked.stream())
                    .filter(a ->
                            a.session().equals(session) && a.releasedThrough().isEmpty())
                    .toList();
        }

        @Override
        public CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens) {
            return write(() -> {
                long last = of(session).arrivals.size();
                var released = claimedBy(session).stream()
                        .filter(a -> tokens.isEmpty() || tokens.contains(a.token()))
                        .map(a -> new Address(a.token(), session, a.terms(), OptionalLong.of(last)))
                        .toList();
                released.forEach(a -> addresses.put(a.token(), a));
                of(session)
                        .history
                        .add(new Happening.AddressesReleased(
                                released.stream().map(Address::token).toList()));
                return released;
            });
        }

        @Override
        public CompletionStage<List<Address>> addresses(SessionName name) {
            return read(() -> claimedBy(of(name).name));
        }

        @Override
        public CompletionStage<Optional<Address>> address(String token) {
            return read(() -> Optional.ofNullable(addresses.get(token)));
        }

        @Override
        public CompletionStage<SessionImage> image(SessionName name) {
            return read(() -> SimulatedMove.image(
                    of(name),
                    addresses.values().stream()
                            .filter(a -> a.session().equals(name))
                            .toList()));
        }

        @Override
        public CompletionStage<Boolean> restore(SessionImage image) {
            return write(() -> {
                var session = SimulatedMove.session(image, host.now());
                if (sessions.containsKey(image.name())) {
                    return false;
                }
                SimulatedMove.addresses(image, addresses).forEach(a -> {
                    addresses.remove(a.token());
                    addresses.put(a.token(), a);
                });
                sessions.put(image.name(), session);
                if (session.readyAt.isPresent()) {
                    announce(image.name());
                }
                return true;
            });
        }

        @Override
        public CompletionStage<Claim> claim(SessionName name, Node node) {
            return write(() -> {
                var session = of(name);
                session.holder.filter(this::keepsOut).ifPresent(other -> {
                    throw new JournalException(
                            Problem.OWNED, "session '" + name + "' is owned by host '" + session.node + "'");
                });
                session.holder.filter(other -> other != host).ifPresent(session.overtaken::add);
                session.overtaken.remove(host);
                session.holder = Optional.of(host);
                session.epoch++;
                session.node = node.name();
                return new SimulatedClaim(name, session.epoch, session.recovered());
            });
        }

        /** Whether the holder's lease is valid: its host renews it while it runs. */
        private boolean keepsOut(VirtualTime.Group holder) {
            return traits.leased()
                    && holder != host
                    && holder.stoppedAt()
                            .map(at -> host.trueNow().isBefore(at.plus(LEASE)))
                            .orElse(true);
        }

        @Override
        public CompletionStage<List<SessionName>> ready(Instant now, int max) {
            return read(() -> sessions.values().stream()
                    .filter(s -> s.waitsSince(now).isPresent())
                    .sorted(Comparator.comparing((SimulatedSession s) -> s.rests(now))
                            .thenComparing(s -> s.waitsSince(now).orElse(now)))
                    .map(s -> s.name)
                    .limit(max)
                    .toList());
        }

        @Override
        public void onAccepted(Consumer<SessionName> listener) {
            listeners.add(listener);
        }

        @Override
        public CompletionStage<List<StoredEvent>> events(SessionName session, long afterSeq, int max) {
            return read(
                    () -> of(session).events.stream().skip(afterSeq).limit(max).toList());
        }

        @Override
        public CompletionStage<List<Arrival>> arrivals(SessionName session, long after, int max, Selection selection) {
            return read(() -> of(session).arrivals.stream()
                    .skip(after)
                    .filter(a ->
                            selection != Selection.URGENT_HEADERS || a.kind().urgent())
                    .filter(a -> !unseen(a, max, selection))
                    .limit(max)
                    .map(a -> selection == Selection.WITH_BODIES ? a : withoutBody(a))
                    .toList());
        }

        /** Only those who observe read whole pages of bodies: with that mistake they miss what lay there when they began. */
        private boolean unseen(Arrival a, int max, Selection selection) {
            return traits.has(SeededBug.OBSERVER_GAP)
                    && selection == Selection.WITH_BODIES
                    && max == OBSERVERS_PAGE
                    && a.acceptedAt().isBefore(host.now().minusMillis(100));
        }

        private static Arrival withoutBody(Arrival a) {
            return new Arrival(
                    a.number(),
                    a.id(),
                    a.kind(),
                    a.acceptedAt(),
                    a.boundTurn(),
                    a.boundAfter(),
                    a.header(),
                    new byte[0],
                    a.bytes());
        }

        @Override
        public CompletionStage<List<SessionSummary>> sessions(Optional<SessionName> after, int max) {
            return read(() -> sessions.values().stream()
                    .filter(s -> after.isEmpty() || s.name.compareTo(after.get()) > 0)
                    .limit(max)
                    .map(SimulatedSession::summary)
                    .toList());
        }

        @Override
        public CompletionStage<Optional<SessionSummary>> session(SessionName name) {
            return read(() -> Optional.ofNullable(sessions.get(name)).map(SimulatedSession::summary));
        }

        /** Commits what waits and tells everybody who waits for an answer. */
        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            commit();
            while (!unanswered.isEmpty()) {
                answer();
            }
        }

        private final class SimulatedClaim implements Claim {
            private final SessionName name;
            private final long epoch;
            private final Recovered recovered;
            private boolean resigned;

            SimulatedClaim(SessionName name, long epoch, Recovered recovered) {
                this.name = name;
                this.epoch = epoch;
                this.recovered = recovered;
            }

            @Override
            public SessionName session() {
                return name;
            }

            @Override
            public long epoch() {
                return epoch;
            }

            @Override
            public Recovered recovered() {
                return recovered;
            }

            @Override
            public CompletionStage<Appended> append(Batch batch) {
                if (resigned) {
                    return CompletableFuture.failedFuture(gone());
                }
                return write(() -> {
                    var answer = of(name).append(batch, epoch, host.now(), traits.has(SeededBug.STALE_EPOCH_ACCEPTED));
                    if (answer instanceof Appended.Fenced) {
                        of(name).overtaken.remove(host);
                    }
                    return answer;
                });
            }

            @Override
            public boolean holds() {
                return !traits.leased() || of(name).epoch == epoch;
            }

            private JournalException gone() {
                return new JournalException(Problem.FAILED, "the claim on session '" + name + "' was given back");
            }

            @Override
            public CompletionStage<Void> resign(Optional<SnapshotRecord> last) {
                if (resigned) {
                    return CompletableFuture.failedFuture(gone());
                }
                resigned = true;
                return write(() -> {
                    var session = of(name);
                    if (session.epoch == epoch) {
                        session.holder = Optional.empty();
                        last.filter(s -> s.seq() > 0).ifPresent(s -> session.snapshot = Optional.of(s));
                    }
                    return null;
                });
            }
        }
    }
}
