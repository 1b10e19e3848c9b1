package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * One instruction to the scripted model or to the scripted agent, written as {@code [[name rest]]} in a message or a
 * {@link Scenario}.
 *
 * @param name the first word, never empty
 * @param rest what follows it, trimmed; empty when there is nothing
 */
record Directive(String name, String rest) {

    /** All directives of a text, in order. {@code ]]} inside the braces of a JSON argument does not end one. */
    static List<Directive> in(String text) {
        List<Directive> found = new ArrayList<>();
        int at = text.indexOf("[[");
        while (at >= 0) {
            int end = end(text, at + 2);
            if (end < 0) {
                break;
            }
            String body = text.substring(at + 2, end).strip();
            if (!body.isEmpty()) {
                found.add(of(body));
            }
            at = text.indexOf("[[", end + 2);
        }
        return found;
    }

    /** The text with its directives taken out, stripped. */
    static String textWithout(String text) {
        StringBuilder left = new StringBuilder();
        int from = 0;
        int at = text.indexOf("[[");
        while (at >= 0) {
            int end = end(text, at + 2);
            if (end < 0) {
                break;
            }
            left.append(text, from, at);
            from = end + 2;
            at = text.indexOf("[[", from);
        }
        return left.append(text, from, text.length()).toString().strip();
    }

    private static Directive of(String body) {
        int space = 0;
        while (space < body.length() && !Character.isWhitespace(body.charAt(space))) {
            space++;
        }
        return new Directive(body.substring(0, space), body.substring(space).strip());
    }

    /** The first word of {@link #rest}, or the empty text. */
    String word() {
        return of(rest.isEmpty() ? " " : rest).name();
    }

    /** What follows {@link #word()}. */
    String afterWord() {
        return of(rest.isEmpty() ? " " : rest).rest();
    }

    /** The directive in {@link #afterWord()}, as in {@code [[once KEY crash]]}. */
    Directive inner() {
        return of(afterWord().isEmpty() ? "nothing" : afterWord());
    }

    /** The first word as a whole number, else the given one. */
    long number(long otherwise) {
        try {
            return Long.parseLong(word());
        } catch (NumberFormatException noNumber) {
            return otherwise;
        }
    }

    boolean is(String wanted) {
        return name.equals(wanted);
    }

    private static int end(String text, int from) {
        int braces = 0;
        boolean quoted = false;
        for (int at = from; at < text.length(); at++) {
            char c = text.charAt(at);
            if (braces > 0 && c == '"' && text.charAt(at - 1) != '\\') {
                quoted = !quoted;
            } else if (!quoted && c == '{') {
                braces++;
            } else if (!quoted && c == '}' && braces > 0) {
                braces--;
            } else if (braces == 0 && c == ']' && text.startsWith("]]", at)) {
                return at;
            }
        }
        return -1;
    }
}
