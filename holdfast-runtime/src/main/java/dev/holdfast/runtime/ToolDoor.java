package dev.holdfast.runtime;

import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one way to a host tool. Never throws: what goes wrong is an error answer to the model (TL-03, TL-05). */
final class ToolDoor {
    private static final Logger LOG = LoggerFactory.getLogger(ToolDoor.class);

    private ToolDoor() {}

    static ToolAnswer run(Map<String, Tool> tools, String name, ToolCall call) {
        var tool = tools.get(name);
        if (tool == null) {
            return ToolAnswer.error("there is no tool '" + name + "' here; there are " + tools.keySet());
        }
        try {
            return tool.call(call);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ToolAnswer.error("the tool was interrupted");
        } catch (Exception | LinkageError e) {
            LOG.warn("tool {} of session {} failed", name, call.session(), e);
            var why = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            return ToolAnswer.error("the tool failed: " + why);
        }
    }
}
