package dev.holdfast.cli;

/**
 * Words of agents and senders made safe for a terminal: of all control characters only line feed and tab pass. The
 * others, ESC and the C1 range included, become visible signs, so that no escape sequence survives; marks that turn the
 * reading direction become signs too. Works on any fragment by itself.
 */
final class TerminalText {
    private static final char PICTURES = '\u2400';
    private static final char DELETE = 0x7f;
    private static final char DELETE_PICTURE = '\u2421';
    private static final char REPLACEMENT = '\ufffd';

    private TerminalText() {}

    static String safe(String text) {
        var safe = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n') {
                continue;
            }
            safe.append(safe(c));
        }
        return safe.toString();
    }

    private static char safe(char c) {
        if (c == '\n' || c == '\t') {
            return c;
        }
        if (c < ' ') {
            return (char) (PICTURES + c);
        }
        if (c == DELETE) {
            return DELETE_PICTURE;
        }
        boolean control = c > DELETE && c < '\u00a0';
        boolean turnsDirection = (c >= '\u202a' && c <= '\u202e') || (c >= '\u2066' && c <= '\u2069');
        return control || turnsDirection ? REPLACEMENT : c;
    }

    /** The same in one line of at most {@code limit} characters; a longer one is cut and the cut shown. */
    static String line(String text, int limit) {
        String line = safe(text.strip()).replace('\n', ' ').replace('\t', ' ');
        if (line.length() <= limit) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(limit - 2)) ? limit - 2 : limit - 1;
        return line.substring(0, end) + "…";
    }
}
