package dev.holdfast.core;

import dev.holdfast.Limits;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A session's behaviour as four pure functions. Level-triggered: after a crash the journal is folded, {@link Live} starts
 * empty, and {@link Input.Awake} asks again what should be running, so that recovery is the ordinary start. Stateless and
 * thread-safe.
 */
public interface Core {
    /** How the reason of a pause begins that a drain ended in. */
    String DRAIN = "drain";

    /** Whether the reason of a pause is that a drain ended in it. */
    static boolean drained(String reason) {
        return reason.equals(DRAIN + "ed") || reason.startsWith(DRAIN + " deadline passed with ");
    }

    /**
     * What to record about an input. Nothing of the answer is valid before its events are committed, {@code live}
     * included.
     */
    Decision decide(Durable durable, Live live, Input input, Instant now);

    /**
     * The state after an event.
     *
     * @throws IllegalStateException for an event the state does not allow
     */
    Durable apply(Durable durable, Event event);

    /** What should be running, given committed state. An effect stays in the set until its end is recorded. */
    Set<Effect> effects(Durable durable, Live live);

    /** When to send the next {@link Input.Tick}; absent when nothing is due. */
    Optional<Instant> dueAt(Durable durable, Live live);

    /** When an owner must be awake at the latest, if nothing else wakes one; part of {@link #dueAt}. */
    Optional<Instant> wakeAt(Durable durable, Live live);

    /** Whether the process takes lines and has nothing to do. */
    boolean idle(Durable durable, Live live);

    /** Whether something accepted was read and is named by no event yet, or was given back. */
    boolean waits(Durable durable, Live live);

    /** Nothing runs, nothing is unread and nothing is due within a minute: the owner may go (DESIGN: asleep). */
    boolean sleepable(Durable durable, Live live, Instant now);

    /** The core in use. */
    static Core standard(Limits limits) {
        return new SessionCore(limits);
    }

    /** @param live the state of this incarnation once {@code events} are committed */
    record Decision(List<Event> events, Live live) {
        public Decision {
            events = List.copyOf(events);
        }
    }
}
