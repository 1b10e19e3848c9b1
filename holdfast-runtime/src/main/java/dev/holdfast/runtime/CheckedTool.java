package dev.holdfast.runtime;

import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** A tool whose input is held against its schema before it is called (TL-05). */
final class CheckedTool implements Tool {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Tool tool;
    private final ToolSpec spec;
    private final InputSchema schema;

    /** @throws IllegalArgumentException when its schema cannot be used */
    CheckedTool(Tool tool) {
        this.tool = tool;
        this.spec = tool.spec();
        this.schema = InputSchema.of(spec.name(), spec.inputSchema());
        tool.deadline().ifPresent(time -> positive(spec.name(), time));
    }

    static void positive(String name, Duration deadline) {
        if (deadline.isNegative() || deadline.isZero()) {
            throw new IllegalArgumentException(
                    "the deadline of tool '" + name + "' is " + deadline + "; it must be longer than zero");
        }
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public ToolEffects effects() {
        return tool.effects();
    }

    @Override
    public boolean idempotent() {
        return tool.idempotent();
    }

    @Override
    public Optional<Duration> deadline() {
        return tool.deadline();
    }

    @Override
    public ToolAnswer call(ToolCall call) throws Exception {
        var wrong = wrong(call.input());
        return wrong.isPresent() ? ToolAnswer.error(wrong.get()) : tool.call(call);
    }

    /** What the model is told of an input that does not fit; the tool is not run then. */
    Optional<String> wrong(String input) {
        try {
            return schema.problem(JSON.readTree(input));
        } catch (JacksonException e) {
            return Optional.of("the input is no JSON: " + e.getOriginalMessage());
        }
    }
}
