package dev.holdfast;

/**
 * What a guard says of one call. Used once, and for 5 seconds at most; then the call is judged again (TL-04). Each names the
 * rule it follows from, which the audit shows: 1 to 100 characters.
 */
public sealed interface Verdict {
    /** The longest question, in characters. */
    int QUESTION_MAX = 4_000;

    String rule();

    /** It runs. */
    record Allow(String rule) implements Verdict {
        public Allow {
            requireRule(rule);
        }
    }

    /**
     * It does not run.
     *
     * @param reason the model reads it
     */
    record Deny(String rule, String reason) implements Verdict {
        public Deny {
            requireRule(rule);
            requireText("the reason of a denial", reason);
        }
    }

    /**
     * A person decides.
     *
     * @param question for that person, at most {@value #QUESTION_MAX} characters
     * @param otherwise whether it runs where nobody can be asked
     */
    record Ask(String rule, String question, boolean otherwise) implements Verdict {
        public Ask {
            requireRule(rule);
            requireText("a question", question);
        }
    }

    static Verdict allow(String rule) {
        return new Allow(rule);
    }

    static Verdict deny(String rule, String reason) {
        return new Deny(rule, reason);
    }

    /** Denied where nobody can be asked. */
    static Verdict ask(String rule, String question) {
        return new Ask(rule, question, false);
    }

    private static void requireRule(String rule) {
        if (rule.isBlank() || rule.length() > 100) {
            throw new IllegalArgumentException(
                    "the name of a rule has 1 to 100 characters; got '" + Printable.shortened(rule) + "'");
        }
    }

    private static void requireText(String what, String text) {
        if (text.isBlank() || text.length() > QUESTION_MAX) {
            throw new IllegalArgumentException(
                    what + " has 1 to " + QUESTION_MAX + " characters; got " + text.length() + ", or only blanks");
        }
    }
}
