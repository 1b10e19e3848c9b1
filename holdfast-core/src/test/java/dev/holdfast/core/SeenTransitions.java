package dev.holdfast.core;

import dev.holdfast.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Which rows of the three tables the tests of this module have visited. Seen from outside: a row is derived from the state
 * before and after an event or an input, and a change that no row explains fails the test that made it. Thread-safe.
 */
final class SeenTransitions {
    private static final Set<String> ROWS = new ConcurrentSkipListSet<>();
    private static final Set<String> TEST_CLASSES = new ConcurrentSkipListSet<>();

    private SeenTransitions() {}

    /** Notes which test classes ran to their end. */
    static final class Recorder implements AfterAllCallback {
        @Override
        public void afterAll(ExtensionContext context) {
            TEST_CLASSES.add(context.getRequiredTestClass().getName());
        }
    }

    static Set<String> rows() {
        return new TreeSet<>(ROWS);
    }

    static Set<String> testClasses() {
        return new TreeSet<>(TEST_CLASSES);
    }

    /** One event was applied: phases and turns move by events alone, by one row each. */
    static void applied(Durable before, Event event, Durable after) {
        switch (event) {
            case Event.PhaseChanged e -> row(Phase.TABLE, before.phase(), e.trigger(), after.phase());
            default -> unmoved(Phase.TABLE, before.phase(), event, after.phase());
        }
        var from = before.turnStage();
        var to = after.turnStage();
        switch (event) {
            case Event.TurnOpened ignored -> row(TurnStage.TABLE, from, TurnStage.Trigger.OPENED, to);
            case Event.ContinuationOpened ignored -> row(TurnStage.TABLE, from, TurnStage.Trigger.CONTINUED, to);
            case Event.TurnReturned ignored -> row(TurnStage.TABLE, from, TurnStage.Trigger.RETURNED, to);
            case Event.InterruptAsked ignored -> row(TurnStage.TABLE, from, TurnStage.Trigger.END_ASKED, to);
            case Event.TurnSettled ignored -> row(TurnStage.TABLE, from, TurnStage.Trigger.SETTLED, to);
            default -> unmoved(TurnStage.TABLE, from, event, to);
        }
    }

    /**
     * One input was decided. Its triggers, in order: what the input itself says, what its events say, and last a stop,
     * which leaves no event.
     */
    static void decided(Live before, long incarnation, Input input, List<Event> events, Live after) {
        var stage = before.stage();
        var triggers = new ArrayList<AgentStage.Trigger>();
        if (current(before, incarnation, input)) {
            inputTrigger(stage, input).ifPresent(triggers::add);
        }
        for (Event event : events) {
            switch (event) {
                case Event.IncarnationVerified ignored -> triggers.add(AgentStage.Trigger.VERIFIED);
                case Event.IncarnationPlanned ignored -> triggers.add(AgentStage.Trigger.PLAN);
                case Event.IncarnationEnded e
                when e.cause() != Event.EndCause.HOST_LOST ->
                    triggers.add(stage == AgentStage.PLANNED ? AgentStage.Trigger.ABANDON : AgentStage.Trigger.ENDED);
                default -> {}
            }
        }
        if (after.stage() == AgentStage.STOPPING && stage != AgentStage.STOPPING) {
            triggers.add(AgentStage.Trigger.STOP);
        }
        for (AgentStage.Trigger trigger : triggers) {
            var next = AgentStage.TABLE.next(stage, trigger);
            row(AgentStage.TABLE, stage, trigger, next);
            stage = next;
        }
        if (stage != after.stage()) {
            throw new AssertionError("the agent went from " + before.stage() + " to " + after.stage() + " on " + input
                    + ", but " + triggers + " leads to " + stage);
        }
    }

    private static boolean current(Live before, long incarnation, Input input) {
        return switch (input) {
            case Input.Slot e -> e.epoch() == before.epoch() && e.incarnation() == incarnation;
            case Input.Reported e -> e.epoch() == before.epoch() && e.incarnation() == incarnation;
            default -> true;
        };
    }

    /** What an input moves by itself. */
    private static Optional<AgentStage.Trigger> inputTrigger(AgentStage stage, Input input) {
        return switch (input) {
            case Input.Slot e
            when e.answer() == Input.SlotAnswer.GRANTED && stage == AgentStage.PLANNED ->
                Optional.of(AgentStage.Trigger.SLOT_GRANTED);
            case Input.Reported e
            when e.report() instanceof Report.Known && stage == AgentStage.ASKING ->
                Optional.of(AgentStage.Trigger.KNOWN);
            default -> Optional.empty();
        };
    }

    static String name(Transitions<?, ?> table, Transitions.Row<?, ?> row) {
        return table.name() + ": " + row.from() + " --" + row.trigger() + "--> " + row.to();
    }

    private static <S extends Enum<S>, T extends Enum<T>> void row(Transitions<S, T> table, S from, T trigger, S to) {
        var row = new Transitions.Row<>(from, trigger, to);
        if (!table.rows().contains(row)) {
            throw new AssertionError("not in the table: " + name(table, row));
        }
        ROWS.add(name(table, row));
    }

    private static <S extends Enum<S>, T extends Enum<T>> void unmoved(
            Transitions<S, T> table, S from, Event event, S to) {
        if (from != to) {
            throw new AssertionError(table.name() + " went from " + from + " to " + to + " on " + event);
        }
    }
}
