package dev.holdfast.runtime;

import dev.holdfast.core.Input.SlotAnswer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The one authority over how many agent processes live (HS-04, HS-23). A newcomer takes a free place, else asks the least
 * recently turned holder that is between turns to free its own, and waits in line. Thread-safe; answers are given on the
 * surroundings' executor.
 */
final class Slots {
    private final int capacity;
    private final Duration patience;
    private final Surroundings surroundings;
    /** Holders, least recently turned first. */
    private final Map<Object, Place> held = new LinkedHashMap<>();

    private final Deque<Place> line = new ArrayDeque<>();

    Slots(int capacity, Duration patience, Surroundings surroundings) {
        this.capacity = capacity;
        this.patience = patience;
        this.surroundings = surroundings;
    }

    /** Asks for a place. Answers GRANTED, or DENIED each time the patience is used up, then goes on waiting. */
    synchronized void request(Object holder, Consumer<SlotAnswer> answer) {
        var place = new Place(holder, answer);
        if (held.size() < capacity) {
            grant(place);
            return;
        }
        line.add(place);
        place.alarm = Optional.of(surroundings.at(surroundings.now().plus(patience), () -> impatient(place)));
        askForRoom();
    }

    /** Gives the place back, or leaves the line. Idempotent. */
    synchronized void release(Object holder) {
        line.removeIf(p -> {
            boolean mine = p.holder.equals(holder);
            if (mine) {
                p.alarm.ifPresent(Surroundings.Alarm::cancel);
            }
            return mine;
        });
        if (held.remove(holder) != null && !line.isEmpty()) {
            grant(line.removeFirst());
            askForRoom();
        }
    }

    /** Says whether the holder's process is between turns, and so may be ended for another's sake. */
    synchronized void idle(Object holder, boolean idle) {
        var place = held.get(holder);
        if (place == null || place.idle == idle) {
            return;
        }
        place.idle = idle;
        if (idle) {
            held.remove(holder); // just turned: now the last to be asked
            held.put(holder, place);
            askForRoom();
        } else {
            place.asked = false;
        }
    }

    synchronized int inUse() {
        return held.size();
    }

    private void grant(Place place) {
        place.alarm.ifPresent(Surroundings.Alarm::cancel);
        held.put(place.holder, place);
        tell(place, SlotAnswer.GRANTED);
    }

    private synchronized void impatient(Place place) {
        if (line.contains(place)) {
            tell(place, SlotAnswer.DENIED);
            place.alarm = Optional.of(surroundings.at(surroundings.now().plus(patience), () -> impatient(place)));
        }
    }

    /** One request to free a place for each one waiting in line. */
    private void askForRoom() {
        long open = line.size() - held.values().stream().filter(p -> p.asked).count();
        for (Place p : held.values()) {
            if (open <= 0) {
                return;
            }
            if (p.idle && !p.asked) {
                p.asked = true;
                open--;
                tell(p, SlotAnswer.PLEASE_FREE);
            }
        }
    }

    private void tell(Place place, SlotAnswer answer) {
        surroundings.executor().execute(() -> place.answer.accept(answer));
    }

    private static final class Place {
        final Object holder;
        final Consumer<SlotAnswer> answer;
        boolean idle;
        boolean asked;
        Optional<Surroundings.Alarm> alarm = Optional.empty();

        Place(Object holder, Consumer<SlotAnswer> answer) {
            this.holder = holder;
            this.answer = answer;
        }
    }
}
