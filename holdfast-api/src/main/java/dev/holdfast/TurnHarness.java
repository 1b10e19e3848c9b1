package dev.holdfast;

import java.util.Set;

/**
 * A thinker that lives in this process and is asked turn by turn (HN-01). It has no process and no record: what it is told is
 * our transcript, so after a crash it has nothing, says so, and begins the open turn again (HN-15). The host does the rest:
 * one turn at a time, in order, each with a sink of its own (HN-07). Stateless and thread-safe; what belongs to a turn is in
 * the {@link Turn}.
 */
public interface TurnHarness extends Harness {
    /** What it cannot do without. */
    default Set<HarnessNeed> requires() {
        return Set.of();
    }

    /** Which host tools its model is shown. */
    default ToolSurface surface() {
        return ToolSurface.bound();
    }

    /**
     * Names of the options a turn may carry ({@link TurnSettings#options}); any other is refused by name before anything is
     * started (HN-06). What a model is and how hard it thinks binds when the harness is made, not here.
     */
    default Set<String> turnOptions() {
        return Set.of(TurnOptions.MAX_TURNS);
    }

    /**
     * Thinks. Called on a thread of its own, which is interrupted when a cancelled turn does not end by itself. What it says
     * goes through {@link Turn#emit}; its answer is every {@link TurnEvent.Text} in order. When it returns, the turn is
     * answered; a {@link TurnEvent.Failure} or an exception makes it an error (HN-10); with {@link Turn#cancel} fired it is
     * cancelled, whatever else it says.
     *
     * @throws AgentUnavailable when it cannot run here at all: the session is parked until a person mends that (HN-12)
     */
    void run(Turn turn) throws Exception;

    /** The host runs the turns of such a harness itself, one by one. */
    @Override
    default Attachment attach(Launch launch, ReportSink sink) {
        throw new UnsupportedOperationException("harness '" + name()
                + "' has no process to attach to: give it to a host, which calls run for each turn");
    }
}
