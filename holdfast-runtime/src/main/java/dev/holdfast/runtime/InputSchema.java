package dev.holdfast.runtime;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.path.PathType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JSON Schema of one tool's input, of any draft from 4 to 2020-12 (the latter unless it names another), and what is wrong
 * with an input by it (TL-05). Reads nothing over the network: a schema that refers elsewhere is refused. Immutable,
 * thread-safe.
 */
final class InputSchema {
    private static final int PROBLEMS_MAX = 5;
    private static final int SHOWN_MAX = 120;
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final SchemaRegistry REGISTRY = SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12,
            registry -> registry.schemaRegistryConfig(SchemaRegistryConfig.builder()
                    .locale(Locale.ENGLISH)
                    .pathType(PathType.JSON_POINTER)
                    .formatAssertionsEnabled(true)
                    .build()));

    private final Schema schema;

    private InputSchema(Schema schema) {
        this.schema = schema;
    }

    /**
     * @param tool the tool's name, for messages
     * @throws IllegalArgumentException when this is no JSON Schema that can be used here
     */
    static InputSchema of(String tool, String text) {
        try {
            JsonNode tree = JSON.readTree(text);
            Schema schema = REGISTRY.getSchema(tree);
            String dialect = schema.getSchemaContext().getDialect().getId();
            var wrong = REGISTRY.getSchema(SchemaLocation.of(dialect)).validate(tree);
            if (!wrong.isEmpty()) {
                throw refused(tool, said(wrong), null);
            }
            schema.initializeValidators(); // resolves what it refers to
            return new InputSchema(schema);
        } catch (JacksonException e) {
            throw refused(tool, e.getOriginalMessage(), e);
        } catch (SchemaException e) {
            throw refused(tool, e.getMessage(), e);
        }
    }

    private static IllegalArgumentException refused(
            String tool,
            @org.jspecify.annotations.Nullable String why,
            @org.jspecify.annotations.Nullable Throwable e) {
        return new IllegalArgumentException(
                "the input schema of tool '" + tool + "' is not a JSON Schema that can be used: " + why, e);
    }

    /** What is wrong with the input, for the model: each field, what it must be and what was given. Empty when it fits. */
    Optional<String> problem(JsonNode input) {
        var wrong = schema.validate(input);
        return wrong.isEmpty() ? Optional.empty() : Optional.of(said(wrong));
    }

    private static String said(List<Error> wrong) {
        var all = wrong.stream()
                .map(InputSchema::said)
                .distinct()
                .limit(PROBLEMS_MAX)
                .collect(Collectors.joining("; "));
        return wrong.size() > PROBLEMS_MAX ? all + "; and more" : all;
    }

    private static String said(Error error) {
        String at = path(error.getInstanceLocation().toString());
        String property = error.getProperty();
        if (property != null && "required".equals(error.getKeyword())) {
            return "the field '" + within(at, property) + "' is missing";
        }
        if (property != null && error.getKeyword().endsWith("Properties")) {
            return "the field '" + within(at, property) + "' is not one this tool has";
        }
        String what = at.isEmpty() ? "the input" : "the field '" + at + "'";
        JsonNode given = error.getInstanceNode();
        return what + " does not fit: " + error.getMessage() + (given == null ? "" : "; given: " + shown(given));
    }

    /** {@code /to/goods/2} as {@code to.goods[2]}. */
    private static String path(String pointer) {
        var path = new StringBuilder();
        for (String step : pointer.split("/", -1)) {
            if (step.isEmpty()) {
                continue;
            }
            String name = step.replace("~1", "/").replace("~0", "~");
            if (name.chars().allMatch(c -> c >= '0' && c <= '9')) {
                path.append('[').append(name).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(name);
            }
        }
        return path.toString();
    }

    private static String within(String at, String name) {
        return at.isEmpty() ? name : at + "." + name;
    }

    private static String shown(JsonNode given) {
        String text = given.toString();
        return text.length() > SHOWN_MAX ? text.substring(0, SHOWN_MAX) + "…" : text;
    }
}
