package dev.holdfast.runtime;

import dev.holdfast.Address;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalException;
import dev.holdfast.SessionImage;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A session as a document (MB-22): a line that names format, version, length and SHA-256, then the session as JSON. One that
 * is damaged, cut or newer is refused whole.
 */
final class SessionDocument {
    static final int VERSION = 1;
    private static final String FORMAT = "holdfast session";
    private static final int HEADER_MAX = 1_000;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private SessionDocument() {}

    /** The first line. */
    record Heading(String format, int version, long bytes, String sha256) {}

    static byte[] write(SessionImage image) {
        var body = JSON.writeValueAsBytes(image);
        var heading = JSON.writeValueAsBytes(new Heading(FORMAT, VERSION, body.length, Digests.sha256(body)));
        var document = new ByteArrayOutputStream(heading.length + body.length + 1);
        document.writeBytes(heading);
        document.write('\n');
        document.writeBytes(body);
        return document.toByteArray();
    }

    /** The session of a document, under another name; refused as {@link #read(byte[])} refuses. */
    static SessionImage read(byte[] document, SessionName name) {
        return named(read(document), name);
    }

    /**
     * The session of a document.
     *
     * @throws HoldfastException when it is no such document, damaged, or of a newer version
     */
    static SessionImage read(byte[] document) {
        int end = headingEnd(document);
        var heading = heading(Arrays.copyOf(document, end));
        if (heading.version() > VERSION) {
            throw refused("it has version " + heading.version() + " and this program reads up to " + VERSION
                    + ": use a newer one");
        }
        var body = Arrays.copyOfRange(document, end + 1, document.length);
        if (body.length != heading.bytes()) {
            throw refused("it holds " + body.length + " bytes after its heading, which says " + heading.bytes()
                    + ": it was cut or joined with something");
        }
        if (!Digests.sha256(body).equals(heading.sha256())) {
            throw refused("its checksum is not the one its heading names: it was changed or damaged");
        }
        try {
            return JSON.readValue(body, SessionImage.class);
        } catch (JacksonException e) {
            throw refused("its contents cannot be read: " + e.getOriginalMessage());
        }
    }

    private static int headingEnd(byte[] document) {
        for (int at = 0; at < Math.min(document.length, HEADER_MAX); at++) {
            if (document[at] == '\n') {
                return at;
            }
        }
        throw refused("it does not begin with the heading of an exported session");
    }

    private static Heading heading(byte[] line) {
        try {
            var heading = JSON.readValue(line, Heading.class);
            if (heading.format().equals(FORMAT) && heading.version() >= 1) {
                return heading;
            }
        } catch (JacksonException e) {
            throw refused("its heading cannot be read: " + new String(line, StandardCharsets.UTF_8));
        }
        throw refused("its heading is of something else: " + new String(line, StandardCharsets.UTF_8));
    }

    private static SessionImage named(SessionImage image, SessionName name) {
        var addresses = image.addresses().stream()
                .map(a -> new Address(a.token(), name, a.terms(), a.releasedThrough()))
                .toList();
        return new SessionImage(
                name,
                image.limits(),
                image.admitting(),
                image.admissionReason(),
                image.arrivals(),
                image.events(),
                image.head(),
                addresses);
    }

    /**
     * Refuses a session that no owner could take up: one with an arrival or an event that cannot be read, with events that
     * do not follow from one another, or with a head that says something else than they do.
     *
     * @throws HoldfastException naming the first thing that is wrong
     */
    static void check(SessionImage image, Core core, EventCodec codec, Envelope envelope) {
        var state = Durable.empty();
        String at = "it";
        try {
            for (SessionImage.StoredArrival stored : image.arrivals()) {
                at = "arrival " + stored.arrival().number();
                envelope.header(stored.arrival());
            }
            for (StoredEvent event : image.events()) {
                at = "event " + event.seq();
                state = core.apply(state, codec.decode(event));
            }
        } catch (JournalException e) {
            throw refused(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) { // whatever an event says that fits nothing
            throw refused(at + " does not follow from those before it: " + e.getMessage());
        }
        if (!image.events().isEmpty()) {
            var head = image.head();
            same("phase", head.summary().phase(), state.phase().name());
            same("open turn", head.openTurn(), state.openTurn());
            same("arrivals done", head.takenThrough(), state.takenThrough());
            same("messages done", head.ordinaryDone(), state.ordinaryDone());
            same("bytes of messages done", head.ordinaryDoneBytes(), state.ordinaryDoneBytes());
        }
    }

    private static void same(String what, Object said, Object folded) {
        if (!said.equals(folded)) {
            throw refused("its head says " + what + " " + said + ", and its events make that " + folded);
        }
    }

    private static HoldfastException refused(String why) {
        return new HoldfastException("the document is not taken in: " + why + ". Nothing was stored");
    }
}
