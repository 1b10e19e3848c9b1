package dev.holdfast.model;

import dev.holdfast.HarnessNeed;
import dev.holdfast.Turn;
import dev.holdfast.TurnHarness;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** The harness of a {@link ModelLoop}. Holds the connections to the API, which are made at the first turn. */
final class ModelHarness implements TurnHarness {
    private static final Duration CONNECT = Duration.ofSeconds(10);

    private final ModelLoop.Setup setup;
    private Optional<HttpClient> client = Optional.empty();

    ModelHarness(ModelLoop.Setup setup) {
        this.setup = setup;
    }

    @Override
    public String name() {
        return "model-loop";
    }

    @Override
    public Set<HarnessNeed> requires() {
        return Set.of(HarnessNeed.TOOL_DOOR);
    }

    @Override
    public void run(Turn turn) throws Exception {
        new ModelTurn(turn, setup, new MessagesApi(client(), setup)).run();
    }

    private synchronized HttpClient client() {
        var known = client.orElseGet(() -> HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT)
                .build());
        client = Optional.of(known);
        return known;
    }

    @Override
    public synchronized void release(Path home) {
        client.ifPresent(HttpClient::shutdownNow);
        client = Optional.empty();
    }
}
