package dev.holdfast;

import java.util.List;

/** The session is taken up on this host with another agent, or under another policy (HS-03). Nothing was changed. */
public final class BindingMismatch extends HoldfastException {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // an unmodifiable list of texts
    private final List<String> differences;

    /** @param differences every one, by the name of its part; at least one */
    public BindingMismatch(SessionName session, List<String> differences) {
        super("session " + session + " is open here with another binding: " + String.join("; ", differences)
                + ". Open it with the same, or release it first: the next to open it binds it anew");
        if (differences.isEmpty()) {
            throw new IllegalArgumentException("a mismatch of bindings needs at least one difference");
        }
        this.differences = List.copyOf(differences);
    }

    /** Such as {@code model: 'a' is now 'b'}; of prompts and secrets only that they are others. */
    public List<String> differences() {
        return differences;
    }
}
