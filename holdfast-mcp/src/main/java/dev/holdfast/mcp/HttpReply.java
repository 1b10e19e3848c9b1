package dev.holdfast.mcp;

import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answer to one request: a status alone, one JSON object, or a stream of events whose last is the answer. Used by the
 * request's thread.
 */
final class HttpReply {
    private final ServerResponse response;
    private final boolean streams;
    private @Nullable OutputStream stream;

    /** @param streams whether the agent takes a stream of events */
    HttpReply(ServerResponse response, boolean streams) {
        this.response = response;
        this.streams = streams;
    }

    boolean streams() {
        return streams;
    }

    void status(Status status) {
        response.status(status).send();
    }

    void header(String name, String value) {
        response.header(HeaderNames.create(name), value);
    }

    void json(ObjectNode message) {
        response.header(HeaderNames.CONTENT_TYPE, "application/json");
        response.send(message.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** A message of the stream; JSON has no line breaks of its own. */
    void event(ObjectNode message) throws IOException {
        write("event: message\ndata: " + message + "\n\n");
    }

    /** A sign of life, which also shows whether somebody is there. */
    void beat() throws IOException {
        write(": \n\n");
    }

    void end() throws IOException {
        if (stream != null) {
            stream.close();
        }
    }

    private void write(String text) throws IOException {
        if (stream == null) {
            response.header(HeaderNames.CONTENT_TYPE, "text/event-stream");
            stream = response.outputStream();
        }
        stream.write(text.getBytes(StandardCharsets.UTF_8));
        stream.flush();
    }
}
