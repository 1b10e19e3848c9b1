package dev.holdfast.it;

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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A store that several hosts share, as one of them sees it: while one owns a session, the claims of others are refused. */
final class LeasedJournal implements Journal {
    private final Journal inner;
    private final Leases leases;

    /** Who owns what. A host that was killed owns nothing any more once its lease is over. */
    static final class Leases {
        private final Map<SessionName, Node> owners = new HashMap<>();

        /** The owner's lease has run out. */
        void expire(SessionName session) {
            owners.remove(session);
        }

        boolean owned(SessionName session) {
            return owners.containsKey(session);
        }
    }

    LeasedJournal(Journal inner, Leases leases) {
        this.inner = inner;
        this.leases = leases;
    }

    @Override
    public CompletionStage<Claim> claim(SessionName name, Node node) {
        var owner = leases.owners.get(name);
        if (owner != null && !owner.equals(node)) {
            return CompletableFuture.failedFuture(new JournalException(
                    JournalException.Problem.OWNED, "session " + name + " is owned by host " + owner.name()));
        }
        leases.owners.put(name, node);
        return inner.claim(name, node).thenApply(claim -> new Leased(claim, node));
    }

    private final class Leased implements Claim {
        private final Claim claim;
        private final Node node;

        Leased(Claim claim, Node node) {
            this.claim = claim;
            this.node = node;
        }

        @Override
        public SessionName session() {
            return claim.session();
        }

        @Override
        public long epoch() {
            return claim.epoch();
        }

        @Override
        public Recovered recovered() {
            return claim.recovered();
        }

        @Override
        public CompletionStage<Appended> append(Batch batch) {
            return claim.append(batch);
        }

        @Override
        public CompletionStage<Void> resign(Optional<SnapshotRecord> last) {
            return claim.resign(last).thenRun(() -> leases.owners.remove(session(), node));
        }
    }

    @Override
    public String storeId() {
        return inner.storeId();
    }

    @Override
    public Optional<Path> directory() {
        return inner.directory();
    }

    @Override
    public CompletionStage<Boolean> open(SessionName name, SessionLimits limits) {
        return inner.open(name, limits);
    }

    @Override
    public CompletionStage<Receipt> accept(Delivery delivery) {
        return inner.accept(delivery);
    }

    @Override
    public CompletionStage<List<Receipt>> acceptAll(List<Delivery> deliveries) {
        return inner.acceptAll(deliveries);
    }

    @Override
    public CompletionStage<AddressClaim> claimAddress(SessionName session, String token, AddressTerms terms) {
        return inner.claimAddress(session, token, terms);
    }

    @Override
    public CompletionStage<List<Address>> releaseAddresses(SessionName session, List<String> tokens) {
        return inner.releaseAddresses(session, tokens);
    }

    @Override
    public CompletionStage<SessionImage> image(SessionName name) {
        return inner.image(name);
    }

    @Override
    public CompletionStage<Boolean> restore(SessionImage image) {
        return inner.restore(image);
    }

    @Override
    public CompletionStage<List<SessionName>> ready(Instant now, int max) {
        return inner.ready(now, max);
    }

    @Override
    public void onAccepted(Consumer<SessionName> listener) {
        inner.onAccepted(listener);
    }

    @Override
    public CompletionStage<List<StoredEvent>> events(SessionName session, long afterSeq, int max) {
        return inner.events(session, afterSeq, max);
    }

    @Override
    public CompletionStage<List<Arrival>> arrivals(SessionName session, long after, int max, Selection selection) {
        return inner.arrivals(session, after, max, selection);
    }

    @Override
    public CompletionStage<List<SessionSummary>> sessions(Optional<SessionName> after, int max) {
        return inner.sessions(after, max);
    }

    @Override
    public CompletionStage<Optional<SessionSummary>> session(SessionName name) {
        return inner.session(name);
    }

    @Override
    public CompletionStage<List<Address>> addresses(SessionName name) {
        return inner.addresses(name);
    }

    @Override
    public CompletionStage<Optional<Address>> address(String token) {
        return inner.address(token);
    }

    @Override
    public void close() {
        inner.close();
    }
}
