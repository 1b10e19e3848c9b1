package dev.holdfast.claude;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers of users in the agent's words. The agent passes over what it does not know, so that a name written otherwise
 * would let a tool run: these are the names it reads.
 */
final class HookShapes {
    private HookShapes() {}

    /**
     * A hook's answer.
     *
     * @param canAsk whether somebody is there to decide where the hook does not
     * @throws IllegalArgumentException for one that the event does not know
     */
    static ObjectNode of(StreamJson codec, HookEvent event, @Nullable HookAnswer answer, boolean canAsk) {
        return switch (answer) {
            case null -> throw new IllegalArgumentException("it answered null");
            case HookAnswer.GoOn goOn -> StreamJson.NODES.objectNode();
            case HookAnswer.AddContext added -> {
                require(event.takesContext(), event, answer);
                ObjectNode shape = StreamJson.NODES.objectNode();
                specific(shape, event).put("additionalContext", added.context());
                yield shape;
            }
            case HookAnswer.Allow allow -> {
                require(event == HookEvent.PRE_TOOL_USE, event, answer);
                ObjectNode shape = decision("allow", "The host allows it.");
                allow.input()
                        .ifPresent(input -> shape.withObjectProperty("hookSpecificOutput")
                                .set("updatedInput", object(codec, input)));
                yield shape;
            }
            case HookAnswer.Deny deny -> {
                require(event == HookEvent.PRE_TOOL_USE, event, answer);
                yield denied(deny.reason());
            }
            case HookAnswer.Ask ask -> {
                require(event == HookEvent.PRE_TOOL_USE, event, answer);
                if (!canAsk) {
                    throw new IllegalArgumentException("it wants a PermissionAsk to decide, and there is none");
                }
                yield decision("ask", ask.reason());
            }
            case HookAnswer.Block block -> {
                require(event.canBlock(), event, answer);
                yield blocked(block.reason());
            }
            case HookAnswer.Halt halt -> {
                require(event.canHalt(), event, answer);
                // "continue": false alone ends the turn and yet runs the tool.
                ObjectNode shape =
                        event == HookEvent.PRE_TOOL_USE ? denied(halt.reason()) : StreamJson.NODES.objectNode();
                yield shape.put("continue", false).put("stopReason", halt.reason());
            }
        };
    }

    static ObjectNode permitted() {
        return decision("allow", "The host allows it.");
    }

    static ObjectNode denied(String reason) {
        return decision("deny", reason);
    }

    static ObjectNode blocked(String reason) {
        return StreamJson.NODES.objectNode().put("decision", "block").put("reason", reason);
    }

    private static ObjectNode decision(String decision, String reason) {
        ObjectNode shape = StreamJson.NODES.objectNode();
        specific(shape, HookEvent.PRE_TOOL_USE)
                .put("permissionDecision", decision)
                .put("permissionDecisionReason", reason);
        return shape;
    }

    private static ObjectNode specific(ObjectNode shape, HookEvent event) {
        return shape.putObject("hookSpecificOutput").put("hookEventName", event.wireName());
    }

    private static void require(boolean fits, HookEvent event, HookAnswer answer) {
        if (!fits) {
            throw new IllegalArgumentException("it answered "
                    + answer.getClass().getSimpleName() + ", which " + event.wireName() + " does not know");
        }
    }

    /**
     * An answer about a tool.
     *
     * @param asked the input as the agent wrote it: an older one wants it back
     */
    static ObjectNode of(StreamJson codec, @Nullable PermissionAnswer answer, JsonNode asked) {
        return switch (answer) {
            case null -> throw new IllegalArgumentException("it answered null");
            case PermissionAnswer.Allow allow ->
                allowed(allow.input()
                        .<JsonNode>map(input -> object(codec, input))
                        .orElse(asked));
            case PermissionAnswer.Deny deny -> refused(deny.reason(), deny.endsTurn());
        };
    }

    static ObjectNode allowed(JsonNode input) {
        ObjectNode shape = StreamJson.NODES.objectNode().put("behavior", "allow");
        shape.set("updatedInput", input.isObject() ? input : StreamJson.NODES.objectNode());
        return shape;
    }

    static ObjectNode refused(String reason, boolean endsTurn) {
        ObjectNode shape = StreamJson.NODES.objectNode().put("behavior", "deny").put("message", reason);
        return endsTurn ? shape.put("interrupt", true) : shape;
    }

    private static ObjectNode object(StreamJson codec, String json) {
        Optional<ObjectNode> read =
                codec.tree(json).filter(ObjectNode.class::isInstance).map(ObjectNode.class::cast);
        return read.orElseThrow(() -> new IllegalArgumentException("it changed the input to what is no JSON object"));
    }
}
