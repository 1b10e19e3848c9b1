package dev.holdfast;

import java.util.regex.Pattern;

/**
 * What an agent is told about a tool.
 *
 * @param name 1 to 64 letters, digits, {@code _} or {@code -}
 * @param inputSchema a JSON Schema object as JSON text
 * @param effects what a call may change; agents run calls side by side that change nothing, and others one behind the other
 */
public record ToolSpec(String name, String description, String inputSchema, ToolEffects effects) {
    private static final Pattern SHAPE = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    public ToolSpec {
        if (!SHAPE.matcher(name).matches()) {
            throw new IllegalArgumentException("tool name '" + Printable.shortened(name)
                    + "' is not allowed: use 1 to 64 letters, digits, '_' or '-'");
        }
        if (!inputSchema.startsWith("{")) {
            throw new IllegalArgumentException("the input schema of tool '" + name + "' must be a JSON object");
        }
    }

    /** A tool that may change something. */
    public ToolSpec(String name, String description, String inputSchema) {
        this(name, description, inputSchema, ToolEffects.WRITE);
    }

    /** The same tool with these effects. */
    public ToolSpec effects(ToolEffects effects) {
        return new ToolSpec(name, description, inputSchema, effects);
    }
}
