package dev.holdfast.bench;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Delivery;
import dev.holdfast.MessageId;
import dev.holdfast.SessionName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The messages of the journal's benchmark: 200 bytes of text, 100 of header, each with a key of its own. */
final class Sends {
    private static final byte[] BODY = "x".repeat(200).getBytes(StandardCharsets.UTF_8);
    private static final byte[] HEADER = "h".repeat(100).getBytes(StandardCharsets.UTF_8);

    private Sends() {}

    @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
    record Send(SessionName session, UUID id, String key, byte[] keyHash, byte[] fingerprint) {
        byte[] body() {
            return BODY;
        }

        byte[] header() {
            return HEADER;
        }

        byte[] messageId() {
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(id.getMostSignificantBits())
                    .putLong(id.getLeastSignificantBits())
                    .array();
        }

        Delivery delivery() {
            return new Delivery(
                    session, new MessageId(id), ArrivalKind.MESSAGE, Optional.of(key), fingerprint, HEADER, BODY);
        }
    }

    /** So many sends, to the sessions in turn. */
    static List<Send> to(List<SessionName> sessions, int count) {
        var sends = new ArrayList<Send>(count);
        for (int i = 0; i < count; i++) {
            var id = UUID.randomUUID();
            byte[] hash = sha256(id.toString());
            sends.add(new Send(sessions.get(i % sessions.size()), id, id.toString(), hash, hash));
        }
        return sends;
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JDK lacks SHA-256", e);
        }
    }
}
