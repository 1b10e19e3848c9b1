package dev.holdfast.runtime;

import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.core.OpenCall;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one way to a host tool. Never throws: what goes wrong is an error answer to the model (TL-03, TL-05). */
final class ToolDoor {
    private static final Logger LOG = LoggerFactory.getLogger(ToolDoor.class);

    private ToolDoor() {}

    /**
     * Runs the call.
     *
     * @param before the same call in an attempt the agent has forgotten: without a tool that is idempotent it is not run
     *     again (TL-07)
     */
    static ToolAnswer run(Map<String, Tool> tools, String name, ToolCall call, Optional<OpenCall> before) {
        var tool = tools.get(name);
        if (tool == null) {
            return ToolAnswer.error("there is no tool '" + name + "' here; there are " + tools.keySet());
        }
        if (before.isPresent() && !tool.idempotent()) {
            return again(before.get());
        }
        try {
            return tool.call(call);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ToolAnswer.error("the tool was interrupted");
        } catch (Exception | LinkageError e) {
            // its words may hold what the tool was given, and a log is read by others
            LOG.warn("tool {} of session {} failed with {}, {}", name, call.session(), e.getClass(), place(e));
            var why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            return ToolAnswer.error("the tool failed: " + why);
        }
    }

    private static String place(Throwable e) {
        var trace = e.getStackTrace();
        return trace.length == 0 ? "nobody knows where" : "at " + trace[0];
    }

    private static ToolAnswer again(OpenCall before) {
        return before.ended()
                ? before.error() ? ToolAnswer.error(before.answer()) : ToolAnswer.text(before.answer())
                : ToolAnswer.error(
                        "this call was begun before your process was restarted, and its end is not known: it may"
                                + " have happened. It was not run again; check before you go on.");
    }
}
