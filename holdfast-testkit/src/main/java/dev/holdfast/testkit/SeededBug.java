package dev.holdfast.testkit;

import dev.holdfast.Knowledge;
import dev.holdfast.Report;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Effect;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Mistakes that a checker must catch, one for each promise a plausible slip would break. A run with a bug that stays
 * unnoticed says something about the checker.
 */
public enum SeededBug {
    /** The receipt is given before the commit (P1). */
    ACK_BEFORE_COMMIT,
    /** A message that was in flight when the agent ended goes behind those that wait (MB-05). */
    RECLAIM_TO_TAIL,
    /** The store takes the appends of an owner that is one no more (P3). */
    STALE_EPOCH_ACCEPTED,
    /** After the host's death the message in flight is forgotten (MB-17). */
    IN_FLIGHT_FORGOTTEN,
    /** The message is sent again without asking what the agent has (TN-08). */
    RESEND_WITHOUT_ASKING,
    /** A settled message is delivered again (MB-06). */
    REDELIVERY_AFTER_SETTLE,
    /** What the agent's record lost is not told again (TN-16). */
    NO_CATCH_UP,
    /** A line is written between an interrupt and its answer (TN-14). */
    LINE_INSIDE_INTERRUPT_WINDOW;

    /** The name for a command line: lower case with dashes. */
    public String option() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The bug of that name.
     *
     * @throws IllegalArgumentException naming those there are
     */
    public static SeededBug named(String option) {
        return Arrays.stream(values())
                .filter(b -> b.option().equals(option))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no seeded bug '" + option + "'; there are "
                        + Arrays.stream(values()).map(SeededBug::option).toList()));
    }

    void plant(SimulatedStore store) {
        if (this == ACK_BEFORE_COMMIT) {
            store.acknowledgeBeforeCommit();
        } else if (this == STALE_EPOCH_ACCEPTED) {
            store.acceptStaleEpochs();
        }
    }

    Core plant(Core sound) {
        return new Core() {
            @Override
            public Decision decide(Durable durable, Live live, Input input, Instant now) {
                return decideWrongly(sound, durable, live, input, now);
            }

            @Override
            public Durable apply(Durable durable, Event event) {
                return applyWrongly(sound.apply(durable, event), durable, event);
            }

            @Override
            public Set<Effect> effects(Durable durable, Live live) {
                return sound.effects(durable, live);
            }

            @Override
            public Optional<Instant> dueAt(Durable durable, Live live) {
                return sound.dueAt(durable, live);
            }

            @Override
            public boolean idle(Durable durable, Live live) {
                return sound.idle(durable, live);
            }

            @Override
            public boolean waits(Durable durable, Live live) {
                return sound.waits(durable, live);
            }

            @Override
            public boolean sleepable(Durable durable, Live live, Instant now) {
                return sound.sleepable(durable, live, now);
            }
        };
    }

    private Core.Decision decideWrongly(Core sound, Durable durable, Live live, Input input, Instant now) {
        if (input instanceof Input.Reported r && r.report() instanceof Report.Known known) {
            var k = known.knowledge();
            if (this == RESEND_WITHOUT_ASKING) {
                k = new Knowledge(k.record(), k.coversTurn(), k.askedNext(), List.of(), new Knowledge.Tail.None());
            } else if (this == NO_CATCH_UP && k.record() == Knowledge.RecordState.PRESENT) {
                k = new Knowledge(k.record(), durable.lastSettled(), List.of(), k.present(), k.tail());
            }
            return sound.decide(
                    durable, live, new Input.Reported(r.epoch(), r.incarnation(), new Report.Known(k)), now);
        }
        if (this == LINE_INSIDE_INTERRUPT_WINDOW
                && live.interrupt() == Live.InterruptWindow.WRITTEN
                && durable.turn().filter(t -> t.ending().isEmpty()).isPresent()) {
            var open = with(with(live, "interrupt", Live.InterruptWindow.CLOSED), "awaitIdle", false);
            return sound.decide(durable, open, input, now);
        }
        if (this == IN_FLIGHT_FORGOTTEN && input instanceof Input.Awake && durable.up()) {
            return sound.decide(with(durable, "turn", Optional.empty()), live, input, now);
        }
        boolean others = !live.waiting().tailMap(durable.takenThrough(), false).isEmpty();
        if (this == RECLAIM_TO_TAIL && others && !durable.front().isEmpty()) {
            return sound.decide(with(durable, "front", List.of()), live, input, now);
        }
        return sound.decide(durable, live, input, now);
    }

    private Durable applyWrongly(Durable after, Durable before, Event event) {
        boolean open = before.turn().isPresent();
        if (this == IN_FLIGHT_FORGOTTEN
                && open
                && event instanceof Event.IncarnationEnded e
                && e.cause() == Event.EndCause.HOST_LOST) {
            return with(after, "turn", Optional.empty());
        }
        if (this == RECLAIM_TO_TAIL
                && event instanceof Event.IncarnationPlanned
                && before.turn().filter(t -> !t.inFlight()).isPresent()) {
            var front = new ArrayList<>(after.front());
            front.addAll(before.turn().orElseThrow().original().messages());
            return with(with(after, "turn", Optional.empty()), "front", front);
        }
        if (this == REDELIVERY_AFTER_SETTLE && event instanceof Event.TurnSettled e && e.turn() % 5 == 0) {
            return with(after, "front", e.messages());
        }
        return after;
    }

    @SuppressWarnings("unchecked") // a copy has the type of its original
    private static <R extends Record> R with(R original, String component, Object value) {
        try {
            var components = original.getClass().getRecordComponents();
            var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            var values = new Object[components.length];
            for (int i = 0; i < components.length; i++) {
                values[i] = components[i].getName().equals(component)
                        ? value
                        : components[i].getAccessor().invoke(original);
            }
            return (R) original.getClass().getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot copy " + original.getClass() + " with another " + component, e);
        }
    }
}
