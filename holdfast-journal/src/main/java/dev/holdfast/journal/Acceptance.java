package dev.holdfast.journal;

import dev.holdfast.Delivery;
import dev.holdfast.Receipt;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Accepts a delivery (P1): key looked up, address, admission and limits checked, number given, session marked ready.
 */
final class Acceptance extends Write<Receipt> {
    static final String BY_KEY = "SELECT " + ArrivalRow.COLUMNS + " FROM arrival WHERE sid = ? AND key_hash = ?";

    final Delivery delivery;
    private final Offer offer;

    Acceptance(Delivery delivery, long bodyLimit) {
        this.delivery = delivery;
        this.offer = new Offer(delivery, bodyLimit);
    }

    @Override
    protected Receipt apply(WriteStore store) throws SQLException {
        Head head = store.find(delivery.session());
        return head == null || head.admission == Head.DELETED
                ? new Receipt.UnknownSession(delivery.session())
                : accept(store, head, head.busy());
    }

    /** @param busy why a delivery that wants an idle session is refused, if it is (TN-09) */
    Receipt accept(WriteStore store, Head head, Optional<Receipt> busy) throws SQLException {
        Optional<Receipt> earlier = earlier(store, head);
        if (earlier.isPresent()) {
            return earlier.get();
        }
        Optional<AddressRow> through = delivery.address().isPresent()
                ? AddressRow.find(store.sql(), delivery.address().get())
                : Optional.empty();
        Optional<Receipt> refusal = offer.refusal(head, through, busy);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        ArrivalRow row = offer.row(head, store.now());
        row.insert(store.sql(), delivery.body());
        Receipt.Accepted accepted = offer.accept(head, row);
        store.arrived(delivery.session());
        if (through.isPresent() && through.get().once()) {
            through.get().released(accepted.number()).put(store.sql());
        }
        return accepted;
    }

    /** The receipt the same key was given before, in an earlier commit or in this one (IN-12). */
    Optional<Receipt> earlier(WriteStore store, Head head) throws SQLException {
        byte @Nullable [] key = offer.keyHash();
        if (key == null) {
            return Optional.empty();
        }
        PreparedStatement select = store.sql().bind(BY_KEY, head.sid, key);
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? Optional.of(offer.given(ArrivalRow.read(row, head.name))) : Optional.empty();
        }
    }

    @Override
    long bytes() {
        return offer.bytes();
    }

    @Override
    boolean turnAway(String why) {
        return stage().complete(new Receipt.Refused(why));
    }
}
