package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Gives addresses of a session up (IN-10). Answers those given up now, in claim order. */
final class PostgresReleasing extends PostgresWrite<List<Address>> {
    private final Set<String> tokens;

    /** @param tokens an empty list means all */
    PostgresReleasing(SessionName session, List<String> tokens) {
        super(session);
        this.tokens = Set.copyOf(tokens);
    }

    @Override
    Rows rows() {
        return Rows.SESSION;
    }

    @Override
    void ask(PostgresLookups lookups, PostgresSession at) {
        lookups.askAddresses(at.sid());
        List<Address> before = outcome();
        if (before != null) {
            before.forEach(address -> lookups.askAddress(address.token()));
        }
    }

    /** They were given up together: the first one tells for all. */
    @Override
    protected @Nullable List<Address> found(
            PostgresTransaction store, @Nullable PostgresSession at, List<Address> before) {
        if (at == null || before.isEmpty()) {
            return null;
        }
        Optional<AddressRow> first = store.found().address(before.getFirst().token());
        boolean committed = first.isPresent()
                && first.get().sid() == at.sid()
                && first.get().releasedNo().equals(before.getFirst().releasedThrough());
        return committed ? before : null;
    }

    @Override
    protected List<Address> apply(PostgresTransaction store, @Nullable PostgresSession found) throws SQLException {
        PostgresSession at = PostgresTransaction.known(session(), found);
        List<Address> released = new ArrayList<>();
        for (AddressRow row : store.found().claimed(at.sid())) {
            if (tokens.isEmpty() || tokens.contains(row.token())) {
                AddressRow given = row.released(at.head.lastArrival);
                store.put(given, session());
                released.add(given.address(session()));
            }
        }
        return released;
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        return false;
    }
}
