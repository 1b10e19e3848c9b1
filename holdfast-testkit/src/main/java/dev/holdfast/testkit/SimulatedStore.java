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
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A store in memory with the promises of the real one and a disk that loses what was not synced: operations gather until a
 * commit takes them all, answers come in a later step, and a host may die at either side of it. Not thread-safe.
 */
public final class SimulatedStore {
    private final Map<SessionName, Contents> sessions = new TreeMap<>();
    private boolean acknowledgesBeforeCommit;
    private boolean acceptsStaleEpochs;

    /** Breaks P1 on purpose: receipts are given before the commit. */
    void acknowledgeBeforeCommit() {
        acknowledgesBeforeCommit = true;
    }

    /** Breaks P3 on purpose: appends of an older epoch are taken. */
    void acceptStaleEpochs() {
        acceptsStaleEpochs = true;
    }

    /** What is on the disk of one session. */
    static final class Contents {
        final SessionLimits limits;
        final List<Arrival> arrivals = new ArrayList<>();
        final Map<String, Arrival> keys = new HashMap<>();
        final Map<Long, byte[]> fingerprints = new HashMap<>();
        final List<StoredEvent> events = new ArrayList<>();
        Optional<SnapshotRecord> snapshot = Optional.empty();
        Batch.Admission admission = new Batch.Admission(true, "");
        long epoch;
        String node = "";
        UUID lastBatch = new UUID(0, 0);
        long takenThrough;
        long ordinary;
        long ordinaryDone;
        boolean ready;
        OptionalLong openTurn = OptionalLong.empty();
        Optional<Instant> due = Optional.empty();
        Batch.Summary summary = new Batch.Summary("OPEN", "", Optional.empty(), OptionalLong.empty(), "");

        Contents(SessionLimits limits) {
            this.limits = limits;
        }
    }

    /** What an observer may see: everything that is on disk now. */
    Contents contents(SessionName session) {
        return sessions.getOrDefault(session, new Contents(SessionLimits.standard()));
    }

    /** The store as one host sees it. */
    public Journal open(VirtualTime.Group host) {
        return new View(host);
    }

    private record Operation<T>(Supplier<T> work, CompletableFuture<T> answer, boolean accept) {}

    private final class View implements Journal {
        private final VirtualTime.Group host;
        private final List<Operation<?>> gathered = new ArrayList<>();
        private Consumer<SessionName> accepted = name -> {};
        private boolean committing;

        View(VirtualTime.Group host) {
            this.host = host;
        }

        private <T> CompletionStage<T> write(Supplier<T> work, boolean accept) {
            var answer = new CompletableFuture<T>();
            gathered.add(new Operation<>(work, answer, accept));
            if (!committing) {
                committing = true;
                host.executor().execute(this::commit);
            }
            return answer;
        }

        private <T> CompletionStage<T> read(Supplier<T> work) {
            var answer = new CompletableFuture<T>();
            host.executor()
                    .execute(
                            () -> complete(new Operation<>(work, answer, false)).run());
            return answer;
        }

        private void commit() {
            committing = false;
            var batch = List.copyOf(gathered);
            gathered.clear();
            var answers = new ArrayList<Runnable>();
            batch.forEach(o -> answers.add(complete(o)));
            host.executor().execute(() -> answers.forEach(Runnable::run)); // after the sync, in a step of its own
        }

        private <T> Runnable complete(Operation<T> operation) {
            try {
                var value = operation.work().get();
                return () -> operation.answer().complete(value);
            } catch (JournalException e) {
                return () -> operation.answer().completeExceptionally(e);
            }
        }

        private Contents of(SessionName name) {
            var contents = sessions.get(name);
            if (contents == null) {
                throw new JournalException(
                        JournalException.Problem.UNKNOWN_SESSION, "session " + name + " was never opened");
            }
            return contents;
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
            return write(() -> sessions.putIfAbsent(name, new Contents(limits)) == null, false);
        }

        @Override
        public CompletionStage<Receipt> accept(Delivery delivery) {
            if (acknowledgesBeforeCommit && sessions.containsKey(delivery.session())) {
                long next = of(delivery.session()).arrivals.size() + 1L + gathered.size();
                write(() -> accepted(delivery), true);
                return CompletableFuture.completedFuture(new Receipt.Accepted(delivery.id(), next, host.now()));
            }
            return write(() -> accepted(delivery), true);
        }

        private Receipt accepted(Delivery d) {
            var contents = sessions.get(d.session());
            if (contents == null) {
                return new Receipt.UnknownSession(d.session());
            }
            var known = d.key().map(contents.keys::get);
            if (known.isPresent()) {
                var first = known.get();
                return Arrays.equals(contents.fingerprints.get(first.number()), d.fingerprint())
                        ? new Receipt.Duplicate(first.id(), first.number(), first.acceptedAt())
                        : new Receipt.KeyConflict(first.number());
            }
            if (!contents.admission.open()) {
                return new Receipt.Refused(contents.admission.reason());
            }
            boolean urgent = d.kind().urgent();
            long unread = contents.ordinary - contents.ordinaryDone;
            if (!urgent && unread >= contents.limits.unreadMessages()) {
                return new Receipt.Full(unread, contents.limits.unreadMessages(), "messages");
            }
            var arrival = new Arrival(
                    contents.arrivals.size() + 1L,
                    d.id(),
                    d.kind(),
                    host.now(),
                    urgent ? contents.openTurn : OptionalLong.empty(),
                    urgent ? contents.takenThrough : 0,
                    d.header(),
                    d.body(),
                    d.body().length);
            contents.arrivals.add(arrival);
            contents.fingerprints.put(arrival.number(), d.fingerprint());
            d.key().ifPresent(k -> contents.keys.put(k, arrival));
            contents.ordinary += urgent ? 0 : 1;
            contents.ready = true;
            host.executor().execute(() -> accepted.accept(d.session()));
            return new Receipt.Accepted(arrival.id(), arrival.number(), arrival.acceptedAt());
        }

        @Override
        public CompletionStage<Claim> claim(SessionName name, Node node) {
            return write(
                    () -> {
                        var contents = of(name);
                        contents.epoch++;
                        contents.node = node.name();
                        var from = contents.snapshot.map(SnapshotRecord::seq).orElse(0L);
                        return new SimulatedClaim(
                                name,
                                contents.epoch,
                                new Claim.Recovered(
                                        contents.snapshot,
                                        contents.events.stream()
                                                .filter(e -> e.seq() > from)
                                                .toList(),
                                        contents.events.size()));
                    },
                    false);
        }

        @Override
        public CompletionStage<List<SessionName>> ready(Instant now, int max) {
            return read(() -> sessions.entrySet().stream()
                    .filter(e -> e.getValue().ready
                            || e.getValue().openTurn.isPresent()
                            || e.getValue().due.filter(d -> !d.isAfter(now)).isPresent())
                    .map(Map.Entry::getKey)
                    .limit(max)
                    .toList());
        }

        @Override
        public void onAccepted(Consumer<SessionName> listener) {
            accepted = listener;
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
                    .limit(max)
                    .map(a -> selection == Selection.WITH_BODIES ? a : withoutBody(a))
                    .toList());
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
            return read(() -> sessions.keySet().stream()
                    .filter(n -> after.isEmpty() || n.compareTo(after.get()) > 0)
                    .limit(max)
                    .map(this::summary)
                    .toList());
        }

        @Override
        public CompletionStage<Optional<SessionSummary>> session(SessionName name) {
            return read(() -> Optional.ofNullable(sessions.get(name)).map(c -> summary(name)));
        }

        private SessionSummary summary(SessionName name) {
            var c = of(name);
            return new SessionSummary(
                    name,
                    c.admission.open(),
                    c.admission.reason(),
                    c.ordinary - c.ordinaryDone,
                    c.takenThrough,
                    c.arrivals.size(),
                    c.events.size(),
                    c.epoch,
                    c.node,
                    c.openTurn,
                    c.due,
                    c.summary);
        }

        @Override
        public CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<AddressClaim> claimAddress(SessionName session, String token, AddressTerms terms) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<SessionImage> image(SessionName name) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<Boolean> restore(SessionImage image) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<List<Address>> addresses(SessionName name) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public CompletionStage<Optional<Address>> address(String token) {
            throw new UnsupportedOperationException("not built yet");
        }

        @Override
        public void close() {}

        private final class SimulatedClaim implements Claim {
            private final SessionName name;
            private final long epoch;
            private final Recovered recovered;

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
                return write(() -> appended(batch), false);
            }

            private Appended appended(Batch batch) {
                var c = of(name);
                if (c.epoch != epoch && !acceptsStaleEpochs) {
                    return new Appended.Fenced(c.epoch);
                }
                if (c.lastBatch.equals(batch.id())) {
                    return new Appended.Committed(c.events.size());
                }
                if (batch.expectedSeq() != c.events.size() && !acceptsStaleEpochs) {
                    throw new JournalException(
                            JournalException.Problem.FAILED,
                            "expected event " + batch.expectedSeq() + " to be the last of " + name + ", but "
                                    + c.events.size() + " is");
                }
                batch.events().forEach(e -> c.events.add(new StoredEvent(c.events.size() + 1L, epoch, host.now(), e)));
                batch.admission().ifPresent(a -> c.admission = a);
                batch.snapshot().ifPresent(s -> c.snapshot = Optional.of(s));
                c.lastBatch = batch.id();
                c.takenThrough = batch.takenThrough();
                c.ordinaryDone = batch.ordinaryDone();
                c.openTurn = batch.openTurn();
                c.due = batch.dueAt();
                c.summary = batch.summary();
                if (batch.quietThrough().isPresent() && batch.quietThrough().getAsLong() == c.arrivals.size()) {
                    c.ready = false;
                }
                return new Appended.Committed(c.events.size());
            }

            @Override
            public CompletionStage<Void> resign(Optional<SnapshotRecord> last) {
                return write(
                        () -> {
                            var c = of(name);
                            if (c.epoch == epoch) {
                                last.filter(s -> s.seq() > 0).ifPresent(s -> c.snapshot = Optional.of(s));
                            }
                            return null;
                        },
                        false);
            }
        }
    }
}
