package dev.holdfast.testkit;

/** Reads one JSON value from a text. Recursive, to a depth of {@link Json#MAX_DEPTH}; used by one thread. */
final class JsonReader {
    private final String text;
    private int at;

    JsonReader(String text) {
        this.text = text;
    }

    Json document() {
        Json value = value(0);
        skipBlank();
        if (at != text.length()) {
            throw wrong("something behind the value");
        }
        return value;
    }

    private Json value(int depth) {
        if (depth > Json.MAX_DEPTH) {
            throw wrong("nested deeper than " + Json.MAX_DEPTH);
        }
        skipBlank();
        char c = peek();
        return switch (c) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> new Json.Str(string());
            case 't' -> word("true", new Json.Bool(true));
            case 'f' -> word("false", new Json.Bool(false));
            case 'n' -> word("null", Json.Nil.NIL);
            default -> number();
        };
    }

    private Json object(int depth) {
        Json.Obj object = new Json.Obj();
        at++;
        skipBlank();
        if (peek() == '}') {
            at++;
            return object;
        }
        while (true) {
            skipBlank();
            if (peek() != '"') {
                throw wrong("expected a member name");
            }
            String name = string();
            skipBlank();
            expect(':');
            object.with(name, value(depth + 1));
            skipBlank();
            char next = peek();
            at++;
            if (next == '}') {
                return object;
            }
            if (next != ',') {
                throw wrong("expected , or }");
            }
        }
    }

    private Json array(int depth) {
        Json.Arr array = new Json.Arr();
        at++;
        skipBlank();
        if (peek() == ']') {
            at++;
            return array;
        }
        while (true) {
            array.add(value(depth + 1));
            skipBlank();
            char next = peek();
            at++;
            if (next == ']') {
                return array;
            }
            if (next != ',') {
                throw wrong("expected , or ]");
            }
        }
    }

    private String string() {
        at++;
        int from = at;
        int end = from;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\\') {
            if (text.charAt(end) < 0x20) {
                at = end;
                throw wrong("control character in a string");
            }
            end++;
        }
        if (end < text.length() && text.charAt(end) == '"') {
            at = end + 1;
            return text.substring(from, end);
        }
        StringBuilder out = new StringBuilder(end - from + 64);
        out.append(text, from, end);
        at = end;
        return escaped(out);
    }

    private String escaped(StringBuilder out) {
        while (true) {
            char c = peek();
            at++;
            if (c == '"') {
                return out.toString();
            }
            if (c < 0x20) {
                throw wrong("control character in a string");
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escape = peek();
            at++;
            switch (escape) {
                case '"', '\\', '/' -> out.append(escape);
                case 'n' -> out.append('\n');
                case 'r' -> out.append('\r');
                case 't' -> out.append('\t');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> out.append(unicode());
                default -> throw wrong("unknown escape");
            }
        }
    }

    private char unicode() {
        if (at + 4 > text.length()) {
            throw wrong("unfinished escape");
        }
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(text.charAt(at + i), 16);
            if (digit < 0) {
                throw wrong("unfinished escape");
            }
            code = code * 16 + digit;
        }
        at += 4;
        return (char) code;
    }

    private Json word(String word, Json value) {
        if (!text.startsWith(word, at)) {
            throw wrong("not a JSON value");
        }
        at += word.length();
        return value;
    }

    private Json number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String literal = text.substring(from, at);
        boolean valid = !literal.isEmpty() && literal.charAt(0) != '+' && literal.charAt(0) != '.';
        if (valid) {
            try {
                valid = !Double.isNaN(Double.parseDouble(literal));
            } catch (NumberFormatException notANumber) {
                valid = false;
            }
        }
        if (!valid) {
            at = from;
            throw wrong("not a JSON value");
        }
        return new Json.Num(literal);
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw wrong("expected " + wanted);
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("the text ends too early");
        }
        return text.charAt(at);
    }

    private void skipBlank() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private Json.Malformed wrong(String why) {
        return new Json.Malformed(why + " at character " + at + " of " + text.length());
    }
}
