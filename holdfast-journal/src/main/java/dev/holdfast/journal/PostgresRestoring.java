package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.StoredEvent;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Stores a session as it was in another store, whole or not at all (MB-22). Answers whether the name was free. */
final class PostgresRestoring extends PostgresWrite<Boolean> {
    private final SessionImage image;
    private long made;

    /** @throws JournalException DAMAGED when the image is not whole */
    PostgresRestoring(SessionImage image) {
        super(image.name());
        ImageCheck.check(image);
        this.image = image;
    }

    @Override
    Rows rows() {
        return Rows.NONE;
    }

    @Override
    boolean makes() {
        return true;
    }

    @Override
    boolean alone() {
        return true;
    }

    @Override
    Set<String> tokens() {
        return image.addresses().stream().map(Address::token).collect(Collectors.toSet());
    }

    /** Asked for also before there is a session. */
    @Override
    void ask(PostgresLookups lookups) {
        image.addresses().forEach(address -> lookups.askAddress(address.token()));
    }

    /** Numbers are given once. */
    @Override
    protected @Nullable Boolean found(PostgresTransaction store, @Nullable PostgresSession at, Boolean before) {
        boolean mine = before && at != null && at.sid() == made;
        return mine ? before : null;
    }

    @Override
    protected Boolean apply(PostgresTransaction store, @Nullable PostgresSession before) throws SQLException {
        if (before != null) {
            return false;
        }
        addressesAreFree(store);
        PostgresSession at = store.make(session(), image.limits());
        made = at.sid();
        Restoring.fill(image, at.head, store.now());
        at.summary = image.head().summary();
        at.headChanged = true;
        for (StoredArrival stored : image.arrivals()) {
            store.rows()
                    .arrival(Restoring.row(at.sid(), stored), stored.arrival().body());
        }
        for (StoredEvent event : image.events()) {
            store.rows().event(at.sid(), event.seq(), event.epoch(), Micros.of(event.at()), event.event());
        }
        writeAddresses(store, at.sid());
        if (at.head.readyAt.isPresent()) {
            store.arrived(session());
        }
        return true;
    }

    private void addressesAreFree(PostgresTransaction store) {
        for (Address address : image.addresses()) {
            Optional<AddressRow> known = claimed(store, address);
            if (address.releasedThrough().isEmpty() && known.isPresent()) {
                throw Restoring.addressTaken(session(), store.found().ownerOf(known.get()));
            }
        }
    }

    private static Optional<AddressRow> claimed(PostgresTransaction store, Address address) {
        return store.found().address(address.token()).filter(AddressRow::claimed);
    }

    /** An address that the session had given up stays with whoever claimed it here since. */
    private void writeAddresses(PostgresTransaction store, long sid) throws SQLException {
        long place = 0;
        for (Address address : image.addresses()) {
            place++;
            if (claimed(store, address).isEmpty()) {
                store.put(Restoring.row(sid, place, address), session());
            }
        }
    }

    @Override
    long bytes() {
        return Restoring.bytes(image);
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "session '" + session() + "' was not restored: " + why));
        return true;
    }
}
