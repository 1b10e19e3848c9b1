package dev.holdfast.journal;

import dev.holdfast.Delivery;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Accepts deliveries to one session, all or none (P1, IN-19). Urgent ones are bound to what is open now, and what
 * wants an idle session has to see that it is: both lock the owner's row as well, so that a settlement comes before
 * or after.
 */
final class PostgresAccepting extends PostgresWrite<List<Receipt>> {
    private final List<Offer> offers;
    private final Rows rows;

    /** @throws IllegalArgumentException when a header is too long */
    PostgresAccepting(SessionName session, List<Delivery> deliveries, long bodyLimit) {
        super(session);
        this.offers = deliveries.stream()
                .map(delivery -> new Offer(delivery, bodyLimit))
                .toList();
        boolean binds = deliveries.stream().anyMatch(delivery -> delivery.kind().urgent() || delivery.onlyIdle());
        this.rows = binds ? Rows.BOTH : Rows.SESSION;
    }

    @Override
    Rows rows() {
        return rows;
    }

    @Override
    void ask(PostgresLookups lookups, PostgresSession at) {
        for (Offer offer : offers) {
            byte[] key = offer.keyHash();
            if (key != null) {
                lookups.askKey(at.sid(), key);
            }
            offer.delivery().address().ifPresent(lookups::askAddress);
        }
        firstAccepted(outcome()).ifPresent(accepted -> lookups.askArrived(at.sid(), accepted.number()));
    }

    private static Optional<Receipt.Accepted> firstAccepted(@Nullable List<Receipt> receipts) {
        return receipts == null
                ? Optional.empty()
                : receipts.stream()
                        .filter(Receipt.Accepted.class::isInstance)
                        .map(Receipt.Accepted.class::cast)
                        .findFirst();
    }

    /** Numbers are given once: what stands under the number we gave tells whether it was ours that was committed. */
    @Override
    protected @Nullable List<Receipt> found(
            PostgresTransaction store, @Nullable PostgresSession at, List<Receipt> before) {
        Optional<Receipt.Accepted> mine = firstAccepted(before);
        boolean committed = at != null
                && mine.isPresent()
                && store.found()
                        .arrived(at.sid(), mine.get().number())
                        .equals(Optional.of(mine.get().id().value()));
        if (committed) {
            store.arrived(session());
        }
        return committed ? before : null;
    }

    @Override
    protected List<Receipt> apply(PostgresTransaction store, @Nullable PostgresSession at) throws SQLException {
        if (at == null || at.head.admission == Head.DELETED) {
            return offers.stream()
                    .map(offer -> (Receipt) new Receipt.UnknownSession(session()))
                    .toList();
        }
        // On a copy, since nothing is kept of a batch of which one is refused.
        Trial trial = new Trial(store, at);
        List<Receipt> receipts = new ArrayList<>();
        for (Offer offer : offers) {
            Receipt receipt = trial.accept(offer);
            receipts.add(receipt);
            if (receipt instanceof Receipt.Refusal why) {
                return refused(store, at, receipts.size() - 1, why);
            }
        }
        trial.keep();
        return receipts;
    }

    /** What each is told when nothing was stored: the refused one why, and one whose key is known its first receipt. */
    private List<Receipt> refused(PostgresTransaction store, PostgresSession at, int which, Receipt.Refusal why) {
        Receipt forItsSake = AcceptanceOfAll.forTheSakeOf(which, offers.size(), why);
        List<Receipt> receipts = new ArrayList<>();
        for (int i = 0; i < offers.size(); i++) {
            Offer offer = offers.get(i);
            receipts.add(
                    i == which ? why : byKey(store, at, offer).map(offer::given).orElse(forItsSake));
        }
        return receipts;
    }

    private static Optional<ArrivalRow> byKey(PostgresTransaction store, PostgresSession at, Offer offer) {
        byte[] key = offer.keyHash();
        return key == null ? Optional.empty() : store.found().byKey(at.sid(), key);
    }

    /** The deliveries accepted so far, and the session as it would be with them. */
    private static final class Trial {
        private final PostgresTransaction store;
        private final PostgresSession at;
        private final Head head;
        private final Optional<Receipt> busy;
        private final List<Offer> taken = new ArrayList<>();
        private final List<ArrivalRow> rows = new ArrayList<>();
        private final Map<Digest, ArrivalRow> keys = new HashMap<>();
        private final Map<String, AddressRow> used = new LinkedHashMap<>();

        Trial(PostgresTransaction store, PostgresSession at) {
            this.store = store;
            this.at = at;
            this.head = at.head.copy();
            this.busy = head.busy();
        }

        Receipt accept(Offer offer) {
            Optional<Receipt> earlier = earlier(offer);
            if (earlier.isPresent()) {
                return earlier.get();
            }
            Optional<AddressRow> through = offer.delivery().address().flatMap(this::address);
            Optional<Receipt> refusal = offer.refusal(head, through, busy);
            if (refusal.isPresent()) {
                return refusal.get();
            }
            ArrivalRow row = offer.row(head, store.now());
            taken.add(offer);
            rows.add(row);
            byte[] key = offer.keyHash();
            if (key != null) {
                keys.put(new Digest(key), row);
            }
            through.filter(AddressRow::once)
                    .ifPresent(address -> used.put(address.token(), address.released(row.number())));
            return offer.accept(head, row);
        }

        private Optional<Receipt> earlier(Offer offer) {
            byte[] key = offer.keyHash();
            if (key == null) {
                return Optional.empty();
            }
            ArrivalRow here = keys.get(new Digest(key));
            return (here == null ? byKey(store, at, offer) : Optional.of(here)).map(offer::given);
        }

        private Optional<AddressRow> address(String token) {
            AddressRow here = used.get(token);
            return here == null ? store.found().address(token) : Optional.of(here);
        }

        void keep() throws SQLException {
            for (int i = 0; i < rows.size(); i++) {
                ArrivalRow row = rows.get(i);
                Offer offer = taken.get(i);
                store.rows().arrival(row, offer.delivery().body());
                byte[] key = offer.keyHash();
                if (key != null) {
                    store.found().used(row, key);
                }
                offer.accept(at.head, row);
            }
            for (AddressRow address : used.values()) {
                store.put(address, at.name);
            }
            if (!rows.isEmpty()) {
                store.arrived(at.name);
            }
        }
    }

    @Override
    long bytes() {
        return offers.stream().mapToLong(Offer::bytes).sum();
    }

    @Override
    boolean turnAway(String why) {
        return stage().complete(offers.stream()
                .map(offer -> (Receipt) new Receipt.Refused(why))
                .toList());
    }
}
