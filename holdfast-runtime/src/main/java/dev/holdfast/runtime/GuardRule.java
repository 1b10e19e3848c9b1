package dev.holdfast.runtime;

import dev.holdfast.GuardedCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.Verdict;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One rule of a {@link GuardPolicy}: which calls it is for, and what happens to them. Immutable; every method that takes a
 * value returns a changed copy. Patterns of names are whole, with {@code *} for any characters and {@code ?} for one.
 *
 * @param name shown in the audit: 1 to 100 characters
 * @param tool pattern of the tool's name
 * @param input what must be found in the input
 * @param session pattern of the session's name
 * @param author pattern of the author's name; one for everybody also takes turns that nobody sent a message for
 * @param effects of the tool
 * @param text the reason of a denial, or the question
 * @param otherwise whether an asked call runs where nobody can be asked
 */
public record GuardRule(
        String name,
        String tool,
        Optional<InputPattern> input,
        String session,
        String author,
        Set<ToolEffects> effects,
        Decision decision,
        String text,
        boolean otherwise) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** What happens to a call. */
    public enum Decision {
        ALLOW,
        DENY,
        ASK,
        /** It runs where somebody could be asked, and is denied where nobody could. */
        UNATTENDED_DENY
    }

    /**
     * A regular expression to be found in the input.
     *
     * @param field whose text it is looked for in, with dots between the names of nested ones; empty for the whole input,
     *     written as JSON without blanks
     */
    public record InputPattern(String field, String regex) {
        public InputPattern {
            compiled(regex);
        }

        private static Pattern compiled(String regex) {
            try {
                return Pattern.compile(regex, Pattern.DOTALL);
            } catch (PatternSyntaxException e) {
                throw new IllegalArgumentException(
                        "the pattern '" + regex + "' is no regular expression: " + e.getDescription());
            }
        }

        boolean matches(String json) {
            JsonNode node;
            try {
                node = JSON.readTree(json);
            } catch (JacksonException notJson) {
                return compiled(regex).matcher(new Interruptible(json)).find();
            }
            if (!field.isEmpty()) {
                for (String name : field.split("\\.", -1)) {
                    node = node.path(name);
                }
                if (node.isMissingNode()) {
                    return false;
                }
            }
            var text = node.isString() ? node.stringValue() : JSON.writeValueAsString(node);
            return compiled(regex).matcher(new Interruptible(text)).find();
        }
    }

    public GuardRule {
        if (name.isBlank() || name.length() > 100) {
            throw new IllegalArgumentException("name: a rule's name has 1 to 100 characters; got '" + name + "'");
        }
        requirePattern("tool", tool);
        requirePattern("session", session);
        requirePattern("author", author);
        if (effects.isEmpty()) {
            throw new IllegalArgumentException("effects: name at least one of read, write, destructive");
        }
        effects = Set.copyOf(effects);
        if (text.length() > Verdict.QUESTION_MAX / 2) {
            throw new IllegalArgumentException("the text of rule '" + name + "' has " + text.length()
                    + " characters; use at most " + Verdict.QUESTION_MAX / 2);
        }
    }

    /** For every call. */
    public static GuardRule of(String name, Decision decision) {
        return new GuardRule(name, "*", Optional.empty(), "*", "*", Set.of(ToolEffects.values()), decision, "", false);
    }

    public GuardRule tool(String pattern) {
        return new GuardRule(name, pattern, input, session, author, effects, decision, text, otherwise);
    }

    /** @param field as in {@link InputPattern#field} */
    public GuardRule input(String field, String regex) {
        var pattern = Optional.of(new InputPattern(field, regex));
        return new GuardRule(name, tool, pattern, session, author, effects, decision, text, otherwise);
    }

    public GuardRule session(String pattern) {
        return new GuardRule(name, tool, input, pattern, author, effects, decision, text, otherwise);
    }

    public GuardRule author(String pattern) {
        return new GuardRule(name, tool, input, session, pattern, effects, decision, text, otherwise);
    }

    public GuardRule effects(ToolEffects... of) {
        return new GuardRule(name, tool, input, session, author, Set.of(of), decision, text, otherwise);
    }

    /** The reason of a denial, or the question. */
    public GuardRule text(String words) {
        return new GuardRule(name, tool, input, session, author, effects, decision, words, otherwise);
    }

    /** An asked call runs where nobody can be asked. */
    public GuardRule otherwiseAllow() {
        return new GuardRule(name, tool, input, session, author, effects, decision, text, true);
    }

    boolean takes(GuardedCall call) {
        return effects.contains(call.effects())
                && like(tool, call.tool())
                && like(session, call.session().value())
                && (author.equals("*")
                        || call.author().filter(a -> like(author, a.name())).isPresent())
                && (input.isEmpty() || input.get().matches(call.input()));
    }

    Verdict verdict(GuardedCall call) {
        return switch (decision) {
            case ALLOW -> new Verdict.Allow(name);
            case DENY -> denied(call);
            case ASK -> new Verdict.Ask(name, question(call), otherwise);
            case UNATTENDED_DENY -> call.interactive() ? new Verdict.Allow(name) : denied(call);
        };
    }

    private Verdict denied(GuardedCall call) {
        var why = text.isEmpty() ? "the rule '" + name + "' of this host is against " + call.tool() : text;
        return new Verdict.Deny(name, why);
    }

    /** With the exact input, since that is what is approved. */
    private String question(GuardedCall call) {
        var asked = (text.isEmpty() ? "May the agent use " + call.tool() + "?" : text) + "\n" + call.tool() + " "
                + call.input();
        return asked.length() > Verdict.QUESTION_MAX ? asked.substring(0, Verdict.QUESTION_MAX - 1) + "…" : asked;
    }

    private static void requirePattern(String field, String pattern) {
        if (pattern.isBlank() || pattern.length() > 200) {
            throw new IllegalArgumentException(
                    field + ": a pattern of names has 1 to 200 characters; got '" + pattern + "'");
        }
    }

    /** Linear: of each star only the last chance is kept. */
    static boolean like(String pattern, String text) {
        int p = 0;
        int t = 0;
        int star = -1;
        int from = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                from = t;
            } else if (p < pattern.length() && (pattern.charAt(p) == '?' || pattern.charAt(p) == text.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++from;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }

    /** Lets a pattern that never ends be stopped with its thread. */
    private record Interruptible(CharSequence text) implements CharSequence {
        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("the pattern took too long");
            }
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return new Interruptible(text.subSequence(start, end));
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
