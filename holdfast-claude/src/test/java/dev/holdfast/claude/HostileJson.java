package dev.holdfast.claude;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;

/**
 * Makes JSON as no agent should write it, but may: fields of every kind under every name, names twice, any escape, any
 * space, large numbers. What it means is known by construction. One thread.
 */
final class HostileJson {
    /** A text and what it means: maps, lists, {@link String}s, {@link Literal}s, {@link Boolean}s, {@link #NULL}. */
    record Made(String text, Object value) {}

    /** A number as it was written. */
    record Literal(String digits) {}

    static final Object NULL = new Object();

    private static final List<String> TYPES = List.of(
            "system",
            "assistant",
            "user",
            "result",
            "stream_event",
            "control_request",
            "control_response",
            "control_cancel_request",
            "keep_alive",
            "rate_limit_event",
            "brand_new",
            "");

    private static final List<String> NAMES = List.of(
            "subtype",
            "uuid",
            "message",
            "content",
            "text",
            "result",
            "is_error",
            "num_turns",
            "origin",
            "kind",
            "errors",
            "tools",
            "mcp_servers",
            "name",
            "path",
            "plugins",
            "skills",
            "session_id",
            "state",
            "request_id",
            "request",
            "response",
            "error",
            "event",
            "delta",
            "parent_tool_use_id",
            "isReplay",
            "terminal_reason",
            "id",
            "tool_use_id",
            "total_cost_usd",
            "usage",
            "input_tokens",
            "user_message_uuids",
            "api_error_status",
            "attempt",
            "compact_metadata",
            "type");

    private static final List<String> WORDS = List.of(
            "init",
            "session_state_changed",
            "idle",
            "running",
            "success",
            "error_max_turns",
            "aborted_streaming",
            "max_turns",
            "text",
            "tool_use",
            "tool_result",
            "text_delta",
            "content_block_delta",
            "human",
            "task-notification",
            "api_retry",
            "compact_boundary",
            "mcp_message",
            "can_use_tool",
            "tools/call",
            "host",
            "echo",
            "holdfast-1",
            "quota",
            "");

    private static final List<String> NUMBERS = List.of(
            "0",
            "-1",
            "1",
            "0.5",
            "-0.0",
            "401",
            "1e300",
            "-1e300",
            "1e400",
            "-1E-400",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "1" + "0".repeat(500),
            "0." + "3".repeat(700));

    private static final String DAMAGE = "{}[]\",:\\x0-+.eE\u0000\u00e9";

    private final SplittableRandom random;

    HostileJson(SplittableRandom random) {
        this.random = random;
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    /** An object that mostly has a type. */
    Made frame() {
        var text = new StringBuilder(space()).append('{');
        var value = new LinkedHashMap<String, Object>();
        int fields = random.nextInt(8);
        int typeAt = random.nextInt(10) == 0 ? -1 : random.nextInt(fields + 1);
        for (int i = 0; i <= fields; i++) {
            if (i > 0) {
                text.append(',');
            }
            boolean type = i == typeAt;
            String name = type ? "type" : name();
            Made field = type ? string(one(TYPES)) : value(3);
            text.append(space())
                    .append(string(name).text())
                    .append(space())
                    .append(':')
                    .append(space())
                    .append(field.text())
                    .append(space());
            value.put(name, field.value());
        }
        return new Made(text.append('}').append(space()).toString(), value);
    }

    private String name() {
        return random.nextInt(20) == 0 ? wholeCharacters(words()) : one(NAMES);
    }

    /** Half a surrogate pair is read in values alone; a line with one in a name is skipped. */
    private static String wholeCharacters(String text) {
        return text.replaceAll("[\\ud800-\\udfff]", "?");
    }

    /** A value of any kind, at most so deep. */
    Made value(int depth) {
        return switch (random.nextInt(depth > 0 ? 10 : 6)) {
            case 0 -> new Made("null", NULL);
            case 1 -> new Made("true", true);
            case 2 -> number();
            case 3 -> string(words());
            case 4, 5 -> string(one(random.nextInt(4) == 0 ? TYPES : WORDS));
            case 6, 7 -> array(depth - 1);
            default -> object(depth - 1);
        };
    }

    private Made number() {
        String digits = random.nextBoolean() ? one(NUMBERS) : Integer.toString(random.nextInt(-5, 1_000));
        return new Made(digits, new Literal(digits));
    }

    private Made array(int depth) {
        var text = new StringBuilder("[");
        var value = new ArrayList<Object>();
        for (int i = random.nextInt(4); i > 0; i--) {
            Made item = value(depth);
            text.append(value.isEmpty() ? "" : ",").append(space()).append(item.text());
            value.add(item.value());
        }
        return new Made(text.append(']').toString(), value);
    }

    private Made object(int depth) {
        var text = new StringBuilder("{");
        var value = new LinkedHashMap<String, Object>();
        int fields = random.nextInt(5);
        for (int i = 0; i < fields; i++) {
            String name = name();
            Made field = value(depth);
            text.append(i == 0 ? "" : ",")
                    .append(string(name).text())
                    .append(":")
                    .append(field.text());
            value.put(name, field.value());
        }
        return new Made(text.append('}').toString(), value);
    }

    private String space() {
        return random.nextInt(6) == 0 ? one(List.of(" ", "\t", "  ", "\r")) : "";
    }

    /** Any characters, half surrogate pairs too. */
    private String words() {
        var text = new StringBuilder();
        for (int i = random.nextInt(12); i > 0; i--) {
            text.append(
                    switch (random.nextInt(8)) {
                        case 0 -> (char) random.nextInt(0x20);
                        case 1 -> (char) random.nextInt(0xD800, 0xE000);
                        case 2 -> (char) random.nextInt(0x10000);
                        case 3 -> "\"\\/\u2028\u0085\u007f\uFEFF".charAt(random.nextInt(7));
                        default -> (char) random.nextInt(' ', 0x7f);
                    });
        }
        return text.toString();
    }

    private Made string(String value) {
        var text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < 0x20 || (c >= 0xD800 && c < 0xE000) || random.nextInt(16) == 0) {
                text.append("\\u%04x".formatted((int) c));
            } else {
                text.append(c);
            }
        }
        return new Made(text.append('"').toString(), value);
    }

    /** The text with a character or two changed, doubled or left out. */
    String damaged(String text) {
        var changed = new StringBuilder(text);
        for (int i = random.nextInt(3); i >= 0 && !changed.isEmpty(); i--) {
            int at = random.nextInt(changed.length());
            switch (random.nextInt(4)) {
                case 0 -> changed.deleteCharAt(at);
                case 1 -> changed.insert(at, text.charAt(random.nextInt(text.length())));
                case 2 -> changed.setCharAt(at, DAMAGE.charAt(random.nextInt(DAMAGE.length())));
                default -> changed.setLength(at);
            }
        }
        return changed.toString();
    }

    /** Whether the node is what was made. */
    static boolean same(JsonNode node, Object value) {
        return switch (value) {
            case Map<?, ?> map ->
                node.isObject()
                        && node.size() == map.size()
                        && map.entrySet().stream()
                                .allMatch(field -> same(node.path(String.valueOf(field.getKey())), field.getValue()));
            case List<?> list -> node.isArray() && node.size() == list.size() && sameItems(node, list);
            case String text -> node.isString() && node.stringValue().equals(text);
            case Boolean flag -> node.isBoolean() && node.booleanValue() == flag;
            case Literal literal -> sameNumber(node, literal.digits());
            default -> node.isNull();
        };
    }

    private static boolean sameItems(JsonNode node, List<?> list) {
        for (int i = 0; i < list.size(); i++) {
            if (!same(node.path(i), list.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean sameNumber(JsonNode node, String digits) {
        if (digits.matches("-?\\d+")) {
            return node.isIntegralNumber()
                    && new java.math.BigInteger(digits).equals(new java.math.BigInteger(node.asString()));
        }
        return node.isNumber() && Double.compare(Double.parseDouble(digits), Double.parseDouble(node.asString())) == 0;
    }
}
