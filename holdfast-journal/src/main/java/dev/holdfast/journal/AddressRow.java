package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.ArrivalKind;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A row of table {@code address}.
 *
 * @param claimedNo its place in the order of claims of its session
 * @param accepts a bit for the code of each kind it takes
 */
record AddressRow(String token, long sid, long claimedNo, long accepts, boolean once, OptionalLong releasedNo) {
    /** The columns {@link #read} expects, in its order. */
    static final String COLUMNS = "token, sid, claimed_no, accepts, once, released_no, crc";

    static final String BY_TOKEN = "SELECT " + COLUMNS + " FROM address WHERE token = ?";

    /** The claimed ones of a session, in claim order; at most {@link Address#PER_SESSION_MAX}. */
    static final String CLAIMED =
            "SELECT " + COLUMNS + " FROM address WHERE sid = ? AND released_no IS NULL ORDER BY claimed_no";

    /** All that a session has or had and nobody took over, in claim order. */
    static final String OF_SESSION = "SELECT " + COLUMNS + " FROM address WHERE sid = ? ORDER BY claimed_no";

    static final String LAST_CLAIM = "SELECT max(claimed_no) FROM address WHERE sid = ?";

    static long accepts(AddressTerms terms) {
        return terms.accepts().stream().mapToLong(kind -> 1L << kind.code()).reduce(0, (a, b) -> a | b);
    }

    static Optional<AddressRow> find(Statements sql, String token) throws SQLException {
        try (ResultSet row = sql.bind(BY_TOKEN, sql.stored(token)).executeQuery()) {
            return row.next() ? Optional.of(read(row)) : Optional.empty();
        }
    }

    /** Reads what {@code query}, one of this class, gives for a session. */
    static List<AddressRow> of(Statements sql, String query, long sid) throws SQLException {
        PreparedStatement select = sql.bind(query, sid);
        List<AddressRow> rows = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                rows.add(read(row));
            }
        }
        return rows;
    }

    /**
     * Reads the row the cursor stands on.
     *
     * @throws JournalException DAMAGED when the row is not what was written
     */
    static AddressRow read(ResultSet row) throws SQLException {
        AddressRow result = new AddressRow(
                Statements.text(row, 1),
                row.getLong(2),
                row.getLong(3),
                row.getLong(4),
                row.getLong(5) == 1,
                Statements.maybe(row, 6));
        if (result.crc() != row.getLong(7)) {
            throw new JournalException(
                    Problem.DAMAGED,
                    "table address, claim " + result.claimedNo + " of session number " + result.sid
                            + ": its row is not what was written; keep a copy of the store, then restore it"
                            + " from a backup");
        }
        return result;
    }

    long crc() {
        return new RowCrc()
                .add(token)
                .add(sid)
                .add(claimedNo)
                .add(accepts)
                .add(once ? 1 : 0)
                .add(releasedNo)
                .value();
    }

    /** Writes the row; one that was released before is taken over. */
    void put(Statements sql) throws SQLException {
        sql.bind(
                        "INSERT INTO address(" + COLUMNS + ") VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(token) DO UPDATE"
                                + " SET sid = excluded.sid, claimed_no = excluded.claimed_no,"
                                + " accepts = excluded.accepts, once = excluded.once,"
                                + " released_no = excluded.released_no, crc = excluded.crc",
                        token,
                        sid,
                        claimedNo,
                        accepts,
                        once ? 1 : 0,
                        releasedNo,
                        crc())
                .executeUpdate();
    }

    boolean claimed() {
        return releasedNo.isEmpty();
    }

    /** As it is once it was given up. */
    AddressRow released(long lastArrival) {
        return new AddressRow(token, sid, claimedNo, accepts, once, OptionalLong.of(lastArrival));
    }

    boolean takes(ArrivalKind kind) {
        return (accepts & (1L << kind.code())) != 0;
    }

    /** What it takes, for a sender who sent something else. */
    String kinds() {
        return Arrays.stream(ArrivalKind.values())
                .filter(this::takes)
                .map(AddressRow::word)
                .collect(Collectors.joining(", "));
    }

    static String word(ArrivalKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** @throws JournalException NEWER_FORMAT when this version knows none of the kinds it takes */
    Address address(SessionName session) {
        Set<ArrivalKind> kinds = EnumSet.noneOf(ArrivalKind.class);
        Arrays.stream(ArrivalKind.values()).filter(this::takes).forEach(kinds::add);
        if (kinds.isEmpty()) {
            throw new JournalException(
                    Problem.NEWER_FORMAT,
                    "an address of session '" + session + "' takes only kinds that this version does not know");
        }
        return new Address(token, session, new AddressTerms(kinds, once), releasedNo);
    }
}
