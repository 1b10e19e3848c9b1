package dev.holdfast.runtime;

import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.SessionEvent;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * Events and snapshots as JSON, with a version each. A type or version this program does not know is refused, never
 * half-read (MB-17). Thread-safe.
 */
@SuppressWarnings("exports") // events are shown to the testkit only
public final class EventCodec {
    /** Raised when the shape of any event changes; old shapes stay readable. */
    static final int VERSION = 2;

    /** The same for snapshots: those of version 1 have no binding, those of version 2 no calls that are asked about. */
    static final int SNAPSHOT_VERSION = 3;

    private static final Map<String, Class<? extends Event>> TYPES = types();

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .addModule(new SimpleModule().addDeserializer(Instant.class, new InstantReader()))
            .build();

    /** The stored record of an event. */
    public EventRecord encode(Event event) {
        var turn = event.turn() > 0 ? OptionalLong.of(event.turn()) : OptionalLong.empty();
        return new EventRecord(event.getClass().getSimpleName(), VERSION, turn, JSON.writeValueAsBytes(event));
    }

    /**
     * The event of a stored record.
     *
     * @throws JournalException for a type or version this program does not know, or a body that cannot be read
     */
    public Event decode(StoredEvent stored) {
        var type = TYPES.get(stored.event().type());
        if (type == null || stored.event().version() > VERSION) {
            throw new JournalException(
                    JournalException.Problem.NEWER_FORMAT,
                    "event " + stored.seq() + " has type '" + stored.event().type() + "' version "
                            + stored.event().version()
                            + ", which this version of Holdfast does not know: use a newer one");
        }
        try {
            return stored.event().version() == VERSION
                    ? JSON.readValue(stored.event().body(), type)
                    : JSON.treeToValue(
                            OlderShapes.event(
                                    stored.event().type(),
                                    JSON.readTree(stored.event().body())),
                            type);
        } catch (JacksonException e) {
            throw new JournalException(
                    JournalException.Problem.DAMAGED,
                    "event " + stored.seq() + " of type " + stored.event().type() + " cannot be read: "
                            + e.getOriginalMessage(),
                    e);
        }
    }

    /** As {@link #decode(StoredEvent)}, of what readers are given. */
    Event decode(SessionEvent event) {
        var body = event.body().getBytes(StandardCharsets.UTF_8);
        return decode(new StoredEvent(
                event.seq(), 0, event.at(), new EventRecord(event.type(), event.version(), event.turn(), body)));
    }

    SnapshotRecord snapshot(long seq, Durable state) {
        return new SnapshotRecord(seq, SNAPSHOT_VERSION, JSON.writeValueAsBytes(state));
    }

    /** The state of a snapshot; one of a version this program does not know is refused, never half-read (MB-17). */
    Durable restore(SnapshotRecord snapshot) {
        if (snapshot.version() < 1 || snapshot.version() > SNAPSHOT_VERSION) {
            throw new JournalException(
                    JournalException.Problem.NEWER_FORMAT,
                    "the snapshot at event " + snapshot.seq() + " has version " + snapshot.version()
                            + ", which this version of Holdfast does not know: use a newer one");
        }
        try {
            return snapshot.version() == SNAPSHOT_VERSION
                    ? JSON.readValue(snapshot.body(), Durable.class)
                    : JSON.treeToValue(
                            OlderShapes.state(snapshot.version(), JSON.readTree(snapshot.body())), Durable.class);
        } catch (JacksonException e) {
            throw new JournalException(
                    JournalException.Problem.DAMAGED,
                    "the snapshot at event " + snapshot.seq() + " cannot be read: " + e.getOriginalMessage(),
                    e);
        }
    }

    static SessionEvent forReaders(StoredEvent stored) {
        return new SessionEvent(
                stored.seq(),
                stored.at(),
                stored.event().type(),
                stored.event().version(),
                stored.event().turn(),
                new String(stored.event().body(), StandardCharsets.UTF_8));
    }

    @SuppressWarnings("unchecked") // the permitted subclasses of Event are Events
    private static Map<String, Class<? extends Event>> types() {
        var types = new LinkedHashMap<String, Class<? extends Event>>();
        for (Class<?> type : Event.class.getPermittedSubclasses()) {
            types.put(type.getSimpleName(), (Class<? extends Event>) type);
        }
        return types;
    }
}
