package dev.holdfast.model;

import dev.holdfast.Subscription;
import dev.holdfast.TurnCancel;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** One streamed request to a Messages API. Blocks the calling thread; a cancel of the turn aborts it. Thread-safe. */
final class MessagesApi {
    private static final Duration FIRST_ANSWER = Duration.ofMinutes(4);
    private static final int ERROR_BYTES_MAX = 4_096;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final HttpClient client;
    private final ModelLoop.Setup setup;

    MessagesApi(HttpClient client, ModelLoop.Setup setup) {
        this.client = client;
        this.setup = setup;
    }

    /** Takes the events of an answer, in order. */
    @FunctionalInterface
    interface Events {
        void event(JsonNode event) throws ApiFailure;
    }

    /**
     * Sends the body and gives every event of the answer.
     *
     * @throws ApiFailure when there is none, or it breaks off
     */
    @SuppressWarnings("try") // what takes the cancel back is only closed
    void stream(ObjectNode body, TurnCancel cancel, Events events) throws ApiFailure, InterruptedException {
        var sent = client.sendAsync(request(body), HttpResponse.BodyHandlers.ofInputStream());
        try (Subscription unused = cancel.onCancel(() -> sent.cancel(true))) {
            var response = sent.get();
            try (InputStream in = response.body();
                    Subscription unusedToo = cancel.onCancel(() -> close(in))) {
                if (response.statusCode() != 200) {
                    throw refused(response, in);
                }
                read(new EventStream(in), events);
            }
        } catch (CancellationException e) {
            throw new ApiFailure("the request was cancelled", false, false, Optional.empty());
        } catch (ExecutionException e) {
            throw unreachable(e);
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private HttpRequest request(ObjectNode body) {
        var base = setup.baseUrl().toString();
        var url = URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + "/v1/messages");
        var request = HttpRequest.newBuilder(url)
                .timeout(FIRST_ANSWER)
                .header("content-type", "application/json")
                .header("accept", "text/event-stream")
                .header("anthropic-version", "2023-06-01")
                .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
        setup.apiKey().ifPresent(key -> request.header("x-api-key", key));
        return request.build();
    }

    private static void close(InputStream in) {
        try {
            in.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void read(EventStream stream, Events events) throws IOException, ApiFailure {
        boolean stopped = false;
        for (var data = stream.next(); data.isPresent(); data = stream.next()) {
            JsonNode event;
            try {
                event = JSON.readTree(data.get());
            } catch (JacksonException e) {
                throw new IOException("the API sent an event that is no JSON");
            }
            switch (event.path("type").asString("")) {
                case "error" -> throw failed(event.path("error"), 529, Optional.empty());
                case "message_stop" -> stopped = true;
                default -> events.event(event);
            }
        }
        if (!stopped) {
            throw new IOException("the answer broke off");
        }
    }

    private static ApiFailure unreachable(Throwable cause) {
        return new ApiFailure("the model cannot be reached: " + cause, true, false, Optional.empty());
    }

    private static ApiFailure refused(HttpResponse<InputStream> response, InputStream in) throws IOException {
        var body = new String(in.readNBytes(ERROR_BYTES_MAX), StandardCharsets.UTF_8);
        JsonNode error;
        try {
            error = JSON.readTree(body).path("error");
        } catch (JacksonException e) {
            error = JSON.createObjectNode();
        }
        return failed(error, response.statusCode(), wait(response));
    }

    private static Optional<Duration> wait(HttpResponse<InputStream> response) {
        return response.headers().firstValue("retry-after").flatMap(text -> {
            try {
                return Optional.of(Duration.ofSeconds(Long.parseLong(text.strip())));
            } catch (NumberFormatException e) {
                return Optional.empty(); // a date, which is as good as nothing
            }
        });
    }

    private static ApiFailure failed(JsonNode error, int status, Optional<Duration> wait) {
        var what = error.path("type").asString("error") + ": "
                + error.path("message").asString("no words");
        boolean again = status == 408 || status == 409 || status == 429 || status >= 500;
        boolean fatal = status == 401 || status == 402 || status == 403;
        var word = status == 401 || status == 403 ? "not_logged_in: " : "";
        return new ApiFailure(word + "the model's API answered " + status + ", " + what, again, fatal, wait);
    }
}
