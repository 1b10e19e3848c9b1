package dev.holdfast.server;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A line of the route table.
 *
 * @param template the path below {@code /v1}; a segment in braces names what stands in its place
 * @param carries the media type of its body
 * @param bodyMax in bytes
 */
record Route(String method, String template, String carries, long bodyMax, Handler handler) {
    /** What a route does. Called on a thread that may block. */
    @FunctionalInterface
    interface Handler {
        Answer answer(Asked asked);
    }

    /** A call with what its path says. */
    record Asked(Call call, Map<String, String> path) {
        Asked {
            path = Map.copyOf(path);
        }

        String path(String name) {
            return Optional.ofNullable(path.get(name))
                    .orElseThrow(() -> new IllegalStateException("the route has no {" + name + "}"));
        }

        Fields fields(String... known) {
            return Fields.of(call.body(), known);
        }
    }

    /** What the path says, when it is of this route. */
    Optional<Map<String, String>> match(String rawPath) {
        var wanted = List.of(template.split("/", -1));
        var given = List.of(rawPath.split("/", -1));
        if (wanted.size() != given.size()) {
            return Optional.empty();
        }
        var values = new HashMap<String, String>();
        for (int i = 0; i < wanted.size(); i++) {
            String segment = wanted.get(i);
            if (segment.startsWith("{")) {
                if (given.get(i).isEmpty()) {
                    return Optional.empty();
                }
                values.put(segment.substring(1, segment.length() - 1), decoded(given.get(i)));
            } else if (!segment.equals(given.get(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(values);
    }

    /** Each segment by itself, so that an encoded slash stays a part of it. */
    private static String decoded(String segment) {
        try {
            return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("the path has a broken percent-encoding: " + Shown.shortened(segment))
                    .refused();
        }
    }

    @Override
    public String toString() {
        return method + " " + template;
    }
}
