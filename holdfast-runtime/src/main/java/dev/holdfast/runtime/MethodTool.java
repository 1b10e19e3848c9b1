package dev.holdfast.runtime;

import dev.holdfast.AgentTool;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A tool that is a method marked with {@link AgentTool}. A field that is null counts as left out. Thread-safe if the method is. */
final class MethodTool implements Tool {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .disable(EnumFeature.READ_ENUMS_USING_TO_STRING, EnumFeature.WRITE_ENUMS_USING_TO_STRING)
            .build();

    private final Object target;
    private final Method method;
    private final AgentTool annotation;
    private final ToolSpec spec;
    private final InputSchema schema;

    /** @throws IllegalArgumentException when the method cannot be a tool; the message names it, and the parameter */
    MethodTool(Object target, Method method) {
        this.target = target;
        this.method = method;
        this.annotation = method.getAnnotation(AgentTool.class);
        var name = annotation.name().isEmpty() ? method.getName() : annotation.name();
        this.spec =
                new ToolSpec(name, annotation.value(), MethodSchema.of(method).toString());
        this.schema = InputSchema.of(name, spec.inputSchema());
        if (annotation.deadlineSeconds() < 0) {
            CheckedTool.positive(name, Duration.ofSeconds(annotation.deadlineSeconds()));
        }
        if (!method.trySetAccessible()) {
            throw new IllegalArgumentException("method " + method + " cannot be called: open its package to "
                    + Tools.class.getModule().getName()
                    + ", or make class and method public in an exported package");
        }
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public ToolEffects effects() {
        return annotation.effects();
    }

    @Override
    public boolean idempotent() {
        return annotation.idempotent();
    }

    @Override
    public Optional<Duration> deadline() {
        return annotation.deadlineSeconds() == 0
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds(annotation.deadlineSeconds()));
    }

    @Override
    public ToolAnswer call(ToolCall call) throws Exception {
        JsonNode input;
        try {
            input = withoutNulls(JSON.readTree(call.input()));
        } catch (JacksonException e) {
            return ToolAnswer.error("the input is no JSON: " + e.getOriginalMessage());
        }
        var wrong = schema.problem(input);
        if (wrong.isPresent()) {
            return ToolAnswer.error(wrong.get());
        }
        var parameters = method.getParameters();
        var arguments = new Object[parameters.length];
        for (int i = 0; i < parameters.length; i++) {
            try {
                arguments[i] = parameters[i].getType() == ToolCall.class ? call : argument(parameters[i], input);
            } catch (JacksonException e) {
                return ToolAnswer.error(
                        "the field '" + parameters[i].getName() + "' does not fit: " + e.getOriginalMessage());
            }
        }
        try {
            return answer(method.invoke(target, arguments));
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static JsonNode withoutNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.removeIf(JsonNode::isNull);
            object.forEach(MethodTool::withoutNulls);
        } else if (node instanceof ArrayNode array) {
            array.forEach(MethodTool::withoutNulls);
        }
        return node;
    }

    private static Object argument(Parameter parameter, JsonNode input) {
        var value = input.get(parameter.getName());
        if (value == null) { // the schema requires every other
            return Optional.empty();
        }
        var type = JSON.getTypeFactory().constructType(parameter.getParameterizedType());
        return JSON.readerFor(type).readValue(value);
    }

    private static ToolAnswer answer(Object result) {
        return switch (result) {
            case null -> ToolAnswer.text("done");
            case ToolAnswer answer -> answer;
            case CharSequence text -> ToolAnswer.text(text.toString());
            case Number number -> ToolAnswer.text(number.toString());
            case Boolean bool -> ToolAnswer.text(bool.toString());
            default -> ToolAnswer.json(JSON.writeValueAsString(result));
        };
    }
}
