package dev.holdfast.core;

import dev.holdfast.Limits;
import dev.holdfast.StopMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The working state of one decision, which its rules share. Emitting an event applies it at once, so that later rules of
 * the same decision see it. The rules are layers of one object, each in a file of its own: {@link Calls} on this,
 * {@link Turns} on those, {@link Mail} on those, {@link Feeds} on that, {@link Step} on top. Used once, by one thread.
 */
abstract sealed class Work permits Calls {
    final Limits limits;
    final Instant now;
    final Live.Draft live;
    Durable durable;
    /** This decision is an owner's first: what is urgent was not read yet, and comes before any turn. */
    boolean waking;

    private final Fold fold;
    private final List<Event> events = new ArrayList<>();

    Work(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        this.limits = limits;
        this.fold = fold;
        this.durable = durable;
        this.live = live.draft();
        this.now = now;
    }

    final Core.Decision decision() {
        boolean flush = !events.isEmpty() || live.stage == AgentStage.DOWN;
        if (flush && !live.notes.isEmpty()) {
            var all = new ArrayList<>(live.notes);
            all.addAll(events);
            live.notes = List.of();
            return new Core.Decision(all, live.build());
        }
        return new Core.Decision(events, live.build());
    }

    final void emit(Event event) {
        durable = fold.apply(durable, event);
        events.add(event);
    }

    /** For events that change no state: they ride with the next commit. */
    final void note(Event event) {
        var notes = new ArrayList<>(live.notes);
        notes.add(event);
        live.notes = notes;
    }

    final void move(AgentStage.Trigger trigger) {
        live.stage = AgentStage.TABLE.next(live.stage, trigger);
    }

    final void stop(StopMode mode) {
        if (AgentStage.TABLE.allows(live.stage, AgentStage.Trigger.STOP)) {
            move(AgentStage.Trigger.STOP);
            live.stop = Optional.of(mode);
        }
    }

    /** As {@link #stop(StopMode)}, with what is recorded as the end's cause. */
    final void stop(StopMode mode, Event.EndCause cause) {
        if (AgentStage.TABLE.allows(live.stage, AgentStage.Trigger.STOP)) {
            stop(mode);
            live.stopCause = Optional.of(cause);
        }
    }

    /** Between turns. */
    final void stopIdle(Event.EndCause cause) {
        stop(StopMode.IDLE, cause);
    }

    /** Whether the agent, if there is one, does nothing: input may end only then (MB-12). */
    final boolean rests() {
        return !live.busy && !live.awaitIdle;
    }

    final void change(Phase.Trigger trigger, String reason) {
        change(trigger, reason, Optional.empty());
    }

    final void change(Phase.Trigger trigger, String reason, Optional<Instant> deadline) {
        emit(new Event.PhaseChanged(trigger, reason, deadline));
    }

    final void park(String reason) {
        if (Phase.TABLE.allows(durable.phase(), Phase.Trigger.PARK)) {
            change(Phase.Trigger.PARK, reason);
        }
    }
}
