package dev.holdfast;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** The host's tools during one turn, through the one door (TL-03). Thread-safe: calls may run in parallel. */
public interface TurnTools {
    /** Those the model is to be shown, in the order bound. */
    List<ToolSpec> list();

    /**
     * Calls a tool and waits for its answer. Never throws: a tool that is not there, an input that does not fit and a tool
     * that fails are outcomes as well.
     *
     * @param input a JSON object as JSON text
     */
    ToolOutcome call(String name, String input);

    /** As {@link #call}, without waiting: for calls that run in parallel (TL-09). Never completes with an exception. */
    CompletionStage<ToolOutcome> callAsync(String name, String input);
}
