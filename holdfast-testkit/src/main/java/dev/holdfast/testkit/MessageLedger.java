package dev.holdfast.testkit;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Outcome;
import dev.holdfast.core.Taken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Where every arrival of a session is, by what was recorded of it and nothing else (P2, IN-22). Each has one place; a move
 * from a place in which it is not is a broken promise.
 */
final class MessageLedger {
    private final Broken broken;
    private final Map<Long, Entry> entries = new HashMap<>();
    /** Those that can be taken: waiting or given back, by number. */
    private final TreeMap<Long, Entry> takeable = new TreeMap<>();

    private final List<Entry> ended = new ArrayList<>();
    private long unread;
    private int speaking;

    /** Says that a promise was not kept. */
    interface Broken {
        void check(boolean holds, Supplier<String> what);
    }

    enum Place {
        /** Accepted and named by no event. */
        WAITING,
        /** In an agent's turn. */
        TURN,
        /** Taken by a reader and not settled. */
        HAND,
        /** Given back. */
        FRONT,
        /** Handed to the releaser of its address. */
        RELEASED,
        /** Has its terminal record, or needs none and was acted on. */
        ENDED
    }

    /** One arrival. */
    static final class Entry {
        final Arrival arrival;
        final String key;
        final Label label;
        Place place = Place.WAITING;
        /** The newest turn it was in; 0 for none. */
        long turn;

        boolean named;
        boolean steering;
        /** It was given back, or put back, at least once. */
        boolean returned;

        Optional<Outcome> outcome = Optional.empty();
        /** What a reader that ended it said. */
        String answer = "";

        Entry(Arrival arrival, String key, Label label) {
            this.arrival = arrival;
            this.key = key;
            this.label = label;
        }

        long number() {
            return arrival.number();
        }

        ArrivalKind kind() {
            return arrival.kind();
        }

        boolean afterIdle() {
            return label.afterIdle();
        }

        @Override
        public String toString() {
            return kind() + " " + number() + (key.isEmpty() ? "" : " (" + key + ")");
        }
    }

    /** What an arrival says of itself beside its body. */
    record Label(
            String sender,
            boolean afterIdle,
            OptionalLong turn,
            OptionalLong message,
            OptionalLong epoch,
            String subject,
            String note) {
        static Label of(byte[] header) {
            var json = Json.read(new String(header, StandardCharsets.UTF_8));
            return new Label(
                    json.text("author", "") + "/" + json.text("authority", ""),
                    json.text("policy", "").equals(DeliveryPolicy.AFTER_IDLE.name()),
                    number(json, "targetTurn"),
                    number(json, "targetMessage"),
                    number(json, "targetEpoch"),
                    json.text("subject", ""),
                    json.text("note", ""));
        }

        private static OptionalLong number(Json json, String name) {
            long value = json.number(name, -1);
            return value < 0 ? OptionalLong.empty() : OptionalLong.of(value);
        }
    }

    MessageLedger(Broken broken) {
        this.broken = broken;
    }

    Entry accepted(Arrival arrival, String key) {
        var entry = new Entry(arrival, key, Label.of(arrival.header()));
        broken.check(
                entries.put(arrival.number(), entry) == null, () -> "D1: two arrivals have number " + arrival.number());
        takeable.put(arrival.number(), entry);
        unread += arrival.kind().counted() ? 1 : 0;
        speaking += arrival.kind().speaks() ? 1 : 0;
        return entry;
    }

    Entry of(long number) {
        broken.check(
                entries.containsKey(number), () -> "IN-22: an event is about arrival " + number + ", which is none");
        return java.util.Objects.requireNonNull(entries.get(number));
    }

    Optional<Entry> find(long number) {
        return Optional.ofNullable(entries.get(number));
    }

    /** Counted arrivals that no event has named. */
    long unread() {
        return unread;
    }

    long arrivals() {
        return entries.size();
    }

    /** Whether every message with words has its end. */
    boolean everythingEnded() {
        return ended.size() == speaking;
    }

    /** Messages with words that have ended, in the order of their ends. */
    List<Entry> ended() {
        return ended;
    }

    /** Those that can be taken, by number. */
    Iterable<Entry> takeable() {
        return takeable.values();
    }

    List<Entry> at(Place place) {
        return entries.values().stream().filter(e -> e.place == place).toList();
    }

    /** Takes an arrival out of the queue, for a turn, a reader, a releaser or its end. */
    void take(Entry e, Place to, String event) {
        broken.check(
                e.place == Place.WAITING || e.place == Place.FRONT,
                () -> "P2: " + event + " takes " + e + ", which is at " + e.place);
        if (e.place == Place.WAITING) {
            name(e);
        }
        move(e, to);
    }

    /** An event names an arrival, once and for ever (IN-22). */
    void name(Entry e) {
        broken.check(!e.named, () -> "IN-22: " + e + " is named by two events");
        e.named = true;
        unread -= e.kind().counted() ? 1 : 0;
    }

    void move(Entry e, Place to) {
        e.place = to;
        e.returned |= to == Place.FRONT;
        if (to == Place.WAITING || to == Place.FRONT) {
            takeable.put(e.number(), e);
        } else {
            takeable.remove(e.number());
        }
    }

    void expect(Entry e, Place place, String event) {
        broken.check(e.place == place, () -> "P2: " + event + " is about " + e + ", which is at " + e.place);
    }

    /** Its terminal record. */
    void end(Entry e, Outcome outcome) {
        broken.check(e.outcome.isEmpty(), () -> "Q2: " + e + " has a second terminal record");
        e.outcome = Optional.of(outcome);
        move(e, Place.ENDED);
        ended.add(e);
    }

    List<Entry> all(List<Taken> messages) {
        return messages.stream().map(m -> of(m.number())).toList();
    }
}
