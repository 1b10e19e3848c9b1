package dev.holdfast.testkit;

import dev.holdfast.Address;
import dev.holdfast.Batch;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes a session out of a simulated store as a whole, and makes one of an image (MB-22). */
final class SimulatedMove {
    private SimulatedMove() {}

    static SessionImage image(SimulatedSession session, List<Address> addresses) {
        var hashes = new HashMap<Long, byte[]>();
        session.keys.forEach(
                (hex, arrival) -> hashes.put(arrival.number(), HexFormat.of().parseHex(hex)));
        var arrivals = session.arrivals.stream()
                .map(a -> new StoredArrival(
                        a, Optional.ofNullable(hashes.get(a.number())), fingerprint(session, a.number())))
                .toList();
        return new SessionImage(
                session.name,
                session.limits,
                session.admission.open(),
                session.admission.reason(),
                arrivals,
                session.events,
                new SessionImage.Head(
                        session.epoch,
                        session.events.size(),
                        session.takenThrough,
                        session.ordinaryDone,
                        session.ordinaryDoneBytes,
                        session.due,
                        session.openTurn,
                        session.readyAt.isPresent(),
                        session.summary),
                addresses);
    }

    private static byte[] fingerprint(SimulatedSession session, long number) {
        return session.fingerprints.getOrDefault(number, new byte[0]);
    }

    /** @throws JournalException DAMAGED when the image is not whole */
    static SimulatedSession session(SessionImage image, Instant now) {
        var session = new SimulatedSession(image.name(), image.limits());
        for (StoredArrival stored : image.arrivals()) {
            var arrival = stored.arrival();
            var key = stored.keyHash().map(HexFormat.of()::formatHex);
            require(key.filter(session.keys::containsKey).isEmpty(), image, "two arrivals have the same key");
            session.add(arrival, key, stored.fingerprint());
            require(arrival.number() == session.arrivals.size(), image, "an arrival is missing");
            require(arrival.bytes() == arrival.body().length, image, "a body is not complete");
        }
        session.events.addAll(image.events());
        session.admission = new Batch.Admission(image.admitting(), image.admissionReason());
        var head = image.head();
        session.epoch = head.epoch();
        session.takenThrough = head.takenThrough();
        session.ordinaryDone = head.ordinaryDone();
        session.ordinaryDoneBytes = head.ordinaryDoneBytes();
        session.due = head.dueAt();
        session.openTurn = head.openTurn();
        session.summary = head.summary();
        check(image, session);
        if (head.ready() || head.takenThrough() < session.arrivals.size() || session.unread() > 0) {
            session.readyAt = Optional.of(now);
        }
        return session;
    }

    private static void check(SessionImage image, SimulatedSession session) {
        long epoch = 1;
        for (int i = 0; i < image.events().size(); i++) {
            var event = image.events().get(i);
            require(event.seq() == i + 1, image, "an event is missing");
            require(event.epoch() >= epoch && event.epoch() <= session.epoch, image, "an epoch does not fit");
            epoch = event.epoch();
        }
        var head = image.head();
        long last = session.arrivals.size();
        require(head.seq() == image.events().size(), image, "the head is not at the last event");
        require(head.takenThrough() >= 0 && head.takenThrough() <= last, image, "more is taken than there is");
        require(head.ordinaryDone() >= 0 && session.unread() >= 0, image, "more is done than there is");
        require(
                head.ordinaryDoneBytes() >= 0 && head.ordinaryDoneBytes() <= session.ordinaryBytes,
                image,
                "more bytes are done than there are");
        var tokens = new HashSet<String>();
        for (Address address : image.addresses()) {
            require(tokens.add(address.token()), image, "an address is there twice");
            require(address.session().equals(image.name()), image, "an address is another session's");
            require(address.releasedThrough().orElse(0) <= last, image, "an address was released too late");
        }
    }

    private static void require(boolean holds, SessionImage image, String otherwise) {
        if (!holds) {
            throw new JournalException(
                    Problem.DAMAGED,
                    "the image of session '" + image.name() + "' is not whole and was not stored: " + otherwise);
        }
    }

    /** The addresses that the session brings along; one that it had given up may have another owner by now. */
    static List<Address> addresses(SessionImage image, Map<String, Address> known) {
        var brought = new ArrayList<Address>();
        for (Address address : image.addresses()) {
            var owner = Optional.ofNullable(known.get(address.token()))
                    .filter(a -> a.releasedThrough().isEmpty());
            if (owner.isPresent() && address.releasedThrough().isEmpty()) {
                throw new JournalException(
                        Problem.FAILED,
                        "session '" + image.name() + "' was not restored: an address it has is claimed by session '"
                                + owner.get().session() + "'");
            }
            if (owner.isEmpty()) {
                brought.add(address);
            }
        }
        return brought;
    }
}
