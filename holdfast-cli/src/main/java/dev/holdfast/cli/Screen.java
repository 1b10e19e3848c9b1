package dev.holdfast.cli;

import java.io.PrintWriter;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Prints for a person, with colour where it is wanted, or one JSON object a line for a program. Thread-safe. */
final class Screen {
    private static final int NUMBER_WIDTH = 5;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final PrintWriter out;
    private final boolean colour;
    private final boolean json;

    Screen(PrintWriter out, boolean colour, boolean json) {
        this.out = out;
        this.colour = colour;
        this.json = json;
    }

    /** How words look. */
    enum Style {
        PLAIN(""),
        BOLD("1"),
        DIM("2"),
        RED("31"),
        GREEN("32"),
        YELLOW("33"),
        BLUE("34"),
        CYAN("36");

        private final String code;

        Style(String code) {
            this.code = code;
        }
    }

    boolean json() {
        return json;
    }

    /** The words, made safe, in this style. */
    String styled(Style style, String words) {
        return mark(style, TerminalText.safe(words));
    }

    private String mark(Style style, String safe) {
        return colour && style != Style.PLAIN && !safe.isEmpty()
                ? "\u001b[" + style.code + "m" + safe + "\u001b[0m"
                : safe;
    }

    /** A line of what {@link #styled} gave. */
    void line(String ready) {
        out.println(ready);
        out.flush();
    }

    void line(Style style, String words) {
        line(styled(style, words));
    }

    void blank() {
        line("");
    }

    /** Part of a line. */
    void part(String ready) {
        out.print(ready);
        out.flush();
    }

    void object(Map<String, ?> members) {
        line(JSON.writeValueAsString(members));
    }

    void object(ObjectNode members) {
        line(JSON.writeValueAsString(members));
    }

    /** Words over several lines, the ones after the first set in. */
    String setIn(int columns, String words) {
        return TerminalText.safe(words.strip()).replace("\n", "\n" + " ".repeat(columns));
    }

    /** A sequence number at the beginning of a line, in a column of its own. */
    static String number(long seq) {
        String digits = Long.toString(seq);
        return " ".repeat(Math.max(0, NUMBER_WIDTH - digits.length())) + digits;
    }

    static String padded(String words, int width) {
        return words.length() >= width ? words : words + " ".repeat(width - words.length());
    }
}
