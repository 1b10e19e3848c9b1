package dev.holdfast;

import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a turn may carry besides its messages (HN-06): as a rule only how many steps the model may take.
 *
 * @param named by name; only names the harness knows
 */
public record TurnOptions(Map<String, String> named) {
    /** The most steps a model takes in a turn: a whole number of at least 1. */
    public static final String MAX_TURNS = "max_turns";

    public TurnOptions {
        named = Map.copyOf(named);
        if (named.containsKey(MAX_TURNS)) {
            number(named.get(MAX_TURNS));
        }
    }

    public static TurnOptions none() {
        return new TurnOptions(Map.of());
    }

    /** The most steps, when it was given. */
    public OptionalInt maxTurns() {
        var given = named.get(MAX_TURNS);
        return given == null ? OptionalInt.empty() : OptionalInt.of(number(given));
    }

    /**
     * Checks names.
     *
     * @throws IllegalArgumentException naming every option that is not among {@code known}, and those that are
     */
    public static TurnOptions of(String harness, Map<String, String> given, Set<String> known) {
        var unknown = new TreeSet<>(given.keySet());
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("harness '" + harness + "' does not know the turn options " + unknown
                    + "; it knows " + new TreeSet<>(known));
        }
        return new TurnOptions(given);
    }

    private static int number(String text) {
        try {
            int number = Integer.parseInt(text);
            if (number >= 1) {
                return number;
            }
        } catch (NumberFormatException e) { // said below, with what was given
        }
        throw new IllegalArgumentException(
                "option " + MAX_TURNS + " is a whole number of at least 1; got '" + Printable.shortened(text) + "'");
    }
}
