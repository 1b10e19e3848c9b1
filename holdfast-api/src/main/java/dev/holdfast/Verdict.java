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
     * It does not run before something was connected or logged in, which the call itself cannot do.
     *
     * @param what is to be connected; the model reads it
     */
    record Connect(String rule, String what) implements Verdict {
        public Connect {
            requireRule(rule);
            requireText("what is to be connected", what);
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

    /** Denied until something was connected. */
    static Verdict connect(String rule, String what) {
        return new Connect(rule, what);
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
