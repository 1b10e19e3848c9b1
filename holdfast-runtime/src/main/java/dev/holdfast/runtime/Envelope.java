package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.Delivery;
import dev.holdfast.JournalException;
import dev.holdfast.Message;
import dev.holdfast.MessageId;
import dev.holdfast.SessionName;
import dev.holdfast.core.Header;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Turns what senders say into deliveries, and arrivals back into what the core and the agent are shown. Thread-safe. */
final class Envelope {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private final Surroundings surroundings;

    Envelope(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** What is kept beside a body. */
    record Label(String author, String surface, OptionalLong targetTurn, OptionalLong targetMessage, String note) {}

    Delivery message(SessionName session, ArrivalKind kind, Message message) {
        var label = new Label(
                message.author().name(), message.author().surface(), OptionalLong.empty(), OptionalLong.empty(), "");
        return delivery(session, kind, message.key(), label, message.text());
    }

    Delivery urgent(SessionName session, ArrivalKind kind, Author author, String note) {
        var label = new Label(author.name(), author.surface(), OptionalLong.empty(), OptionalLong.empty(), note);
        return delivery(session, kind, Optional.empty(), label, "");
    }

    private Delivery delivery(SessionName session, ArrivalKind kind, Optional<String> key, Label label, String text) {
        var body = text.getBytes(StandardCharsets.UTF_8);
        return new Delivery(
                session, newId(), kind, key, fingerprint(kind, label, body), JSON.writeValueAsBytes(label), body);
    }

    private MessageId newId() {
        var bytes = ByteBuffer.wrap(surroundings.random(16));
        long high = (bytes.getLong() & 0xffff_ffff_ffff_0fffL) | 0x4000L;
        long low = (bytes.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
        return new MessageId(new UUID(high, low));
    }

    /** What the sender meant: kind, author and payload; not the surface, not the time (IN-12). */
    private static byte[] fingerprint(ArrivalKind kind, Label label, byte[] body) {
        var digest = Digests.sha256();
        digest.update((byte) kind.code());
        digest.update(label.author().getBytes(StandardCharsets.UTF_8));
        digest.update((byte) 0);
        digest.update(body);
        return digest.digest();
    }

    Label label(Arrival arrival) {
        try {
            return JSON.readValue(arrival.header(), Label.class);
        } catch (JacksonException e) {
            throw new JournalException(
                    JournalException.Problem.DAMAGED,
                    "the header of arrival " + arrival.number() + " cannot be read: " + e.getOriginalMessage(),
                    e);
        }
    }

    Header header(Arrival arrival) {
        var label = label(arrival);
        return new Header(
                arrival.number(),
                arrival.id(),
                arrival.kind(),
                arrival.bytes(),
                arrival.boundTurn(),
                arrival.boundAfter(),
                label.targetTurn(),
                label.targetMessage(),
                label.note());
    }

    static String text(Arrival arrival) {
        return new String(arrival.body(), StandardCharsets.UTF_8);
    }
}
