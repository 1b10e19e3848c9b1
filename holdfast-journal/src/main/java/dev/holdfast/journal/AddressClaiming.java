package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;

/** Claims an address for a session (IN-08). */
final class AddressClaiming extends Write<AddressClaim> {
    static final String COUNT = "SELECT count(*) FROM address WHERE sid = ? AND released_no IS NULL";

    private final SessionName session;
    private final String token;
    private final AddressTerms terms;

    /** @throws IllegalArgumentException when the token is blank or too long */
    AddressClaiming(SessionName session, String token, AddressTerms terms) {
        this.token = new Address(token, session, terms, OptionalLong.empty()).token();
        this.session = session;
        this.terms = terms;
    }

    @Override
    protected AddressClaim apply(WriteStore store) throws SQLException {
        Head head = store.known(session);
        if (head.admission == Head.CLOSED) {
            throw closed(session, head.admissionReason);
        }
        Optional<AddressRow> known = AddressRow.find(store.sql(), token)
                .filter(row -> row.releasedNo().isEmpty());
        if (known.isPresent() && known.get().sid() != head.sid) {
            return new AddressClaim.Owned(token, store.name(known.get().sid()));
        }
        if (known.isEmpty() && count(store.sql(), COUNT, head.sid) >= Address.PER_SESSION_MAX) {
            return new AddressClaim.TooMany(token, Address.PER_SESSION_MAX);
        }
        long place =
                known.isPresent() ? known.get().claimedNo() : count(store.sql(), AddressRow.LAST_CLAIM, head.sid) + 1;
        AddressRow claimed =
                new AddressRow(token, head.sid, place, AddressRow.accepts(terms), terms.once(), OptionalLong.empty());
        if (!known.equals(Optional.of(claimed))) {
            claimed.put(store.sql());
            store.changed();
        }
        return new AddressClaim.Claimed(token);
    }

    static long count(Statements sql, String query, long sid) throws SQLException {
        try (ResultSet row = sql.bind(query, sid).executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    static JournalException closed(SessionName session, String reason) {
        return new JournalException(
                Problem.FAILED,
                "session '" + session + "' is closed for good (" + reason + ") and can claim no address;"
                        + " claim it for an open session");
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "an address of '" + session + "' was not claimed: " + why));
        return true;
    }
}
