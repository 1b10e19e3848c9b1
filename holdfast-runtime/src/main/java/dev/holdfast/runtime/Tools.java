package dev.holdfast.runtime;

import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import dev.holdfast.Agent;
import dev.holdfast.AgentTool;
import dev.holdfast.Binding;
import dev.holdfast.Describe;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Makes {@link Tool}s of the objects a user binds: those that are tools, and those with {@link AgentTool} methods. */
final class Tools {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .build();

    private static final JsonMapper SORTED = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    private Tools() {}

    /**
     * Every tool by its name, in the order bound.
     *
     * @throws IllegalArgumentException for an object without tools, a tool that cannot be derived, or a name used twice
     */
    static Map<String, Tool> of(List<Object> sources) {
        var tools = new LinkedHashMap<String, Tool>();
        for (Object source : sources) {
            if (source instanceof Tool tool) {
                add(tools, tool);
                continue;
            }
            int before = tools.size();
            for (Method method : source.getClass().getMethods()) {
                var annotation = method.getAnnotation(AgentTool.class);
                if (annotation != null) {
                    add(tools, new MethodTool(source, method, annotation));
                }
            }
            if (tools.size() == before) {
                throw new IllegalArgumentException(
                        source.getClass().getName() + " is no Tool and has no public method marked with @AgentTool");
            }
        }
        return tools;
    }

    /** What is bound with an agent: its own parts, its harness and what it is told of the tools (HS-03). */
    static Binding binding(Agent agent, Map<String, Tool> tools) {
        var binding = Binding.none().shown("harness", agent.harness().name()).and(agent.binding());
        for (Tool tool : tools.values()) {
            var spec = tool.spec();
            binding = binding.tool(new ToolSpec(spec.name(), spec.description(), canonical(spec)));
        }
        return binding;
    }

    /** The order of names and the spaces between them mean nothing. */
    private static String canonical(ToolSpec spec) {
        try {
            return SORTED.writeValueAsString(SORTED.readValue(spec.inputSchema(), Object.class));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "the input schema of tool '" + spec.name() + "' is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static void add(Map<String, Tool> tools, Tool tool) {
        if (tools.putIfAbsent(tool.spec().name(), tool) != null) {
            throw new IllegalArgumentException(
                    "two tools are named '" + tool.spec().name() + "': rename one of them");
        }
    }

    private static final class MethodTool implements Tool {
        private final Object target;
        private final Method method;
        private final AgentTool annotation;
        private final ToolSpec spec;
        private final JsonNode schema;

        MethodTool(Object target, Method method, AgentTool annotation) {
            this.target = target;
            this.method = method;
            this.annotation = annotation;
            var name = annotation.name().isEmpty() ? method.getName() : annotation.name();
            this.schema = schema(method);
            this.spec = new ToolSpec(name, annotation.value(), JSON.writeValueAsString(schema));
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
        public ToolAnswer call(ToolCall call) throws Exception {
            Object[] arguments;
            try {
                arguments = arguments(call);
            } catch (JacksonException e) {
                return ToolAnswer.error("the input does not fit the tool's schema: " + e.getOriginalMessage());
            } catch (BadInput e) {
                return ToolAnswer.error(e.what);
            }
            try {
                return answer(method.invoke(target, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        private Object[] arguments(ToolCall call) throws BadInput {
            var input = JSON.readTree(call.input());
            complete(schema, input, "");
            var parameters = method.getParameters();
            var arguments = new Object[parameters.length];
            for (int i = 0; i < parameters.length; i++) {
                arguments[i] = parameters[i].getType() == ToolCall.class ? call : argument(parameters[i], input);
            }
            return arguments;
        }

        /** Every required field is there, also within; the mapper would take an absent number for 0. */
        private static void complete(JsonNode schema, JsonNode value, String path) throws BadInput {
            for (JsonNode name : schema.path("required")) {
                var field = value.get(name.asString());
                if (field == null || field.isNull()) {
                    throw new BadInput("the field '" + path + name.asString() + "' is missing");
                }
            }
            for (var property : schema.path("properties").properties()) {
                if (value.has(property.getKey())) {
                    complete(property.getValue(), value.get(property.getKey()), path + property.getKey() + ".");
                }
            }
            for (JsonNode item : value.isArray() ? value : JSON.createArrayNode()) {
                complete(schema.path("items"), item, path);
            }
        }

        private static Object argument(Parameter parameter, JsonNode input) throws BadInput {
            var value = input.get(parameter.getName());
            if (value == null || value.isNull()) {
                if (parameter.getType() == Optional.class) {
                    return Optional.empty();
                }
                throw new BadInput("the field '" + parameter.getName() + "' is missing");
            }
            try {
                var type = JSON.getTypeFactory().constructType(parameter.getParameterizedType());
                return JSON.readerFor(type).readValue(value);
            } catch (JacksonException e) {
                throw new BadInput("the field '" + parameter.getName() + "' does not fit: " + e.getOriginalMessage());
            }
        }

        private static ToolAnswer answer(Object result) {
            return switch (result) {
                case null -> ToolAnswer.text("done");
                case ToolAnswer answer -> answer;
                case CharSequence text -> ToolAnswer.text(text.toString());
                default -> ToolAnswer.text(JSON.writeValueAsString(result));
            };
        }

        private static JsonNode schema(Method method) {
            var generator = generator();
            var root = JSON.createObjectNode().put("type", "object");
            var properties = root.putObject("properties");
            var required = JSON.createArrayNode();
            for (Parameter p : method.getParameters()) {
                if (p.getType() == ToolCall.class) {
                    continue;
                }
                if (!p.isNamePresent()) {
                    throw new IllegalArgumentException("the parameters of " + method
                            + " have no names in the class file: compile it with -parameters");
                }
                var schema = generator.generateSchema(p.getParameterizedType());
                schema.remove("$schema");
                var description = p.getAnnotation(Describe.class);
                if (description != null) {
                    schema.put("description", description.value());
                }
                properties.set(p.getName(), schema);
                if (p.getType() != Optional.class) {
                    required.add(p.getName());
                }
            }
            root.set("required", required);
            root.put("additionalProperties", false);
            return root;
        }

        private static SchemaGenerator generator() {
            var config = new SchemaGeneratorConfigBuilder(SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
                    .with(Option.FORBIDDEN_ADDITIONAL_PROPERTIES_BY_DEFAULT)
                    .with(Option.INLINE_ALL_SCHEMAS)
                    .with(Option.FLATTENED_OPTIONALS)
                    .with(Option.FLATTENED_ENUMS);
            config.forFields()
                    .withDescriptionResolver(f -> Optional.ofNullable(f.getAnnotation(Describe.class))
                            .map(Describe::value)
                            .orElse(null))
                    .withRequiredCheck(f -> f.getType().getErasedType() != Optional.class
                            && f.getDeclaringType().getErasedType().isRecord());
            return new SchemaGenerator(config.build());
        }
    }

    /** An input that breaks the schema; the model is told which field. */
    private static final class BadInput extends Exception {
        private static final long serialVersionUID = 1;

        private final String what;

        BadInput(String what) {
            super(what);
            this.what = what;
        }
    }
}
