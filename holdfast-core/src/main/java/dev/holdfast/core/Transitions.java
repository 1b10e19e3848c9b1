package dev.holdfast.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A static table of allowed transitions. The one place that says which state follows which; the diagram in the documents
 * is generated from it and a transition that no test visits fails the build.
 *
 * @param <S> the states
 * @param <T> the triggers
 */
public final class Transitions<S extends Enum<S>, T extends Enum<T>> {
    private final String name;
    private final Map<S, Map<T, S>> table = new LinkedHashMap<>();

    private Transitions(String name) {
        this.name = name;
    }

    static <S extends Enum<S>, T extends Enum<T>> Transitions<S, T> named(String name) {
        return new Transitions<>(name);
    }

    Transitions<S, T> add(S from, T trigger, S to) {
        if (table.computeIfAbsent(from, k -> new LinkedHashMap<>()).put(trigger, to) != null) {
            throw new IllegalArgumentException(name + ": two transitions for " + from + " on " + trigger);
        }
        return this;
    }

    /** @throws IllegalStateException when the table has no such transition */
    S next(S from, T trigger) {
        var to = table.getOrDefault(from, Map.of()).get(trigger);
        if (to == null) {
            throw new IllegalStateException(name + " does not allow " + trigger + " in " + from);
        }
        return to;
    }

    boolean allows(S from, T trigger) {
        return table.getOrDefault(from, Map.of()).containsKey(trigger);
    }

    public String name() {
        return name;
    }

    /** Every transition, in the order of the table. */
    public List<Row<S, T>> rows() {
        var rows = new ArrayList<Row<S, T>>();
        table.forEach((from, byTrigger) -> byTrigger.forEach((trigger, to) -> rows.add(new Row<>(from, trigger, to))));
        return rows;
    }

    /** One transition. */
    public record Row<S, T>(S from, T trigger, S to) {}
}
