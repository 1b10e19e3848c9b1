package dev.holdfast.claude;

import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** A piece of what the agent wrote, exactly as it wrote it, so that fields nobody here models stay within reach. Immutable. */
public final class RawJson {
    private final JsonNode node;

    RawJson(JsonNode node) {
        this.node = node;
    }

    static RawJson none() {
        return new RawJson(MissingNode.getInstance());
    }

    /** As JSON text; empty when there is nothing. */
    public String json() {
        return node.isMissingNode() ? "" : node.toString();
    }

    /**
     * The value at a path of names, {@code "usage", "service_tier"}: a string as its text, anything else as JSON text;
     * absent when there is none or it is null.
     */
    public Optional<String> at(String... names) {
        JsonNode found = node;
        for (String name : names) {
            found = found.path(name);
        }
        if (found.isMissingNode() || found.isNull()) {
            return Optional.empty();
        }
        return Optional.of(found.isString() ? found.stringValue() : found.toString());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RawJson raw && raw.node.equals(node);
    }

    @Override
    public int hashCode() {
        return node.hashCode();
    }

    @Override
    public String toString() {
        return json();
    }
}
