package dev.holdfast.journal;

import dev.holdfast.Address;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionImage.StoredArrival;
import dev.holdfast.StoredEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether an image is a whole session: nothing missing, nothing twice, and the head fits what it counts (MB-22). */
final class ImageCheck {
    private final SessionImage image;

    private ImageCheck(SessionImage image) {
        this.image = image;
    }

    /** @throws JournalException DAMAGED, naming the first thing that is wrong */
    static void check(SessionImage image) {
        ImageCheck check = new ImageCheck(image);
        check.arrivals();
        check.events();
        check.head();
        check.addresses();
    }

    private void arrivals() {
        Map<String, Long> keys = new HashMap<>();
        for (int i = 0; i < image.arrivals().size(); i++) {
            StoredArrival stored = image.arrivals().get(i);
            long number = stored.arrival().number();
            require(number == i + 1, "arrival " + (i + 1) + " is missing, in its place stands number " + number);
            require(
                    stored.arrival().bytes() == stored.arrival().body().length,
                    "arrival " + number + " has " + stored.arrival().body().length + " of its "
                            + stored.arrival().bytes() + " bytes");
            require(
                    stored.arrival().header().length <= Offer.HEADER_BYTES,
                    "the header of arrival " + number + " is longer than " + Offer.HEADER_BYTES + " bytes");
            stored.keyHash().ifPresent(hash -> {
                Long first = keys.put(HexFormat.of().formatHex(hash), number);
                require(first == null, "arrivals " + first + " and " + number + " have the same key");
            });
        }
    }

    private void events() {
        long epoch = 1;
        for (int i = 0; i < image.events().size(); i++) {
            StoredEvent event = image.events().get(i);
            require(
                    event.seq() == i + 1,
                    "event " + (i + 1) + " is missing, in its place stands number " + event.seq());
            require(
                    event.epoch() >= epoch && event.epoch() <= image.head().epoch(),
                    "event " + event.seq() + " is of epoch " + event.epoch() + " and must be of one from " + epoch
                            + ", that of the event before, to " + image.head().epoch() + ", that of the head");
            epoch = event.epoch();
        }
    }

    private void head() {
        SessionImage.Head head = image.head();
        long last = image.arrivals().size();
        require(head.epoch() >= 0, "its epoch is " + head.epoch());
        require(
                head.seq() == image.events().size(),
                "its head is at event " + head.seq() + " and it has "
                        + image.events().size());
        require(
                head.takenThrough() >= 0 && head.takenThrough() <= last,
                "arrivals are taken through " + head.takenThrough() + " and it has " + last);
        long counted = counted(image);
        require(
                head.ordinaryDone() >= 0 && head.ordinaryDone() <= counted,
                head.ordinaryDone() + " ordinary arrivals are done and it has " + counted);
        long bytes = countedBytes(image);
        require(
                head.ordinaryDoneBytes() >= 0 && head.ordinaryDoneBytes() <= bytes,
                head.ordinaryDoneBytes() + " bytes of ordinary arrivals are done and it has " + bytes);
    }

    private void addresses() {
        Set<String> tokens = new HashSet<>();
        List<Address> addresses = image.addresses();
        for (Address address : addresses) {
            require(
                    address.session().equals(image.name()),
                    "one of its addresses belongs to session '" + address.session() + "'");
            require(tokens.add(address.token()), "one of its addresses is there twice");
            long through = address.releasedThrough().orElse(0);
            require(
                    through >= 0 && through <= image.arrivals().size(),
                    "one of its addresses was released after arrival " + through);
        }
        long claimed =
                addresses.stream().filter(a -> a.releasedThrough().isEmpty()).count();
        require(
                claimed <= Address.PER_SESSION_MAX,
                claimed + " addresses are claimed; at most " + Address.PER_SESSION_MAX + " may be");
    }

    static long counted(SessionImage image) {
        return image.arrivals().stream()
                .filter(stored -> stored.arrival().kind().counted())
                .count();
    }

    static long countedBytes(SessionImage image) {
        return image.arrivals().stream()
                .filter(stored -> stored.arrival().kind().counted())
                .mapToLong(stored -> stored.arrival().bytes())
                .sum();
    }

    /** Whether the sweeper has to find the session: something is unread, or was not finished (IN-21). */
    static boolean ready(SessionImage image) {
        return image.head().ready()
                || image.head().takenThrough() < image.arrivals().size()
                || image.head().ordinaryDone() < counted(image);
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new JournalException(
                    Problem.DAMAGED,
                    "the image of session '" + image.name() + "' is not whole and was not stored: " + otherwise
                            + "; make it again");
        }
    }
}
