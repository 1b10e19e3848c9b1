package dev.holdfast.server;

import java.util.Map;

/**
 * What a call of the API comes to.
 *
 * @param status as HTTP counts it; 400 and above: nothing was done, and the body is a problem document (RFC 9457)
 * @param mediaType of the body
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record Answer(int status, String mediaType, byte[] body) {
    public static final String JSON = "application/json";
    public static final String PROBLEM = "application/problem+json";
    /** Of an exported session. */
    public static final String DOCUMENT = "application/octet-stream";

    static Answer json(int status, Map<String, ?> members) {
        return new Answer(status, JSON, Json.bytes(members));
    }

    /** Whether nothing was done. */
    public boolean refused() {
        return status >= 400;
    }
}
