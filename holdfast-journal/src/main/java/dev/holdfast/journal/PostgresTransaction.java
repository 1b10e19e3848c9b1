package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One transaction over many writes: rows are locked, what is needed is read, each write is applied in memory, and what
 * changed is sent, each step in one statement for all of them. Used by one thread, once.
 *
 * <p><b>Locks</b> are always taken in this order: {@code session} rows by number, {@code journal_head} rows by
 * number, names that are made, tokens that are claimed. Within a batch nothing is waited for: what somebody else
 * holds is passed over, and so no two transactions can wait for each other.
 */
final class PostgresTransaction {
    private static final String INSERT_SESSIONS = "INSERT INTO session(name, admission, admission_reason, unread_limit,"
            + " unread_bytes_limit, last_arrival, ordinary, ordinary_bytes)"
            + " SELECT n, 0, '', m, b, 0, 0, 0 FROM unnest(?, ?, ?) AS given(n, m, b)"
            + " RETURNING sid, name, unread_limit, unread_bytes_limit";

    private static final String INSERT_HEADS = "INSERT INTO journal_head(sid, epoch, node, seq, batch_id,"
            + " taken_through, ordinary_done, ordinary_done_bytes, phase, phase_reason, last_words)"
            + " SELECT sid, 0, '', 0, ?, 0, 0, 0, ?, '', '' FROM unnest(?) AS given(sid)";

    private final PostgresSql sql;
    private final String schema;
    private final boolean waits;
    private final long now;

    private final Map<SessionName, PostgresSession> sessions = new HashMap<>();
    private final Set<SessionName> absent = new HashSet<>();
    private final Set<SessionName> made = new HashSet<>();
    private final Set<SessionName> arrivedAt = new LinkedHashSet<>();
    private final PostgresLookups found = new PostgresLookups();
    private final PostgresLocks tokenLocks;
    private final PostgresRows rows;

    /** @param waits whether rows that somebody else holds are waited for; else they are passed over */
    PostgresTransaction(PostgresSql sql, String schema, Instant now, boolean waits) {
        this.sql = sql;
        this.schema = schema;
        this.waits = waits;
        this.now = Micros.of(now);
        this.tokenLocks = new PostgresLocks(sql, schema, "address");
        this.rows = new PostgresRows(sql);
    }

    /** Time of this transaction, in microseconds of the host's clock. */
    long now() {
        return now;
    }

    PostgresLookups found() {
        return found;
    }

    /** Takes what is to be inserted. */
    PostgresRows rows() {
        return rows;
    }

    PostgresSql sql() {
        return sql;
    }

    /** Whether this transaction made the session for those who only open it; true once, for the first of them. */
    boolean takeMade(SessionName session) {
        return made.remove(session);
    }

    /** Writes an address of the session that owns it. */
    void put(AddressRow row, SessionName owner) {
        rows.address(row);
        found.put(row, owner);
    }

    /** Makes a session that is not there and whose name is locked. */
    PostgresSession make(SessionName name, SessionLimits limits) throws SQLException {
        insert(Map.of(name, limits));
        PostgresSession session = sessions.get(name);
        if (session == null) {
            throw new IllegalStateException("session '" + name + "' was made and is not there");
        }
        return session;
    }

    /** Says that the session got an arrival. */
    void arrived(SessionName session) {
        arrivedAt.add(session);
    }

    /** Sessions with arrivals in this transaction. */
    Set<SessionName> arrivedAt() {
        return arrivedAt;
    }

    /**
     * Applies the writes and sends what changed; the commit is left to the caller.
     *
     * @return those passed over, in their order: somebody else holds rows of their sessions
     */
    List<PostgresWrite<?>> apply(List<PostgresWrite<?>> batch) throws SQLException {
        lock(batch);
        for (PostgresWrite<?> write : batch) {
            write.ask(found);
            PostgresSession at = sessions.get(write.session());
            if (at != null) {
                write.ask(found, at);
            }
        }
        found.read(sql);
        List<PostgresWrite<?>> passedOver = new ArrayList<>();
        Set<SessionName> held = new HashSet<>();
        for (PostgresWrite<?> write : batch) {
            if (held.contains(write.session()) || !ready(write)) {
                held.add(write.session());
                passedOver.add(write);
            } else {
                write.attempt(this, sessions.get(write.session()));
            }
        }
        send();
        return passedOver;
    }

    private boolean ready(PostgresWrite<?> write) {
        PostgresSession at = sessions.get(write.session());
        if (at == null) {
            return absent.contains(write.session());
        }
        PostgresWrite.Rows needed = write.rows();
        return write.tokens().stream().allMatch(tokenLocks::has)
                && (at.sessionLocked || !needed.session)
                && (at.headLocked || !needed.head)
                && write.enough(at);
    }

    private void lock(List<PostgresWrite<?>> batch) throws SQLException {
        Set<String> all = new LinkedHashSet<>();
        Set<String> senders = new LinkedHashSet<>();
        Set<String> owners = new LinkedHashSet<>();
        Map<SessionName, Optional<SessionLimits>> makers = new TreeMap<>();
        Set<String> tokens = new HashSet<>();
        for (PostgresWrite<?> write : batch) {
            String name = write.session().value();
            all.add(name);
            if (write.rows().session) {
                senders.add(name);
            }
            if (write.rows().head) {
                owners.add(name);
            }
            if (write.makes()) {
                makers.merge(write.session(), write.limits(), (first, second) -> first.or(() -> second));
            }
            tokens.addAll(write.tokens());
        }
        if (!senders.isEmpty()) {
            lockSessions(senders);
        }
        if (!owners.isEmpty()) {
            lockHeads(owners);
        }
        Set<String> missing = new LinkedHashSet<>(all);
        sessions.keySet().forEach(name -> missing.remove(name.value()));
        if (!missing.isEmpty()) {
            look(missing);
        }
        makers.keySet().retainAll(absent);
        if (!makers.isEmpty()) {
            make(makers);
        }
        tokens.forEach(tokenLocks::want);
        tokenLocks.take(waits);
    }

    private String suffix(String table) {
        return " FOR UPDATE OF " + table + (waits ? "" : " SKIP LOCKED");
    }

    private void lockSessions(Collection<String> names) throws SQLException {
        PreparedStatement select = sql.bind("SELECT " + PostgresSession.COLUMNS + suffix("s"), sql.texts(names));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                PostgresSession session = PostgresSession.read(row);
                session.sessionLocked = true;
                sessions.put(session.name, session);
            }
        }
    }

    /** What was read of a session whose sender's row is locked stays, but for its head: that may have moved. */
    private void lockHeads(Collection<String> names) throws SQLException {
        PreparedStatement select = sql.bind("SELECT " + PostgresSession.COLUMNS + suffix("h"), sql.texts(names));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                PostgresSession session = PostgresSession.read(row);
                PostgresSession known = sessions.putIfAbsent(session.name, session);
                if (known != null) {
                    known.readHead(row);
                    session = known;
                }
                session.headLocked = true;
            }
        }
    }

    /** Tells sessions that are not there from those whose rows are locked, or need not be. */
    private void look(Collection<String> names) throws SQLException {
        names.forEach(name -> absent.add(new SessionName(name)));
        PreparedStatement select = sql.bind("SELECT " + PostgresSession.COLUMNS, sql.texts(names));
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                PostgresSession session = PostgresSession.read(row);
                absent.remove(session.name);
                sessions.put(session.name, session);
            }
        }
    }

    /**
     * Makes sessions that are not there (IN-16). The advisory lock on a name is held to the commit by whoever makes it:
     * two makers never wait for each other inside of an index, and the second finds the session made.
     *
     * @param wanted those to be made now, and others of which only the name is locked
     */
    private void make(Map<SessionName, Optional<SessionLimits>> wanted) throws SQLException {
        PostgresLocks locks = new PostgresLocks(sql, schema, "session");
        wanted.keySet().forEach(name -> locks.want(name.value()));
        locks.take(waits);
        Set<String> mine = new LinkedHashSet<>();
        for (SessionName name : wanted.keySet()) {
            if (locks.has(name.value())) {
                mine.add(name.value());
            } else {
                absent.remove(name);
            }
        }
        if (!mine.isEmpty()) {
            look(mine);
        }
        Map<SessionName, SessionLimits> now = new LinkedHashMap<>();
        wanted.forEach((name, limits) ->
                limits.filter(given -> absent.contains(name)).ifPresent(given -> now.put(name, given)));
        if (!now.isEmpty()) {
            insert(now);
            made.addAll(now.keySet());
        }
    }

    private void insert(Map<SessionName, SessionLimits> fresh) throws SQLException {
        List<String> names = new ArrayList<>();
        List<Long> messages = new ArrayList<>();
        List<Long> bytes = new ArrayList<>();
        fresh.forEach((name, limits) -> {
            names.add(name.value());
            messages.add(limits.unreadMessages());
            bytes.add(limits.unreadBytes());
        });
        List<Long> numbers = new ArrayList<>();
        PreparedStatement insert =
                sql.bind(INSERT_SESSIONS, sql.texts(names), sql.numbers(messages), sql.numbers(bytes));
        try (ResultSet row = insert.executeQuery()) {
            while (row.next()) {
                PostgresSession session = PostgresSession.made(
                        row.getLong(1),
                        new SessionName(row.getString(2)),
                        new SessionLimits(row.getLong(3), row.getLong(4)));
                numbers.add(session.sid());
                sessions.put(session.name, session);
                absent.remove(session.name);
            }
        }
        Head empty = new Head(0, "", 0, 0);
        sql.bind(INSERT_HEADS, Uuids.bytes(empty.batchId), PostgresSql.utf8(empty.phase), sql.numbers(numbers))
                .executeUpdate();
    }

    private void send() throws SQLException {
        rows.sendAll();
        for (PostgresSession session : sessions.values()) {
            if ((session.head.sessionChanged && !session.sessionLocked)
                    || (session.headChanged && !session.headLocked)) {
                throw new IllegalStateException("a row of session '" + session.name + "' changed without its lock");
            }
        }
        PostgresSession.update(sql, sessions.values());
    }

    /** The session, or the error that there is none. */
    static PostgresSession known(SessionName name, @Nullable PostgresSession at) {
        if (at == null || at.head.admission == Head.DELETED) {
            throw Taking.unknown(name);
        }
        return at;
    }

    static JournalException failed(String message) {
        return new JournalException(Problem.FAILED, message);
    }
}
