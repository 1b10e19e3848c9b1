package dev.holdfast.journal;

import dev.holdfast.SessionName;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What the writes of one transaction have to know besides the rows of their sessions: asked for by each, read for all
 * of them at once, after the rows are locked.
 */
final class PostgresLookups {
    static final String BY_KEY = "SELECT a.sid, a.no, a.message_id, a.kind, a.urgent, a.key_hash, a.fingerprint,"
            + " a.accepted_at, a.bound_turn, a.bound_after, a.header, a.bytes, a.body_crc, a.body_digest, a.crc, s.name"
            + " FROM unnest(?, ?) AS k(sid, key_hash)"
            + " JOIN arrival a ON a.sid = k.sid AND a.key_hash = k.key_hash JOIN session s ON s.sid = a.sid";

    private static final String URGENT = "SELECT k.sid, k.after, (SELECT max(a.no) FROM arrival a"
            + " WHERE a.sid = k.sid AND a.urgent = 1 AND a.no > k.after) FROM unnest(?, ?) AS k(sid, after)";

    private static final String ARRIVED = "SELECT a.sid, a.no, a.message_id FROM unnest(?, ?) AS k(sid, no)"
            + " JOIN arrival a ON a.sid = k.sid AND a.no = k.no";

    private static final String HAPPENED = "SELECT e.sid, e.seq, e.epoch FROM unnest(?, ?) AS k(sid, seq)"
            + " JOIN journal e ON e.sid = k.sid AND e.seq = k.seq";

    private static final String BY_TOKEN = "SELECT a.token, a.sid, a.claimed_no, a.accepts, a.once, a.released_no,"
            + " a.crc, s.name FROM address a JOIN session s ON s.sid = a.sid WHERE a.token = ANY (?)";

    private static final String CLAIMED = "SELECT " + AddressRow.COLUMNS
            + " FROM address WHERE sid = ANY (?) AND released_no IS NULL ORDER BY sid, claimed_no";

    private static final String LAST_CLAIM =
            "SELECT k.sid, (SELECT max(a.claimed_no) FROM address a" + " WHERE a.sid = k.sid) FROM unnest(?) AS k(sid)";

    private static final String NODES =
            "SELECT node, incarnation, lease_until - " + PostgresSql.SERVER_NOW + " FROM node WHERE node = ANY (?)";

    /** A row of a session, by its number. */
    private record Place(long sid, long number) {}

    /** A sender's key in a session. */
    private record Key(long sid, Digest hash) {}

    /**
     * A node's registration.
     *
     * @param leaseMicros what is left of its lease; not positive when it is over
     */
    record NodeRow(String node, long incarnation, long leaseMicros) {
        boolean alive() {
            return leaseMicros > 0;
        }
    }

    private final Map<Key, Optional<ArrivalRow>> keys = new HashMap<>();
    private final Map<Place, OptionalLong> urgent = new HashMap<>();
    private final Map<Place, Optional<UUID>> arrived = new HashMap<>();
    private final Map<Place, OptionalLong> happened = new HashMap<>();
    private final Set<String> tokensAsked = new HashSet<>();
    private final Set<Long> addressesAsked = new HashSet<>();
    private final Map<String, AddressRow> addresses = new HashMap<>();
    private final Map<Long, SessionName> owners = new HashMap<>();
    private final Map<Long, SortedMap<Long, AddressRow>> claimed = new HashMap<>();
    private final Map<Long, Long> lastClaims = new HashMap<>();
    private final Set<String> nodesAsked = new HashSet<>();
    private final Map<String, NodeRow> nodes = new HashMap<>();

    void askKey(long sid, byte[] hash) {
        keys.put(new Key(sid, new Digest(hash)), Optional.empty());
    }

    /** What was accepted with the key, in an earlier commit or in this one. */
    Optional<ArrivalRow> byKey(long sid, byte[] hash) {
        return keys.getOrDefault(new Key(sid, new Digest(hash)), Optional.empty());
    }

    /** Says that the key is used in this transaction. */
    void used(ArrivalRow row, byte[] hash) {
        keys.put(new Key(row.sid(), new Digest(hash)), Optional.of(row));
    }

    void askUrgent(long sid, long after) {
        urgent.put(new Place(sid, after), OptionalLong.empty());
    }

    /** The last urgent arrival above a number, of earlier commits. */
    OptionalLong urgent(long sid, long after) {
        return urgent.getOrDefault(new Place(sid, after), OptionalLong.empty());
    }

    void askArrived(long sid, long number) {
        arrived.put(new Place(sid, number), Optional.empty());
    }

    /** The identity of the message with that number. */
    Optional<UUID> arrived(long sid, long number) {
        return arrived.getOrDefault(new Place(sid, number), Optional.empty());
    }

    void askHappened(long sid, long seq) {
        happened.put(new Place(sid, seq), OptionalLong.empty());
    }

    /** The epoch of the event with that number. */
    OptionalLong happened(long sid, long seq) {
        return happened.getOrDefault(new Place(sid, seq), OptionalLong.empty());
    }

    void askAddress(String token) {
        tokensAsked.add(token);
    }

    /** The address, claimed or released. */
    Optional<AddressRow> address(String token) {
        return Optional.ofNullable(addresses.get(token));
    }

    /** The session an address found here belongs to. */
    SessionName ownerOf(AddressRow row) {
        SessionName owner = owners.get(row.sid());
        if (owner == null) {
            throw new IllegalStateException("the owner of an address was not read");
        }
        return owner;
    }

    void askAddresses(long sid) {
        addressesAsked.add(sid);
    }

    /** The addresses a session has now, in claim order. */
    List<AddressRow> claimed(long sid) {
        return List.copyOf(
                claimed.getOrDefault(sid, Collections.emptySortedMap()).values());
    }

    /** The place of the session's last claim; 0 before the first. */
    long lastClaim(long sid) {
        return lastClaims.getOrDefault(sid, 0L);
    }

    /** Says that an address is now as given, in this transaction. */
    void put(AddressRow row, SessionName owner) {
        addresses.put(row.token(), row);
        owners.put(row.sid(), owner);
        lastClaims.merge(row.sid(), row.claimedNo(), Math::max);
        if (row.claimed()) {
            claimed.computeIfAbsent(row.sid(), sid -> new TreeMap<>()).put(row.claimedNo(), row);
        } else {
            claimed.getOrDefault(row.sid(), new TreeMap<>()).remove(row.claimedNo());
        }
    }

    void askNode(String node) {
        nodesAsked.add(node);
    }

    Optional<NodeRow> node(String node) {
        return Optional.ofNullable(nodes.get(node));
    }

    void read(PostgresSql sql) throws SQLException {
        readKeys(sql);
        readPlaces(sql, URGENT, urgent.keySet(), row -> {
            OptionalLong last = Statements.maybe(row, 3);
            if (last.isPresent()) {
                urgent.put(place(row), last);
            }
        });
        readPlaces(
                sql, ARRIVED, arrived.keySet(), row -> arrived.put(place(row), Optional.of(Uuids.of(row.getBytes(3)))));
        readPlaces(sql, HAPPENED, happened.keySet(), row -> happened.put(place(row), OptionalLong.of(row.getLong(3))));
        readAddresses(sql);
        readNodes(sql);
    }

    private void readKeys(PostgresSql sql) throws SQLException {
        if (keys.isEmpty()) {
            return;
        }
        List<Long> sids = new ArrayList<>();
        List<byte[]> hashes = new ArrayList<>();
        for (Key key : keys.keySet()) {
            sids.add(key.sid);
            hashes.add(key.hash.bytes());
        }
        PreparedStatement select = sql.bind(BY_KEY, sql.numbers(sids), sql.bytes(hashes));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                ArrivalRow first = ArrivalRow.read(row, row.getString(16));
                used(first, row.getBytes(6));
            }
        }
    }

    /** What to do with each row of an answer. */
    private interface Each {
        void row(ResultSet row) throws SQLException;
    }

    private static void readPlaces(PostgresSql sql, String query, Set<Place> places, Each each) throws SQLException {
        if (places.isEmpty()) {
            return;
        }
        List<Long> sids = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (Place place : places) {
            sids.add(place.sid);
            numbers.add(place.number);
        }
        PreparedStatement select = sql.bind(query, sql.numbers(sids), sql.numbers(numbers));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                each.row(row);
            }
        }
    }

    private static Place place(ResultSet row) throws SQLException {
        return new Place(row.getLong(1), row.getLong(2));
    }

    private void readAddresses(PostgresSql sql) throws SQLException {
        if (!tokensAsked.isEmpty()) {
            List<byte[]> tokens = tokensAsked.stream().map(PostgresSql::utf8).toList();
            try (ResultSet row = sql.bind(BY_TOKEN, sql.bytes(tokens)).executeQuery()) {
                while (row.next()) {
                    AddressRow address = AddressRow.read(row);
                    addresses.put(address.token(), address);
                    owners.put(address.sid(), new SessionName(row.getString(8)));
                }
            }
        }
        if (!addressesAsked.isEmpty()) {
            try (ResultSet row = sql.bind(CLAIMED, sql.numbers(addressesAsked)).executeQuery()) {
                while (row.next()) {
                    AddressRow address = AddressRow.read(row);
                    claimed.computeIfAbsent(address.sid(), sid -> new TreeMap<>())
                            .put(address.claimedNo(), address);
                }
            }
            try (ResultSet row =
                    sql.bind(LAST_CLAIM, sql.numbers(addressesAsked)).executeQuery()) {
                while (row.next()) {
                    lastClaims.put(row.getLong(1), row.getLong(2));
                }
            }
        }
    }

    private void readNodes(PostgresSql sql) throws SQLException {
        if (nodesAsked.isEmpty()) {
            return;
        }
        PreparedStatement select = sql.bind(NODES, sql.texts(nodesAsked));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                nodes.put(row.getString(1), new NodeRow(row.getString(1), row.getLong(2), row.getLong(3)));
            }
        }
    }
}
