package dev.holdfast.server;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One call of the API, apart from its transport: made of an HTTP request, or by a program that has the host in its own
 * process.
 *
 * @param path raw, with its segments percent-encoded, beginning with {@code /v1}
 * @param query decoded
 * @param key the idempotency key given beside the body (IN-12)
 * @param carries the media type of the body; empty when there is none
 * @param body empty when there is none
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record Call(
        String method, String path, Map<String, String> query, Optional<String> key, String carries, byte[] body) {
    public Call {
        query = Map.copyOf(query);
    }

    /** Reads what is at {@code /v1} and these segments, which are encoded here. */
    public static Call get(String... segments) {
        return new Call("GET", encoded(segments), Map.of(), Optional.empty(), "", new byte[0]);
    }

    /** Does what is at {@code /v1} and these segments, with these members as its JSON body. */
    public static Call post(Map<String, ?> members, String... segments) {
        return new Call("POST", encoded(segments), Map.of(), Optional.empty(), Answer.JSON, Json.bytes(members));
    }

    /** As this, with one more query parameter. */
    public Call asking(String name, String value) {
        var more = new java.util.HashMap<>(query);
        more.put(name, value);
        return new Call(method, path, more, key, carries, body);
    }

    /** Sends a document to what is at {@code /v1} and these segments. */
    public static Call document(byte[] document, String... segments) {
        return new Call("POST", encoded(segments), Map.of(), Optional.empty(), Answer.DOCUMENT, document);
    }

    /** As this, under this idempotency key. */
    public Call keyed(String idempotencyKey) {
        return new Call(method, path, query, Optional.of(idempotencyKey), carries, body);
    }

    /** The path and the query as the first line of a request has them. */
    public String target() {
        if (query.isEmpty()) {
            return path;
        }
        return path + "?"
                + query.entrySet().stream()
                        .map(e -> encoded(e.getKey()) + "=" + encoded(e.getValue()))
                        .sorted()
                        .collect(Collectors.joining("&"));
    }

    private static String encoded(String[] segments) {
        return "/v1/" + Arrays.stream(segments).map(Call::encoded).collect(Collectors.joining("/"));
    }

    private static String encoded(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
