package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.Arrival;
import dev.holdfast.Batch;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;

/** Stores a session as it was in another store, whole or not at all (MB-22). Answers whether the name was free. */
final class Restoring extends Write<Boolean> {
    private final SessionImage image;

    /** @throws JournalException DAMAGED when the image is not whole */
    Restoring(SessionImage image) {
        ImageCheck.check(image);
        this.image = image;
    }

    @Override
    protected Boolean apply(WriteStore store) throws SQLException {
        if (store.find(image.name()) != null) {
            return false;
        }
        addressesAreFree(store);
        Head head = store.create(image.name(), image.limits());
        fill(image, head, store.now());
        writeHead(store.sql(), head);
        for (StoredArrival stored : image.arrivals()) {
            row(head.sid, stored).insert(store.sql(), stored.arrival().body());
        }
        for (StoredEvent event : image.events()) {
            EventRow.insert(store.sql(), head.sid, event.seq(), event.epoch(), Micros.of(event.at()), event.event());
        }
        writeAddresses(store.sql(), head);
        if (head.readyAt.isPresent()) {
            store.arrived(image.name());
        }
        return true;
    }

    private void addressesAreFree(WriteStore store) throws SQLException {
        for (Address address : image.addresses()) {
            Optional<AddressRow> known = claimed(store.sql(), address);
            if (address.releasedThrough().isEmpty() && known.isPresent()) {
                throw addressTaken(image.name(), store.name(known.get().sid()));
            }
        }
    }

    static JournalException addressTaken(SessionName session, SessionName owner) {
        return new JournalException(
                Problem.FAILED,
                "session '" + session + "' was not restored: an address it has is claimed here by session '" + owner
                        + "'; release it there first");
    }

    private static Optional<AddressRow> claimed(Statements sql, Address address) throws SQLException {
        return AddressRow.find(sql, address.token())
                .filter(row -> row.releasedNo().isEmpty());
    }

    /** Makes a new session's head what it was in the other store. */
    static void fill(SessionImage image, Head head, long now) {
        SessionImage.Head was = image.head();
        boolean closed = was.summary().phase().equals(BatchRules.CLOSED_PHASE);
        int shut = closed ? Head.CLOSED : Head.NOT_NOW;
        head.admission = image.admitting() ? Head.OPEN : shut;
        head.admissionReason = image.admissionReason();
        head.lastArrival = image.arrivals().size();
        head.lastUrgent = image.arrivals().stream()
                .map(StoredArrival::arrival)
                .filter(arrival -> arrival.kind().urgent())
                .mapToLong(Arrival::number)
                .max()
                .orElse(0);
        head.ordinary = ImageCheck.counted(image);
        head.ordinaryBytes = ImageCheck.countedBytes(image);
        head.sessionChanged = true;
        if (ImageCheck.ready(image)) {
            head.ready(OptionalLong.of(now));
        }
        head.epoch = was.epoch();
        head.seq = was.seq();
        head.takenThrough = was.takenThrough();
        head.ordinaryDone = was.ordinaryDone();
        head.ordinaryDoneBytes = was.ordinaryDoneBytes();
        head.dueAt = was.dueAt().map(at -> OptionalLong.of(Micros.up(at))).orElse(OptionalLong.empty());
        head.openTurn = was.openTurn();
        head.phase = was.summary().phase();
    }

    private void writeHead(Statements sql, Head head) throws SQLException {
        Batch.Summary summary = image.head().summary();
        sql.bind(
                        "UPDATE journal_head SET epoch = ?, seq = ?, taken_through = ?, ordinary_done = ?,"
                                + " ordinary_done_bytes = ?, due_at = ?, open_turn = ?, phase = ?, phase_reason = ?,"
                                + " turn_since = ?, cost_micros = ?, last_words = ? WHERE sid = ?",
                        head.epoch,
                        head.seq,
                        head.takenThrough,
                        head.ordinaryDone,
                        head.ordinaryDoneBytes,
                        head.dueAt,
                        head.openTurn,
                        summary.phase(),
                        summary.phaseReason(),
                        summary.turnSince().map(Micros::of).orElse(null),
                        summary.costMicros(),
                        summary.lastWords(),
                        head.sid)
                .executeUpdate();
    }

    static ArrivalRow row(long sid, StoredArrival stored) {
        Arrival arrival = stored.arrival();
        byte[] body = arrival.body();
        return new ArrivalRow(
                sid,
                arrival.number(),
                Uuids.bytes(arrival.id().value()),
                arrival.kind().code(),
                arrival.kind().urgent() ? 1 : 0,
                stored.keyHash().orElse(null),
                stored.fingerprint(),
                Micros.of(arrival.acceptedAt()),
                arrival.boundTurn(),
                arrival.boundAfter(),
                arrival.header(),
                body.length,
                RowCrc.of(body),
                ArrivalRow.bodyDigest(body));
    }

    /** An address that the session had given up stays with whoever claimed it here since. */
    private void writeAddresses(Statements sql, Head head) throws SQLException {
        long place = 0;
        for (Address address : image.addresses()) {
            place++;
            if (claimed(sql, address).isEmpty()) {
                row(head.sid, place, address).put(sql);
            }
        }
    }

    static AddressRow row(long sid, long place, Address address) {
        return new AddressRow(
                address.token(),
                sid,
                place,
                AddressRow.accepts(address.terms()),
                address.terms().once(),
                address.releasedThrough());
    }

    @Override
    long bytes() {
        return bytes(image);
    }

    /** Bytes of payload. */
    static long bytes(SessionImage image) {
        long arrivals = image.arrivals().stream()
                .mapToLong(stored -> stored.arrival().bytes())
                .sum();
        return arrivals
                + image.events().stream()
                        .mapToLong(event -> event.event().body().length)
                        .sum();
    }

    @Override
    boolean turnAway(String why) {
        fail(new JournalException(Problem.FAILED, "session '" + image.name() + "' was not restored: " + why));
        return true;
    }
}
