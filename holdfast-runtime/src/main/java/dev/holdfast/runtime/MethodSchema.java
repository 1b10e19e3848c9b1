package dev.holdfast.runtime;

import com.github.victools.jsonschema.generator.CustomDefinition;
import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import dev.holdfast.Describe;
import dev.holdfast.ToolCall;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Derives the input schema of a tool from the parameters of its method, and refuses those that no schema describes. */
final class MethodSchema {
    private static final Set<Class<?>> VALUES = Set.of(
            boolean.class,
            Boolean.class,
            byte.class,
            Byte.class,
            short.class,
            Short.class,
            int.class,
            Integer.class,
            long.class,
            Long.class,
            float.class,
            Float.class,
            double.class,
            Double.class,
            String.class,
            BigInteger.class,
            BigDecimal.class);

    /** How a value of this type is written. */
    private record Written(String format, String example) {}

    private static final Map<Class<?>, Written> WRITTEN = Map.of(
            Instant.class, new Written("date-time", "2026-01-31T14:30:00Z"),
            OffsetDateTime.class, new Written("date-time", "2026-01-31T14:30:00+01:00"),
            ZonedDateTime.class, new Written("date-time", "2026-01-31T14:30:00+01:00"),
            LocalDate.class, new Written("date", "2026-01-31"),
            LocalTime.class, new Written("", "14:30:00"),
            LocalDateTime.class, new Written("", "2026-01-31T14:30:00"),
            Duration.class, new Written("duration", "PT1H30M"),
            UUID.class, new Written("uuid", "123e4567-e89b-12d3-a456-426614174000"));

    private static final Set<Class<?>> LISTS = Set.of(List.class, Set.class, Collection.class);

    private MethodSchema() {}

    /** @throws IllegalArgumentException naming the method and the parameter */
    static ObjectNode of(Method method) {
        var generator = generator();
        var root = JsonNodeFactory.instance.objectNode().put("type", "object");
        var properties = root.putObject("properties");
        var required = JsonNodeFactory.instance.arrayNode();
        for (Parameter p : method.getParameters()) {
            if (p.getType() == ToolCall.class) {
                continue;
            }
            if (!p.isNamePresent()) {
                throw new IllegalArgumentException("the parameters of " + method
                        + " have no names in the class file: compile it with -parameters");
            }
            check(p.getParameterizedType(), "parameter '" + p.getName() + "' of " + method, new ArrayList<>());
            var schema = generator.generateSchema(required(p.getParameterizedType()));
            schema.remove("$schema");
            description(p).ifPresent(text -> schema.put("description", text));
            properties.set(p.getName(), schema);
            if (p.getType() != Optional.class) {
                required.add(p.getName());
            }
        }
        root.set("required", required);
        root.put("additionalProperties", false);
        return root;
    }

    /** What an Optional holds when it is not left out. */
    private static Type required(Type type) {
        return type instanceof ParameterizedType p && p.getRawType() == Optional.class
                ? p.getActualTypeArguments()[0]
                : type;
    }

    private static Optional<String> description(AnnotatedElement element) {
        return Optional.ofNullable(element.getAnnotation(Describe.class)).map(Describe::value);
    }

    private static void check(Type type, String where, List<Class<?>> around) {
        switch (type) {
            case Class<?> c
            when c.isArray() -> {
                if (c.getComponentType() == byte.class || c.getComponentType() == char.class) {
                    throw refused(type, where, "use a String");
                }
                check(c.getComponentType(), where, around);
            }
            case Class<?> c when c.isRecord() -> checkRecord(c, where, around);
            case Class<?> c -> {
                if (!VALUES.contains(c) && !WRITTEN.containsKey(c) && !c.isEnum()) {
                    throw refused(
                            type,
                            where,
                            "use a record, an enum, a String, a number, a boolean, a java.time value,"
                                    + " a List, a Map or an Optional of these");
                }
            }
            case ParameterizedType p -> checkGeneric(p, where, around);
            default -> throw refused(type, where, "name a type without type variables and wildcards");
        }
    }

    private static void checkGeneric(ParameterizedType type, String where, List<Class<?>> around) {
        Type[] arguments = type.getActualTypeArguments();
        Class<?> raw = (Class<?>) type.getRawType();
        if (raw == Optional.class && arguments[0] instanceof ParameterizedType p && p.getRawType() == Optional.class) {
            throw refused(type, where, "one Optional says it");
        } else if (raw == Optional.class || LISTS.contains(raw)) {
            check(arguments[0], where, around);
        } else if (raw == Map.class) {
            if (arguments[0] != String.class && !(arguments[0] instanceof Class<?> key && key.isEnum())) {
                throw refused(type, where, "the keys of a Map must be Strings or an enum");
            }
            check(arguments[1], where, around);
        } else if (raw.isRecord()) {
            throw refused(type, where, "use a record without type parameters");
        } else {
            throw refused(type, where, "of the generic types, use List, Set, Map or Optional");
        }
    }

    private static void checkRecord(Class<?> type, String where, List<Class<?>> around) {
        if (around.contains(type)) {
            throw refused(type, where, "a record that contains itself has no end; use a List with references");
        }
        around.add(type);
        for (RecordComponent component : type.getRecordComponents()) {
            check(component.getGenericType(), "component '" + component.getName() + "' in " + where, around);
        }
        around.removeLast();
    }

    private static IllegalArgumentException refused(Type type, String where, String instead) {
        return new IllegalArgumentException(
                where + " has the type " + type.getTypeName() + ", which a tool's input cannot have: " + instead);
    }

    private static SchemaGenerator generator() {
        var config = new SchemaGeneratorConfigBuilder(SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
                .with(Option.FORBIDDEN_ADDITIONAL_PROPERTIES_BY_DEFAULT)
                .with(Option.MAP_VALUES_AS_ADDITIONAL_PROPERTIES)
                .with(Option.INLINE_ALL_SCHEMAS)
                .with(Option.FLATTENED_OPTIONALS)
                .with(Option.FLATTENED_ENUMS);
        config.forFields()
                .withDescriptionResolver(f -> Optional.ofNullable(f.getAnnotation(Describe.class))
                        .map(Describe::value)
                        .orElse(null))
                .withRequiredCheck(f -> f.getType().getErasedType() != Optional.class
                        && f.getDeclaringType().getErasedType().isRecord());
        config.forTypesInGeneral().withCustomDefinitionProvider((type, context) -> {
            var written = WRITTEN.get(type.getErasedType());
            return written == null ? null : new CustomDefinition(text(written));
        });
        return new SchemaGenerator(config.build());
    }

    private static ObjectNode text(Written written) {
        var schema = JsonNodeFactory.instance.objectNode().put("type", "string");
        if (!written.format().isEmpty()) {
            schema.put("format", written.format());
        }
        schema.putArray("examples").add(written.example());
        return schema;
    }
}
