package dev.holdfast.journal;

import dev.holdfast.Delivery;
import dev.holdfast.Receipt;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Accepts several deliveries to one session, all or none (IN-19). */
final class AcceptanceOfAll extends Write<List<Receipt>> {
    static final int MOST = 1_000;

    private final List<Acceptance> members;

    AcceptanceOfAll(List<Delivery> deliveries, long bodyLimit) {
        check(deliveries);
        this.members = deliveries.stream()
                .map(delivery -> new Acceptance(delivery, bodyLimit))
                .toList();
    }

    /** @throws IllegalArgumentException when it is no batch */
    static void check(List<Delivery> deliveries) {
        if (deliveries.isEmpty() || deliveries.size() > MOST) {
            throw new IllegalArgumentException(
                    "a batch has 1 to " + MOST + " deliveries; this one has " + deliveries.size());
        }
        for (Delivery delivery : deliveries) {
            if (!delivery.session().equals(deliveries.getFirst().session())) {
                throw new IllegalArgumentException("a batch goes to one session; this one goes to '"
                        + deliveries.getFirst().session() + "' and '" + delivery.session() + "'");
            }
        }
    }

    @Override
    protected List<Receipt> apply(WriteStore store) throws SQLException {
        Head head = store.find(members.getFirst().delivery.session());
        if (head == null || head.admission == Head.DELETED) {
            Receipt unknown =
                    new Receipt.UnknownSession(members.getFirst().delivery.session());
            return members.stream().map(member -> unknown).toList();
        }
        List<Receipt> receipts = new ArrayList<>();
        store.whole(
                head,
                () -> {
                    acceptUntilRefused(store, head, receipts);
                    return receipts;
                },
                given -> !(given.getLast() instanceof Receipt.Refusal));
        return receipts.getLast() instanceof Receipt.Refusal why ? refused(store, receipts.size() - 1, why) : receipts;
    }

    private void acceptUntilRefused(WriteStore store, Head head, List<Receipt> receipts) throws SQLException {
        Optional<Receipt> busy = head.busy();
        for (Acceptance member : members) {
            Receipt receipt = member.accept(store, head, busy);
            receipts.add(receipt);
            if (receipt instanceof Receipt.Refusal) {
                return;
            }
        }
    }

    /** What each is told when nothing was stored: the refused one why, and one whose key is known its first receipt. */
    private List<Receipt> refused(WriteStore store, int at, Receipt.Refusal why) throws SQLException {
        Head head = store.known(members.getFirst().delivery.session());
        Receipt forItsSake = forTheSakeOf(at, members.size(), why);
        List<Receipt> receipts = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            receipts.add(i == at ? why : members.get(i).earlier(store, head).orElse(forItsSake));
        }
        return receipts;
    }

    static Receipt.Refused forTheSakeOf(int at, int size, Receipt.Refusal why) {
        return new Receipt.Refused("nothing of this batch was accepted, since delivery " + (at + 1) + " of " + size
                + " was refused: " + why.message());
    }

    @Override
    long bytes() {
        return members.stream().mapToLong(Acceptance::bytes).sum();
    }

    @Override
    boolean turnAway(String why) {
        return stage().complete(members.stream()
                .map(member -> (Receipt) new Receipt.Refused(why))
                .toList());
    }
}
