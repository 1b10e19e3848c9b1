package dev.holdfast;

/** Makes untrusted text safe to show in one line of an error message: control characters replaced, length bounded. */
final class Printable {
    private static final int LIMIT = 80;

    private Printable() {}

    static String shortened(String text) {
        var out = new StringBuilder();
        text.codePoints().limit(LIMIT).forEach(c -> out.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return text.length() > LIMIT ? out + "…" : out.toString();
    }
}
