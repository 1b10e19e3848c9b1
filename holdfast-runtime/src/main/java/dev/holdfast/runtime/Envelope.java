package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.Delivery;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.JournalException;
import dev.holdfast.Message;
import dev.holdfast.MessageId;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import dev.holdfast.core.Header;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Turns what senders say into deliveries, and arrivals back into what the core and the agent are shown. Thread-safe. */
final class Envelope {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private final Surroundings surroundings;

    Envelope(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /**
     * What is kept beside a body. {@code subject} is the attempt, call or question it is about; {@code note} a reason.
     */
    record Label(
            String author,
            String surface,
            String authority,
            Optional<String> address,
            Optional<DeliveryPolicy> policy,
            OptionalLong targetTurn,
            OptionalLong targetMessage,
            OptionalLong targetEpoch,
            String subject,
            String note,
            Optional<Instant> deadline) {
        private static Label of(Author author) {
            return new Label(
                    author.name(),
                    author.surface(),
                    author.authority(),
                    Optional.empty(),
                    Optional.empty(),
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    "",
                    "",
                    Optional.empty());
        }

        private Label through(Optional<String> token) {
            return with(token, policy, targetTurn, targetMessage, targetEpoch, subject, note, deadline);
        }

        private Label policy(DeliveryPolicy next) {
            return with(address, Optional.of(next), targetTurn, targetMessage, targetEpoch, subject, note, deadline);
        }

        private Label targets(OptionalLong turn, OptionalLong message) {
            return with(address, policy, turn, message, targetEpoch, subject, note, deadline);
        }

        private Label epoch(long epoch) {
            return with(address, policy, targetTurn, targetMessage, OptionalLong.of(epoch), subject, note, deadline);
        }

        private Label subject(String next) {
            return with(address, policy, targetTurn, targetMessage, targetEpoch, next, note, deadline);
        }

        private Label note(String next, Optional<Instant> by) {
            return with(address, policy, targetTurn, targetMessage, targetEpoch, subject, next, by);
        }

        private Label with(
                Optional<String> token,
                Optional<DeliveryPolicy> nextPolicy,
                OptionalLong turn,
                OptionalLong message,
                OptionalLong epoch,
                String nextSubject,
                String nextNote,
                Optional<Instant> by) {
            return new Label(
                    author, surface, authority, token, nextPolicy, turn, message, epoch, nextSubject, nextNote, by);
        }

        Author by() {
            return new Author(author, surface, authority);
        }

        private Header.Wish wish() {
            return new Header.Wish(
                    author + "/" + authority,
                    policy.filter(p -> p == DeliveryPolicy.AFTER_IDLE).isPresent(),
                    targetTurn,
                    targetMessage,
                    targetEpoch,
                    subject,
                    note,
                    deadline);
        }
    }

    Delivery message(SessionName session, Message message) {
        return payload(
                session,
                new Payload.Words(message.text(), message.policy()),
                message.author(),
                message.key(),
                Optional.empty());
    }

    /** @param address the address it comes through; absent for the session's own */
    Delivery payload(
            SessionName session, Payload payload, Author author, Optional<String> key, Optional<String> address) {
        var label = Label.of(author).through(address);
        boolean onlyIdle = payload instanceof Payload.Words w && w.policy() == DeliveryPolicy.REFUSE_IF_BUSY;
        return switch (payload) {
            case Payload.Words w -> delivery(session, w.kind(), key, label.policy(w.policy()), w.text(), onlyIdle);
            case Payload.Cancel c -> delivery(session, c.kind(), key, label.targets(c.turn(), c.message()), "", false);
            case Payload.SessionTimeout t -> delivery(session, t.kind(), key, label.epoch(t.ownerEpoch()), "", false);
            case Payload.Authorization a ->
                delivery(session, a.kind(), key, label.subject(a.attempt()), a.content(), false);
            case Payload.ToolRun r -> delivery(session, r.kind(), key, label.subject(r.call()), r.content(), false);
            case Payload.Answer a -> delivery(session, a.kind(), key, label.subject(a.question()), a.text(), false);
            case Payload.Reset r -> delivery(session, r.kind(), key, label, "", false);
            case Payload.Clear c -> delivery(session, c.kind(), key, label, "", false);
            case Payload.Cut c ->
                delivery(
                        session,
                        c.kind(),
                        key,
                        label.targets(OptionalLong.of(c.from()), OptionalLong.empty()),
                        "",
                        false);
            case Payload.Compact c -> delivery(session, c.kind(), key, label, "", false);
        };
    }

    /** What only the host may say: a kind without words, with its reason. */
    Delivery control(SessionName session, ArrivalKind kind, String note) {
        return control(session, kind, note, Optional.empty());
    }

    Delivery control(SessionName session, ArrivalKind kind, String note, Optional<Instant> deadline) {
        var label = Label.of(Author.host()).note(note, deadline);
        return delivery(session, kind, Optional.empty(), label, "", false);
    }

    Delivery withdrawal(SessionName session, long number) {
        var label = Label.of(Author.host()).targets(OptionalLong.empty(), OptionalLong.of(number));
        return delivery(session, ArrivalKind.WITHDRAW, Optional.empty(), label, "", false);
    }

    /**
     * A turn that another session had (HN-14).
     *
     * @param origin which session, and through which turn it is copied: the same for every turn of one fork
     * @param turn its number in the fork
     * @param entries how many entries the body holds
     */
    Delivery past(SessionName session, String origin, long turn, Outcome outcome, int entries, String body) {
        var label = Label.of(Author.host())
                .subject(origin)
                .note(outcome.name(), Optional.empty())
                .targets(OptionalLong.of(turn), OptionalLong.of(entries));
        return delivery(session, ArrivalKind.PAST, Optional.of("holdfast/fork/" + turn), label, body, false);
    }

    private Delivery delivery(
            SessionName session, ArrivalKind kind, Optional<String> key, Label label, String text, boolean onlyIdle) {
        var body = text.getBytes(StandardCharsets.UTF_8);
        return new Delivery(
                session,
                newId(),
                kind,
                key,
                fingerprint(kind, label, body),
                JSON.writeValueAsBytes(label),
                body,
                label.address(),
                onlyIdle);
    }

    private MessageId newId() {
        var bytes = ByteBuffer.wrap(surroundings.random(16));
        long high = (bytes.getLong() & 0xffff_ffff_ffff_0fffL) | 0x4000L;
        long low = (bytes.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
        return new MessageId(new UUID(high, low));
    }

    /** What the sender meant: kind, author, what it is about and its words; not the surface, not the time (IN-12). */
    private static byte[] fingerprint(ArrivalKind kind, Label label, byte[] body) {
        var digest = Digests.sha256();
        var meant = Stream.of(
                        Integer.toString(kind.code()),
                        label.author(),
                        label.authority(),
                        label.policy()
                                .filter(p -> kind == ArrivalKind.MESSAGE && p == DeliveryPolicy.AFTER_IDLE)
                                .map(Enum::name)
                                .orElse(""),
                        label.targetTurn().toString(),
                        label.targetMessage().toString(),
                        label.targetEpoch().toString(),
                        label.subject(),
                        label.note())
                .collect(Collectors.joining("\0"));
        digest.update(meant.getBytes(StandardCharsets.UTF_8));
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
        return new Header(
                arrival.number(),
                arrival.id(),
                arrival.kind(),
                arrival.bytes(),
                arrival.boundTurn(),
                arrival.boundAfter(),
                label(arrival).wish());
    }

    /** What a reader or an observer sees of it; absent for kinds that are between the host and its sessions. */
    Optional<Received> received(Arrival arrival) {
        var label = label(arrival);
        var text = text(arrival);
        Optional<Payload> payload = switch (arrival.kind()) {
            case MESSAGE, STEER, REPLACE ->
                Optional.of(new Payload.Words(text, label.policy().orElse(DeliveryPolicy.NEXT)));
            case CANCEL -> Optional.of(new Payload.Cancel(label.targetTurn(), label.targetMessage()));
            case RESET -> Optional.of(new Payload.Reset());
            case CLEAR -> Optional.of(new Payload.Clear());
            case CUT -> Optional.of(new Payload.Cut(label.targetTurn().orElse(Long.MAX_VALUE)));
            case COMPACT -> Optional.of(new Payload.Compact());
            case SESSION_TIMEOUT ->
                Optional.of(new Payload.SessionTimeout(label.targetEpoch().orElse(0)));
            case AUTHORIZATION -> Optional.of(new Payload.Authorization(label.subject(), text));
            case TOOL_RUN -> Optional.of(new Payload.ToolRun(label.subject(), text));
            case ANSWER -> Optional.of(new Payload.Answer(label.subject(), text));
            case RESUME, CLOSE, EVICT, PAUSE, FINISH, DRAIN, WITHDRAW, RELEASE, PAST -> Optional.empty();
        };
        return payload.map(p ->
                new Received(arrival.number(), arrival.id(), arrival.acceptedAt(), label.by(), label.address(), p));
    }

    static String text(Arrival arrival) {
        return new String(arrival.body(), StandardCharsets.UTF_8);
    }
}
