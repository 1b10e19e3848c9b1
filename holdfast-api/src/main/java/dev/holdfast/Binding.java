package dev.holdfast;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an agent's process keeps from its start to its end, part by part, so that two agents can be told apart by name
 * (HS-03). A part is shown in differences, or is words of which only that they differ is said, or a secret that is compared
 * in memory and recorded nowhere. Immutable and thread-safe; every {@code with}-style method returns a changed copy.
 */
public final class Binding {
    private static final Binding NONE = new Binding(Map.of());
    private static final String DIGEST = "sha256:";
    private static final int SHOWN_MAX = 200;
    private static final String ABSENT = "the default";
    private static final String SET = "set";
    private static final String OF_TOOL = " of tool ";

    private enum Kind {
        SHOWN,
        WORDS,
        SECRET
    }

    private record Part(Kind kind, Optional<String> value) {}

    private final Map<String, Part> parts;

    private Binding(Map<String, Part> parts) {
        this.parts = parts;
    }

    /** Without parts. */
    public static Binding none() {
        return NONE;
    }

    /** A part whose value is shown in differences and recorded; absent stands for the agent's own default. */
    public Binding shown(String part, Optional<?> value) {
        return with(part, Kind.SHOWN, value.map(Object::toString));
    }

    /** As {@link #shown(String, Optional)}, of a value that is always there. */
    public Binding shown(String part, Object value) {
        return shown(part, Optional.of(value));
    }

    /** A part of many words, such as a prompt: differences say that it is another, and a digest of it is recorded. */
    public Binding words(String part, Optional<String> value) {
        return with(part, Kind.WORDS, value);
    }

    /** A part that must not be read or guessed anywhere: differences say that it is another, and it is not recorded. */
    public Binding secret(String part, Optional<String> value) {
        return with(part, Kind.SECRET, value);
    }

    /** A tool, by what an agent is told of it; equal schemas must be equal texts. */
    public Binding tool(ToolSpec spec) {
        var whole = OF_TOOL + "'" + spec.name() + "'";
        return words("description" + whole, Optional.of(spec.description()))
                .words("input schema" + whole, Optional.of(spec.inputSchema()));
    }

    /** With the parts of another as well; of those that both have, the other's. */
    public Binding and(Binding other) {
        var both = new LinkedHashMap<>(parts);
        both.putAll(other.parts);
        return new Binding(both);
    }

    private Binding with(String part, Kind kind, Optional<String> value) {
        if (part.isBlank()) {
            throw new IllegalArgumentException("a part of a binding has no name: give it one, such as 'model'");
        }
        var more = new LinkedHashMap<>(parts);
        more.put(part, new Part(kind, value));
        return new Binding(more);
    }

    /** Every difference of this binding to the one that is in force, by its part's name; empty when there is none. */
    public List<String> differences(Binding inForce) {
        var found = new LinkedHashSet<String>();
        inForce.parts.keySet().stream().filter(name -> !parts.containsKey(name)).forEach(name -> found.add(gone(name)));
        parts.forEach((name, now) -> {
            var then = inForce.parts.get(name);
            if (then == null) {
                found.add(added(name));
            } else if (!then.value().equals(now.value())) {
                found.add(changed(name, then, now));
            }
        });
        return List.copyOf(found);
    }

    /**
     * What of it may be kept beside the session: every part by its name. Of words, and of values of more than 200 characters,
     * digests; of secrets only that they were there.
     */
    public Map<String, String> recorded() {
        var all = new TreeMap<String, String>();
        parts.forEach((name, part) -> all.put(
                name, part.value().map(value -> recorded(part.kind(), value)).orElse("")));
        return Collections.unmodifiableMap(all);
    }

    private static String recorded(Kind kind, String value) {
        return switch (kind) {
            case SHOWN -> value.length() > SHOWN_MAX ? DIGEST + digest(value) : value;
            case WORDS -> DIGEST + digest(value);
            case SECRET -> SET;
        };
    }

    /** As {@link #differences}, between what was recorded of two. */
    public static List<String> changes(Map<String, String> before, Map<String, String> now) {
        var found = new LinkedHashSet<String>();
        new TreeMap<>(before)
                .keySet().stream().filter(name -> !now.containsKey(name)).forEach(name -> found.add(gone(name)));
        new TreeMap<>(now).forEach((name, value) -> {
            var then = before.get(name);
            if (then == null) {
                found.add(added(name));
            } else if (!then.equals(value)) {
                found.add(changed(name, asPart(then), asPart(value)));
            }
        });
        return List.copyOf(found);
    }

    private static Part asPart(String recorded) {
        var kind = recorded.startsWith(DIGEST) ? Kind.WORDS : Kind.SHOWN;
        return new Part(kind, Optional.of(recorded).filter(text -> !text.isEmpty()));
    }

    private static String gone(String part) {
        return whole(part) + " is gone";
    }

    private static String added(String part) {
        return whole(part) + " is new";
    }

    /** A tool comes and goes with all that is said of it. */
    private static String whole(String part) {
        int at = part.indexOf(OF_TOOL);
        return at < 0 ? part : part.substring(at + " of ".length());
    }

    private static String changed(String part, Part then, Part now) {
        if (then.kind() == Kind.SECRET || now.kind() == Kind.SECRET) {
            return part + ": another value";
        }
        return then.kind() == Kind.WORDS || now.kind() == Kind.WORDS
                ? part + ": another text"
                : part + ": " + shown(then) + " is now " + shown(now);
    }

    private static String shown(Part part) {
        String text = part.value().map(each -> "'" + each + "'").orElse(ABSENT);
        return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…'";
    }

    private static String digest(String value) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Binding b && b.parts.equals(parts);
    }

    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    /** The names of the parts; values may be secret. */
    @Override
    public String toString() {
        return "Binding" + parts.keySet();
    }
}
