package dev.holdfast.server;

import java.time.Duration;

/**
 * What a door takes from its callers.
 *
 * @param connections open at once; further ones wait until one of these is closed
 * @param firstLineBytes of a request; a longer one is answered with 414
 * @param headerBytes of a request, all together; more is answered with 431
 * @param bodyBytes of any request; a route may take less, more is answered with 413
 * @param head from the first line to the end of the headers; then the connection is closed
 * @param body from the end of the headers to the end of the body; then the connection is closed
 * @param sending until the caller has taken the whole answer; then the connection is closed
 * @param idle without a request, or until the first line is there; then the connection is closed, within twice this time
 */
public record DoorLimits(
        int connections,
        int firstLineBytes,
        int headerBytes,
        long bodyBytes,
        Duration head,
        Duration body,
        Duration sending,
        Duration idle) {
    public DoorLimits {
        if (connections < 1 || firstLineBytes < 64 || headerBytes < 64 || bodyBytes < 0) {
            throw new IllegalArgumentException("a door with these limits lets nobody in: " + connections
                    + " connections, " + firstLineBytes + " bytes of first line, " + headerBytes + " of headers, "
                    + bodyBytes + " of body");
        }
    }

    public static DoorLimits standard() {
        return new DoorLimits(
                128,
                8 * 1024,
                16 * 1024,
                Routes.DOCUMENT_MAX,
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                Duration.ofSeconds(60),
                Duration.ofSeconds(30));
    }
}
