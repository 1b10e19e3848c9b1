package dev.holdfast.journal;

import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionName;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Takes ownership of a session: the epoch is raised by one (P3). Only a node with a valid lease may, and only a session
 * that no other node with a valid lease owns. Answers the new epoch.
 */
final class PostgresTaking extends PostgresWrite<Long> {
    private final PostgresLease lease;
    private final PostgresLeases leases;

    PostgresTaking(SessionName session, PostgresLease lease, PostgresLeases leases) {
        super(session);
        this.lease = lease;
        this.leases = leases;
    }

    @Override
    Rows rows() {
        return Rows.HEAD;
    }

    @Override
    void ask(PostgresLookups lookups, PostgresSession at) {
        lookups.askNode(lease.node());
        if (!at.node.isEmpty()) {
            lookups.askNode(at.node);
        }
    }

    @Override
    protected Long apply(PostgresTransaction store, @Nullable PostgresSession found) throws SQLException {
        PostgresSession at = PostgresTransaction.known(session(), found);
        boolean alive = store.found()
                .node(lease.node())
                .filter(row -> row.alive() && row.incarnation() == lease.incarnation())
                .isPresent();
        if (!alive || !lease.holds()) {
            lease.lost("the server says that it is over");
            throw PostgresTransaction.failed("session '" + session() + "' was not claimed: the lease of node '"
                    + lease.node() + "' has run out; claim again");
        }
        Optional<PostgresLookups.NodeRow> owner =
                at.node.isEmpty() ? Optional.empty() : store.found().node(at.node);
        if (owner.isPresent() && owner.get().alive() && !leases.ours(owner.get())) {
            throw new JournalException(
                    Problem.OWNED,
                    "session '" + session() + "' is owned by node '" + at.node
                            + "', which is alive: it has to give it back, or its lease to run out (in "
                            + owner.get().leaseMicros() / 1_000 + " ms, if it is not prolonged)");
        }
        at.head.epoch++;
        at.node = lease.node();
        at.headChanged = true;
        return at.head.epoch;
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
