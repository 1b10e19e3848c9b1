package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Claims an address for a session (IN-08), under the lock of the session and that of the token. */
final class PostgresAddressClaiming extends PostgresWrite<AddressClaim> {
    private final String token;
    private final AddressTerms terms;

    /** @throws IllegalArgumentException when the token is blank or too long */
    PostgresAddressClaiming(SessionName session, String token, AddressTerms terms) {
        super(session);
        this.token = new Address(token, session, terms, OptionalLong.empty()).token();
        this.terms = terms;
    }

    @Override
    Rows rows() {
        return Rows.SESSION;
    }

    @Override
    Set<String> tokens() {
        return Set.of(token);
    }

    @Override
    void ask(PostgresLookups lookups, PostgresSession at) {
        lookups.askAddress(token);
        lookups.askAddresses(at.sid());
    }

    @Override
    protected AddressClaim apply(PostgresTransaction store, @Nullable PostgresSession found) throws SQLException {
        PostgresSession at = PostgresTransaction.known(session(), found);
        if (at.head.admission == Head.CLOSED) {
            throw AddressClaiming.closed(session(), at.head.admissionReason);
        }
        Optional<AddressRow> known = store.found().address(token).filter(AddressRow::claimed);
        if (known.isPresent() && known.get().sid() != at.sid()) {
            return new AddressClaim.Owned(token, store.found().ownerOf(known.get()));
        }
        if (known.isEmpty() && store.found().claimed(at.sid()).size() >= Address.PER_SESSION_MAX) {
            return new AddressClaim.TooMany(token, Address.PER_SESSION_MAX);
        }
        long place = known.isPresent() ? known.get().claimedNo() : store.found().lastClaim(at.sid()) + 1;
        AddressRow row =
                new AddressRow(token, at.sid(), place, AddressRow.accepts(terms), terms.once(), OptionalLong.empty());
        if (!known.equals(Optional.of(row))) {
            store.put(row, session());
        }
        return new AddressClaim.Claimed(token);
    }

    @Override
    long bytes() {
        return 0;
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "an address of '" + session() + "' was not claimed: " + why));
        return true;
    }
}
