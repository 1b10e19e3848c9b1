package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Gives addresses of a session up (IN-10). Answers those given up now, in claim order. */
final class AddressRelease extends Write<List<Address>> {
    private final SessionName session;
    private final Set<String> tokens;

    /** @param tokens an empty list means all */
    AddressRelease(SessionName session, List<String> tokens) {
        this.session = session;
        this.tokens = Set.copyOf(tokens);
    }

    @Override
    protected List<Address> apply(WriteStore store) throws SQLException {
        Head head = store.known(session);
        List<AddressRow> rows = AddressRow.of(store.sql(), AddressRow.CLAIMED, head.sid).stream()
                .filter(row -> tokens.isEmpty() || tokens.contains(row.token()))
                .map(row -> row.released(head.lastArrival))
                .toList();
        List<Address> released = rows.stream().map(row -> row.address(session)).toList();
        for (AddressRow row : rows) {
            row.put(store.sql());
            store.changed();
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
